//! A weapon as it is written in a `game.toml`, before its numbers are checked.

use std::ops::RangeInclusive;

use serde::Deserialize;
use toml::Spanned;

use super::GameFileError;
use super::number::Number;
use super::weapons::{Blast, Ray, Thrown, Weapon, WeaponKey, WeaponKind};

/// Range of a speed, in units per second. The simulation caps higher speeds.
const SPEEDS: RangeInclusive<f64> = 0.0..=4_500.0;

/// Range of an impulse. The greatest impulse accelerates a hovertank to its top speed.
const IMPULSES: RangeInclusive<f64> = 0.0..=1e7;

/// The kinds of weapons by their names.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Ray,
    Rocket,
    Grenade,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Ray => "ray",
            Self::Rocket => "rocket",
            Self::Grenade => "grenade",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Ray, Self::Rocket, Self::Grenade].into_iter().find(|kind| kind.name() == name)
    }

    fn key(self) -> WeaponKey {
        match self {
            Self::Ray => WeaponKey::Fire,
            Self::Rocket => WeaponKey::Rocket,
            Self::Grenade => WeaponKey::Grenade,
        }
    }
}

/// A table `[weapons.NAME]`. A key that is left out has its default.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWeapon {
    pub(super) kind: Option<Kind>,
    pub(super) key: Option<WeaponKey>,
    pub(super) refire_seconds: Option<Spanned<f64>>,
    pub(super) reach: Option<Spanned<f64>>,
    pub(super) damage: Option<Spanned<f64>>,
    pub(super) impulse: Option<Spanned<f64>>,
    pub(super) model: Option<Spanned<String>>,
    pub(super) speed: Option<Spanned<f64>>,
    pub(super) lift: Option<Spanned<f64>>,
    pub(super) fuse_seconds: Option<Spanned<f64>>,
    pub(super) blast_radius: Option<Spanned<f64>>,
    pub(super) blast_damage: Option<Spanned<f64>>,
    pub(super) blast_impulse: Option<Spanned<f64>>,
    pub(super) blast_max_speed: Option<Spanned<f64>>,
    pub(super) blast_player_speed: Option<Spanned<f64>>,
}

impl RawWeapon {
    /// Checks the table of this name and returns the weapon and its key. `at` is the byte of `text`
    /// at which the table begins.
    pub(super) fn read(
        self,
        name: &str,
        at: usize,
        text: &str,
    ) -> Result<(WeaponKey, Weapon), GameFileError> {
        let Some(kind) = self.kind.or(Kind::named(name)) else {
            let message =
                format!("weapons.{name} needs a kind: \"ray\", \"rocket\" or \"grenade\"");
            return Err(GameFileError::at(text, at, message));
        };
        self.check_names(kind, text)?;
        let usual = match kind {
            Kind::Ray => 0.4,
            Kind::Rocket => 0.8,
            Kind::Grenade => 0.7,
        };
        let refire = number("refire_seconds", 0.0..=60.0);
        let refire_seconds = refire.read(text, self.refire_seconds.as_ref(), usual)?;
        let kind_read = match kind {
            Kind::Ray => WeaponKind::Ray(self.ray(text)?),
            Kind::Rocket => WeaponKind::Rocket(self.thrown(text, Thrown::rocket())?),
            Kind::Grenade => WeaponKind::Grenade(self.thrown(text, Thrown::grenade())?),
        };
        let key = self.key.unwrap_or(kind.key());
        Ok((key, Weapon { refire_seconds, kind: kind_read }))
    }

    /// Refuses numbers that weapons of the kind do not have.
    fn check_names(&self, kind: Kind, text: &str) -> Result<(), GameFileError> {
        let of_ray = [("reach", &self.reach), ("damage", &self.damage), ("impulse", &self.impulse)];
        let of_thrown = [
            ("speed", &self.speed),
            ("fuse_seconds", &self.fuse_seconds),
            ("blast_radius", &self.blast_radius),
            ("blast_damage", &self.blast_damage),
            ("blast_impulse", &self.blast_impulse),
            ("blast_max_speed", &self.blast_max_speed),
            ("blast_player_speed", &self.blast_player_speed),
        ];
        let foreign: &[(&str, &Option<Spanned<f64>>)] =
            if kind == Kind::Ray { &of_thrown } else { &of_ray };
        let lift = (kind != Kind::Grenade).then_some(("lift", &self.lift));
        let numbers = foreign.iter().copied().chain(lift);
        let mut written = numbers
            .filter_map(|(name, value)| Some((name, value.as_ref()?.span().start)))
            .collect::<Vec<_>>();
        if let (Kind::Ray, Some(model)) = (kind, &self.model) {
            written.push(("model", model.span().start));
        }
        match written.first() {
            None => Ok(()),
            Some((name, at)) => {
                let message = format!("a {} has no {name}", kind.name());
                Err(GameFileError::at(text, *at, message))
            }
        }
    }

    fn ray(&self, text: &str) -> Result<Ray, GameFileError> {
        let usual = Ray::default();
        let reach = number("reach", 1.0..=65_536.0);
        let damage = number("damage", 0.0..=10_000.0);
        Ok(Ray {
            reach: reach.read(text, self.reach.as_ref(), usual.reach)?,
            damage: damage.read_whole(text, self.damage.as_ref(), usual.damage)?,
            impulse: number("impulse", IMPULSES).read(
                text,
                self.impulse.as_ref(),
                usual.impulse,
            )?,
        })
    }

    fn thrown(&self, text: &str, usual: Thrown) -> Result<Thrown, GameFileError> {
        let model = self.model.as_ref().map(|model| model.get_ref().as_str().into());
        let read = |name, range, written: &Option<Spanned<f64>>, usual| {
            number(name, range).read(text, written.as_ref(), usual)
        };
        let Blast { radius, damage, impulse, max_speed, player_speed } = usual.blast;
        let blast = Blast {
            radius: read("blast_radius", 1.0..=2_048.0, &self.blast_radius, radius)?,
            damage: read("blast_damage", 0.0..=10_000.0, &self.blast_damage, damage)?,
            impulse: read("blast_impulse", IMPULSES, &self.blast_impulse, impulse)?,
            max_speed: read("blast_max_speed", SPEEDS, &self.blast_max_speed, max_speed)?,
            player_speed: read(
                "blast_player_speed",
                SPEEDS,
                &self.blast_player_speed,
                player_speed,
            )?,
        };
        Ok(Thrown {
            model: model.unwrap_or(usual.model),
            speed: read("speed", SPEEDS, &self.speed, usual.speed)?,
            lift: read("lift", SPEEDS, &self.lift, usual.lift)?,
            fuse_seconds: read("fuse_seconds", 0.0..=60.0, &self.fuse_seconds, usual.fuse_seconds)?,
            blast,
        })
    }
}

fn number(name: &'static str, range: RangeInclusive<f64>) -> Number {
    Number { name, range }
}
