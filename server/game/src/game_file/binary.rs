//! The numbers of a `game.toml` that clients do not need, in binary form. Recordings hold them
//! beside the file's bundle. A reader without a TOML parser, such as the web page, plays a match
//! with them. The bytes may come from anyone, so they are checked like the numbers of a text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bincode::{Decode, Encode};
use obsp::entity_class::{ClassName, EntityClass};
use obsp_proto::game_data::{GameData, GameDataError, MAX_GAME_DATA};
use toml::Spanned;

use super::raw_weapon::{Kind, RawWeapon};
use super::weapons::{Blast, Ray, Thrown, Weapon, WeaponKey, WeaponKind, Weapons};
use super::{GameFile, ItemRules, player};

/// The place that errors name for every number in binary form, because there is no text to point
/// at.
const NOWHERE: Range<usize> = 0..0;

/// The content of a file except its bundle.
#[derive(Encode, Decode)]
struct Binary {
    health: f64,
    respawn_seconds: f64,
    /// The weapon of each key.
    weapons: [BinaryWeapon; 3],
    /// The classes that spawn bodies, each with the model.
    classes: Vec<(String, String)>,
    /// Whether weapons need ammunition.
    ammunition: bool,
}

/// A weapon: its kind, and the numbers that this kind has.
#[derive(Encode, Decode)]
struct BinaryWeapon {
    refire_seconds: f64,
    kind: BinaryKind,
}

#[derive(Encode, Decode)]
enum BinaryKind {
    /// Reach, damage and impulse.
    Ray([f64; 3]),
    Rocket(String, [f64; 8]),
    Grenade(String, [f64; 8]),
}

impl GameFile {
    /// The numbers of the file, for [`GameFile::from_binary`].
    pub fn to_binary(&self) -> Vec<u8> {
        let keys = [WeaponKey::Fire, WeaponKey::Rocket, WeaponKey::Grenade];
        let classes = self.classes.iter().filter_map(|(name, class)| {
            class.model.as_ref().map(|model| (name.to_string(), model.clone()))
        });
        let binary = Binary {
            health: self.player.health.into(),
            respawn_seconds: self.player.respawn_seconds,
            weapons: keys.map(|key| BinaryWeapon::of(self.weapons.of_key(key))),
            classes: classes.collect(),
            ammunition: self.items.ammunition,
        };
        // Plain numbers and texts always have an encoding.
        bincode::encode_to_vec(binary, bincode::config::standard()).unwrap_or_default()
    }

    /// Makes a file from its [bundle](GameFile::bundle) and its numbers, without parsing the text.
    /// The result has only the classes of entities that spawn bodies, and of these only the model.
    ///
    /// # Errors
    /// `bundle` is not a bundle, `numbers` cannot be decoded, a number is out of its range, or a
    /// model cannot be read.
    pub fn from_binary(bundle: &[u8], numbers: &[u8]) -> Result<Self, GameDataError> {
        let refused = |reason: String| GameDataError::Damaged { reason };
        let wire = bincode::config::standard().with_limit::<MAX_GAME_DATA>();
        let read = bincode::decode_from_slice::<Binary, _>(numbers, wire);
        let (binary, used) = read.map_err(|error| refused(error.to_string()))?;
        if used != numbers.len() {
            return Err(refused("something follows its numbers".into()));
        }
        let Binary { health, respawn_seconds, weapons, classes, ammunition } = binary;
        let player = player::RawPlayer::of(number(health), number(respawn_seconds));
        let keys = ["fire", "rocket", "grenade"].map(str::to_owned);
        let weapons = weapons.map(BinaryWeapon::raw);
        let keyed = [WeaponKey::Fire, WeaponKey::Rocket, WeaponKey::Grenade];
        let raw: BTreeMap<_, _> = (keys.into_iter().zip(keyed.into_iter().zip(weapons)))
            .map(|(name, (key, weapon))| {
                (name, Spanned::new(NOWHERE, RawWeapon { key: Some(key), ..weapon }))
            })
            .collect();
        let class = |(name, model): (String, String)| {
            let class = EntityClass { model: Some(model), ..EntityClass::default() };
            ClassName::try_from(name).map(|name| (name, class)).map_err(refused)
        };
        let data = GameData::from_bytes(bundle)?;
        Ok(Self {
            classes: Arc::new(classes.into_iter().map(class).collect::<Result<_, _>>()?),
            player: player.parameters("")?,
            items: ItemRules { ammunition },
            // The map holds the sizes that it was compiled for, so there is nothing to check.
            size: None,
            weapons: Arc::new(Weapons::read(raw, data.models(), "")?),
            // A reader without a TOML parser declares nothing to clients.
            actions: Arc::default(),
            hints: Arc::default(),
            places: Arc::default(),
            data,
        })
    }
}

