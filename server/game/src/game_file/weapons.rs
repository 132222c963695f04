//! The tables `[weapons.NAME]`: a weapon for each of a player's three keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use obsp::model::Model;
use serde::Deserialize;
use toml::Spanned;

use super::GameFileError;
use super::written_weapon::WrittenWeapon;

/// The key that fires a weapon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeaponKey {
    /// [`Buttons::PRIMARY`](obsp_sim::Buttons::PRIMARY).
    Fire,
    /// [`Buttons::SECONDARY`](obsp_sim::Buttons::SECONDARY).
    Rocket,
    /// [`Buttons::TERTIARY`](obsp_sim::Buttons::TERTIARY), with which the driver of a hovertank
    /// drops cargo instead.
    Grenade,
}

/// A weapon.
#[derive(Clone, Debug, PartialEq)]
pub struct Weapon {
    /// Seconds until the next shot.
    pub refire_seconds: f64,
    /// What comes out of it.
    pub kind: WeaponKind,
}

/// What a weapon does.
#[derive(Clone, Debug, PartialEq)]
pub enum WeaponKind {
    /// It hits at once.
    Ray(Ray),
    /// It throws something that flies straight, and explodes where it is stopped.
    Rocket(Thrown),
    /// It throws something that falls and bounces, and explodes when its fuse has burnt down.
    Grenade(Thrown),
}

/// The numbers of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// How far it reaches, in units.
    pub reach: f64,
    /// Health that it takes.
    pub damage: i16,
    /// Impulse on a body that it hits, in kilogram units per second.
    pub impulse: f64,
}

/// The numbers of what is thrown.
#[derive(Clone, Debug, PartialEq)]
pub struct Thrown {
    /// The model that flies; no other weapon throws the same.
    pub model: Arc<str>,
    /// Its speed, in units per second.
    pub speed: f64,
    /// Upward speed that is added, in units per second; zero for a rocket.
    pub lift: f64,
    /// Seconds until it explodes of itself.
    pub fuse_seconds: f64,
    /// Its explosion.
    pub blast: Blast,
}

/// The numbers of an explosion. All fall to nothing from its centre to its radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blast {
    /// Its radius, in units.
    pub radius: f64,
    /// Health that it takes at its centre.
    pub damage: f64,
    /// Impulse on a body at its centre, in kilogram units per second.
    pub impulse: f64,
    /// Highest speed that it gives a body, in units per second.
    pub max_speed: f64,
    /// Speed that it gives a player at its centre, in units per second.
    pub player_speed: f64,
}

/// The weapon of each key.
#[derive(Clone, Debug, PartialEq)]
pub struct Weapons([Weapon; 3]);

impl Default for Ray {
    fn default() -> Self {
        Self { reach: 4096.0, damage: 25, impulse: 8_000.0 }
    }
}

impl Thrown {
    pub(super) fn rocket() -> Self {
        let (model, blast) = ("rocket".into(), Blast::default());
        Self { model, speed: 900.0, lift: 0.0, fuse_seconds: 6.0, blast }
    }

    pub(super) fn grenade() -> Self {
        let (model, blast) = ("grenade".into(), Blast::default());
        Self { model, speed: 600.0, lift: 150.0, fuse_seconds: 2.5, blast }
    }
}

impl Default for Blast {
    fn default() -> Self {
        Self {
            radius: 140.0,
            damage: 90.0,
            impulse: 40_000.0,
            max_speed: 700.0,
            player_speed: 450.0,
        }
    }
}

impl Default for Weapons {
    fn default() -> Self {
        Self([
            Weapon { refire_seconds: 0.4, kind: WeaponKind::Ray(Ray::default()) },
            Weapon { refire_seconds: 0.8, kind: WeaponKind::Rocket(Thrown::rocket()) },
            Weapon { refire_seconds: 0.7, kind: WeaponKind::Grenade(Thrown::grenade()) },
        ])
    }
}

/// The model of what is thrown, if it is one of `models` and its bodies are kinematic.
fn kinematic<'a>(models: &[Model], thrown: &'a Thrown) -> Option<&'a str> {
    let is_it = |model: &Model| model.name() == &*thrown.model && model.is_kinematic();
    models.iter().any(is_it).then_some(&*thrown.model)
}

impl Weapon {
    /// What it throws; `None` for a ray.
    pub fn thrown(&self) -> Option<&Thrown> {
        match &self.kind {
            WeaponKind::Ray(_) => None,
            WeaponKind::Rocket(thrown) | WeaponKind::Grenade(thrown) => Some(thrown),
        }
    }
}

impl Weapons {
    /// The weapon that a key fires.
    pub fn of_key(&self, key: WeaponKey) -> &Weapon {
        &self.0[key as usize]
    }

    /// The weapon's missile that has this model.
    pub fn thrown_with(&self, model: &str) -> Option<&Thrown> {
        self.0.iter().filter_map(Weapon::thrown).find(|thrown| &*thrown.model == model)
    }

    /// A model that a weapon throws and whose bodies are kinematic.
    pub(crate) fn kinematic_model(&self, models: &[Model]) -> Option<&str> {
        let mut thrown = self.0.iter().filter_map(Weapon::thrown);
        thrown.find_map(|thrown| kinematic(models, thrown))
    }

    /// A model that a weapon throws and that is not among those that are known. The usual
    /// weapons are left out: a game of another kind may have none of their models.
    pub(crate) fn missing_model<'a>(
        &self,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<&str> {
        let usual = Self::default();
        let own = self.0.iter().zip(&usual.0).filter(|(weapon, usual)| weapon != usual);
        let mut models = own.filter_map(|(weapon, _)| Some(&*weapon.thrown()?.model));
        models.find(|model| !known.clone().any(|name| name == *model))
    }

    /// The usual weapons, but for those that are written, each in place of that of its key.
    /// `models` are those of the file.
    pub(super) fn read(
        written: BTreeMap<String, Spanned<WrittenWeapon>>,
        models: &[Model],
        text: &str,
    ) -> Result<Self, GameFileError> {
        let mut weapons = Self::default();
        let mut keys: Vec<(WeaponKey, String)> = Vec::new();
        let mut at = 0;
        for (name, weapon) in written {
            at = weapon.span().start;
            let refused = |message| Err(GameFileError::at(text, at, message));
            let (key, weapon) = weapon.into_inner().read(&name, at, text)?;
            if let Some((_, other)) = keys.iter().find(|(taken, _)| *taken == key) {
                return refused(format!("weapons.{other} has the key of weapons.{name} already"));
            }
            if let Some(model) = weapon.thrown().and_then(|thrown| kinematic(models, thrown)) {
                let message = format!(
                    "weapons.{name} throws the model {model}, whose bodies are kinematic; give it \
                     another, or leave out materials.{model}.kinematic"
                );
                return refused(message);
            }
            keys.push((key, name));
            weapons.0[key as usize] = weapon;
        }
        let mut models: Vec<&str> =
            weapons.0.iter().filter_map(Weapon::thrown).map(|thrown| &*thrown.model).collect();
        models.sort_unstable();
        if let Some(twice) = models.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("two weapons throw the model {}; give one another", twice[0]);
            return Err(GameFileError::at(text, at, message));
        }
        Ok(weapons)
    }
}
