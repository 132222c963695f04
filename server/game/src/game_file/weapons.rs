//! The tables `[weapons.NAME]`: a weapon for each of a player's three keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use obsp::model::Model;
use serde::Deserialize;
use toml::Spanned;

use super::GameFileError;
use super::raw_weapon::RawWeapon;

/// The key that fires a weapon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeaponKey {
    /// [`Buttons::PRIMARY`](obsp_sim::Buttons::PRIMARY).
    Fire,
    /// [`Buttons::SECONDARY`](obsp_sim::Buttons::SECONDARY).
    Rocket,
    /// [`Buttons::TERTIARY`](obsp_sim::Buttons::TERTIARY).
    Grenade,
}

/// A weapon.
#[derive(Clone, Debug, PartialEq)]
pub struct Weapon {
    /// Seconds until the next shot.
    pub refire_seconds: f64,
    /// The kind, with its numbers.
    pub kind: WeaponKind,
}

/// The kind of a weapon, with the numbers of the kind.
#[derive(Clone, Debug, PartialEq)]
pub enum WeaponKind {
    /// A ray hits at once.
    Ray(Ray),
    /// A rocket flies straight, and explodes where it is stopped.
    Rocket(Thrown),
    /// A grenade falls and bounces, and explodes when its fuse has burnt down.
    Grenade(Thrown),
}

/// The numbers of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Length of the ray, in units.
    pub reach: f64,
    /// Health that a hit takes.
    pub damage: i16,
    /// Impulse on a body that the ray hits, in kg·units/s.
    pub impulse: f64,
}

/// The numbers of a rocket or a grenade.
#[derive(Clone, Debug, PartialEq)]
pub struct Thrown {
    /// The model of the missile. No two weapons throw the same model.
    pub model: Arc<str>,
    /// Speed of the throw, in units per second.
    pub speed: f64,
    /// Upward speed that is added to a throw, in units per second; zero for a rocket.
    pub lift: f64,
    /// Seconds until the missile explodes by itself.
    pub fuse_seconds: f64,
    /// The explosion of the missile.
    pub blast: Blast,
}

/// The numbers of an explosion. Damage, impulse and the speed of players fall linearly from the
/// centre to nothing at the radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blast {
    /// Radius, in units.
    pub radius: f64,
    /// Health that the explosion takes at the centre.
    pub damage: f64,
    /// Impulse on a body at the centre, in kg·units/s.
    pub impulse: f64,
    /// Highest speed that the explosion gives a body, in units per second.
    pub max_speed: f64,
    /// Speed that the explosion gives a player at the centre, in units per second.
    pub player_speed: f64,
}

/// The weapon of each key.
///
/// ```
/// use obsp_game::{GameFile, Ray, WeaponKey, WeaponKind, Weapons};
///
/// // A weapon takes the key of its kind, here the place of the default ray.
/// let file = GameFile::parse("[weapons.railgun]\nkind = 'ray'\ndamage = 80")?;
/// let railgun = WeaponKind::Ray(Ray { damage: 80, ..Ray::default() });
/// assert_eq!(file.weapons().of_key(WeaponKey::Fire).kind, railgun);
///
/// // The other keys keep their default weapons.
/// let rocket = Weapons::default().of_key(WeaponKey::Rocket).clone();
/// assert_eq!(file.weapons().of_key(WeaponKey::Rocket), &rocket);
/// # Ok::<(), obsp_game::GameFileError>(())
/// ```
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

/// The name of the model that `thrown` throws, if `models` contains it and its bodies are
/// kinematic.
fn kinematic<'a>(models: &[Model], thrown: &'a Thrown) -> Option<&'a str> {
    let is_it = |model: &Model| model.name() == &*thrown.model && model.is_kinematic();
    models.iter().any(is_it).then_some(&*thrown.model)
}

impl WeaponKind {
    /// The name of the kind, as `game.toml` has it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ray(_) => "ray",
            Self::Rocket(_) => "rocket",
            Self::Grenade(_) => "grenade",
        }
    }
}

impl Weapon {
    /// The missile that the weapon throws; `None` for a ray.
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

    /// The missile with this model; `None` if no weapon throws it.
    pub fn thrown_with(&self, model: &str) -> Option<&Thrown> {
        self.throwing(model)?.thrown()
    }

    /// The weapon that throws this model.
    pub(crate) fn throwing(&self, model: &str) -> Option<&Weapon> {
        let throws = |weapon: &&Weapon| weapon.thrown().is_some_and(|it| &*it.model == model);
        self.0.iter().find(throws)
    }

    /// A model that a weapon throws and whose bodies are kinematic.
    pub(crate) fn kinematic_model(&self, models: &[Model]) -> Option<&str> {
        let mut thrown = self.0.iter().filter_map(Weapon::thrown);
        thrown.find_map(|thrown| kinematic(models, thrown))
    }

    /// A model that a weapon throws and that is not `known`. Default weapons are left out, because
    /// a game of another kind may have none of their models.
    pub(crate) fn missing_model<'a>(
        &self,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<&str> {
        let usual = Self::default();
        let own = self.0.iter().zip(&usual.0).filter(|(weapon, usual)| weapon != usual);
        let mut models = own.filter_map(|(weapon, _)| Some(&*weapon.thrown()?.model));
        models.find(|model| !known.clone().any(|name| name == *model))
    }

    /// The default weapons. Each written weapon replaces the one with its key. `models` are the
    /// file's models.
    pub(super) fn read(
        raw: BTreeMap<String, Spanned<RawWeapon>>,
        models: &[Model],
        text: &str,
    ) -> Result<Self, GameFileError> {
        let mut weapons = Self::default();
        let mut keys: Vec<(WeaponKey, String)> = Vec::new();
        let mut at = 0;
        for (name, weapon) in raw {
            at = weapon.span().start;
            let refused = |message| Err(GameFileError::at(text, at, message));
            let (key, weapon) = weapon.into_inner().read(&name, at, text)?;
            if let Some((_, other)) = keys.iter().find(|(taken, _)| *taken == key) {
                let message = format!(
                    "weapons.{other} and weapons.{name} have the same key; change `key` of one"
                );
                return refused(message);
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
            let message = format!("two weapons throw the model {}; change one of them", twice[0]);
            return Err(GameFileError::at(text, at, message));
        }
        Ok(weapons)
    }
}