fn number(value: f64) -> Option<Spanned<f64>> {
    Some(Spanned::new(NOWHERE, value))
}

impl BinaryWeapon {
    fn of(weapon: &Weapon) -> Self {
        let kind = match &weapon.kind {
            WeaponKind::Ray(Ray { reach, damage, impulse }) => {
                BinaryKind::Ray([*reach, (*damage).into(), *impulse])
            }
            WeaponKind::Rocket(rocket) => BinaryKind::Rocket(rocket.model.to_string(), of(rocket)),
            WeaponKind::Grenade(grenade) => {
                BinaryKind::Grenade(grenade.model.to_string(), of(grenade))
            }
        };
        Self { refire_seconds: weapon.refire_seconds, kind }
    }

    fn raw(self) -> RawWeapon {
        let refire_seconds = number(self.refire_seconds);
        let (kind, model, numbers) = match self.kind {
            BinaryKind::Ray([reach, damage, impulse]) => {
                return RawWeapon {
                    kind: Some(Kind::Ray),
                    refire_seconds,
                    reach: number(reach),
                    damage: number(damage),
                    impulse: number(impulse),
                    ..RawWeapon::default()
                };
            }
            BinaryKind::Rocket(model, numbers) => (Kind::Rocket, model, numbers),
            BinaryKind::Grenade(model, numbers) => (Kind::Grenade, model, numbers),
        };
        let [speed, lift, fuse, radius, damage, impulse, max_speed, player_speed] = numbers;
        RawWeapon {
            kind: Some(kind),
            refire_seconds,
            model: Some(Spanned::new(NOWHERE, model)),
            speed: number(speed),
            // A rocket has no lift. A lift in its table would be refused.
            lift: if kind == Kind::Grenade { number(lift) } else { None },
            fuse_seconds: number(fuse),
            blast_radius: number(radius),
            blast_damage: number(damage),
            blast_impulse: number(impulse),
            blast_max_speed: number(max_speed),
            blast_player_speed: number(player_speed),
            ..RawWeapon::default()
        }
    }
}

/// The numbers of a rocket or grenade, in the order in which [`BinaryWeapon::raw`] reads them.
fn of(thrown: &Thrown) -> [f64; 8] {
    let Thrown { speed, lift, fuse_seconds, blast, .. } = thrown;
    let Blast { radius, damage, impulse, max_speed, player_speed } = blast;
    [*speed, *lift, *fuse_seconds, *radius, *damage, *impulse, *max_speed, *player_speed]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> GameFile {
        let text = "[movement]\ngravity = 400.25\n[player]\nhealth = 30\n\
                    [weapons.railgun]\nkind = 'ray'\ndamage = 80\nrefire_seconds = 1.5\n\
                    [weapons.mortar]\nkind = 'grenade'\nkey = 'rocket'\nmodel = 'slab'\nlift = 9\n\
                    [models]\nslab = 'own/slab.obj'\n[classes.item_slab]\nmodel = 'slab'\n";
        let model = include_str!("../../../../maps/models/crate.obj");
        GameFile::read(text, &mut |_| Ok(model.to_owned())).expect("a game file")
    }

    #[test]
    fn a_file_is_the_same_without_its_text_being_read() {
        let free = GameFile::parse("[items]\nammunition = false").unwrap();
        assert!(!free.items().ammunition);
        for file in [file(), free, GameFile::default(), GameFile::parse("[player]\n").unwrap()] {
            let again = GameFile::from_binary(file.bundle(), &file.to_binary()).unwrap();
            assert_eq!((again.text(), again.hash()), (file.text(), file.hash()));
            assert_eq!((again.movement(), again.player()), (file.movement(), file.player()));
            assert_eq!(again.items(), file.items());
            assert_eq!((again.weapons(), again.classes()), (file.weapons(), file.classes()));
            let names = |file: &GameFile| {
                file.models().iter().map(|model| model.name().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(names(&again), names(&file));
        }
    }

    #[test]
    fn numbers_that_cannot_be_are_refused() {
        let file = file();
        let numbers = file.to_binary();
        let read =
            |numbers: &[u8]| GameFile::from_binary(file.bundle(), numbers).unwrap_err().to_string();
        let with = |place: usize, value: f64| {
            let mut other = numbers.clone();
            other[place..place + 8].copy_from_slice(&value.to_le_bytes());
            read(&other)
        };
        assert!(with(0, 0.5).contains("health is 0.5"), "{}", with(0, 0.5));
        assert!(with(8, -1.0).contains("respawn_seconds is -1"), "{}", with(8, -1.0));
        assert!(with(16, 61.0).contains("refire_seconds is 61"), "{}", with(16, 61.0));
        assert!(read(&[&numbers[..], &[0]].concat()).contains("follows its"));
        for length in 0..numbers.len() {
            GameFile::from_binary(file.bundle(), &numbers[..length]).unwrap_err();
        }
    }
}
