//! The form of a map: the game whose rules decide the contents of its brushes.
//!
//! All games of Quake's family use the same format of text, but the names and flags in it mean
//! different things. The first of these signs decides the form:
//!
//! 1. the form that the caller gives; if the caller gives none, the key `_game_form` of worldspawn;
//! 2. the editor's own words: TrenchBroom's comments `// Game:` and `// Format:` before the
//!    first entity, or J.A.C.K.'s key `_generator`;
//! 3. `brushDef` or a curve: Quake III;
//! 4. flags on faces. A flag of contents other than *detail* shows Quake II. Without such a flag, a
//!    folder of a texture decides as in 5; then a name with `*` shows Quake; all else shows Quake
//!    II;
//! 5. the folder of a texture: `common` or `textures` for Quake III, a folder such as `e1u1` for
//!    Quake II;
//! 6. a WAD file, a name (with `!`, or of a tool) or an entity that only Half-Life has.
//!
//! Without any of these signs the form is Quake's.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::contents::folded;
use super::source::map::{SourceEntity, SourceFace};
use crate::Map;

/// The key that holds the form, in a map and in a compiled map. It belongs to worldspawn, or
/// to the first entity if there is no worldspawn.
pub(super) const FORM_KEY: &str = "_game_form";

/// The game whose rules decide whether a brush is solid, a clip, a liquid or nothing.
///
/// ```
/// use obsp::{GameForm, Source};
///
/// let text = "// Game: Quake 3\n{ \"classname\" \"worldspawn\" }";
/// let recognised = Source::from_text("map", text).summary()?.form;
/// assert_eq!(recognised.form, GameForm::Quake3);
/// assert_eq!(recognised.sign, "the comment // Game: Quake 3");
/// # Ok::<(), obsp::CompileError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "mapc", derive(clap::ValueEnum))]
pub enum GameForm {
    /// Quake: the names of textures decide.
    #[default]
    Quake,
    /// Quake II: the flags of faces decide, and the texture's name for a face without flags.
    Quake2,
    /// Half-Life and games of its engine: the names of textures decide, those of the compile tools
    /// included.
    HalfLife,
    /// Quake III: the names of shaders decide, with or without common/ and textures/.
    Quake3,
}

impl GameForm {
    /// All forms.
    pub const ALL: [Self; 4] = [Self::Quake, Self::Quake2, Self::HalfLife, Self::Quake3];

    /// The form of the source that a map was compiled from.
    pub fn of(map: &Map) -> Self {
        let entities = map.entities();
        let worldspawn = entities.iter().find(|entity| is_worldspawn(entity.classname()));
        let key = worldspawn.or(entities.first()).and_then(|entity| entity.get(FORM_KEY));
        key.and_then(|name| name.parse().ok()).unwrap_or_default()
    }

    /// The name in options and keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quake => "quake",
            Self::Quake2 => "quake2",
            Self::HalfLife => "half-life",
            Self::Quake3 => "quake3",
        }
    }
}

impl fmt::Display for GameForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a name that no form has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name:?} is not a form of maps; write quake, quake2, half-life or quake3")]
pub struct UnknownForm {
    /// The name.
    pub name: String,
}

impl FromStr for GameForm {
    type Err = UnknownForm;

    fn from_str(name: &str) -> Result<Self, UnknownForm> {
        let form = Self::ALL.into_iter().find(|form| form.name().eq_ignore_ascii_case(name));
        form.ok_or_else(|| UnknownForm { name: name.to_owned() })
    }
}

/// The form of a map, and the sign by which it was recognised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecognisedForm {
    /// The form.
    pub form: GameForm,
    /// The sign by which the form was recognised, such as "the comment // Game: Quake 3".
    pub sign: String,
}

/// The parts of a map that can show its form.
pub(super) struct Signs<'a> {
    pub(super) given: Option<GameForm>,
    pub(super) text: &'a [u8],
    pub(super) entities: &'a [SourceEntity],
    /// Line of the first `brushDef` or curve.
    pub(super) primitives: Option<u64>,
}

impl Signs<'_> {
    /// The form of the map.
    ///
    /// # Errors
    /// [`UnknownForm`] if the key of the map names no form, with the line of the key's entity.
    pub(super) fn form(&self) -> Result<RecognisedForm, (u64, UnknownForm)> {
        let recognised = |(form, sign): (GameForm, String)| RecognisedForm { form, sign };
        if let Some(form) = self.given {
            return Ok(recognised((form, "the caller asked for it".to_owned())));
        }
        if let Some((line, name)) = self.key(FORM_KEY) {
            let form = name.parse().map_err(|unknown| (line, unknown))?;
            return Ok(recognised((form, format!("the key {FORM_KEY} of worldspawn"))));
        }
        let sign = self
            .comment()
            .or_else(|| self.generator())
            .or_else(|| {
                let line = self.primitives?;
                Some((GameForm::Quake3, format!("the brushDef or patchDef2 of line {line}")))
            })
            .or_else(|| self.flags())
            .or_else(|| self.folders())
            .or_else(|| self.half_life());
        Ok(sign.map_or_else(
            || recognised((GameForm::Quake, "the map has no sign of another game".to_owned())),
            recognised,
        ))
    }

    /// The value of a key of worldspawn, and the line of the entity.
    fn key(&self, key: &str) -> Option<(u64, &str)> {
        let world = self.entities.iter().find(|e| is_worldspawn(e.get("classname")));
        let world = world.or(self.entities.first())?;
        Some((world.line, world.get(key))).filter(|(_, value)| !value.is_empty())
    }

    fn faces(&self) -> impl Iterator<Item = (u64, &SourceFace)> {
        let brushes = self.entities.iter().flat_map(|entity| &entity.brushes);
        brushes.flat_map(|brush| brush.faces.iter().map(|face| (brush.line, face)))
    }

    /// The form by the comments that TrenchBroom writes before the first entity. The game decides,
    /// or the format if the game is not known.
    fn comment(&self) -> Option<(GameForm, String)> {
        let blank = self.text.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
        let lines = self.text[blank..].split(|b| b"\r\n".contains(b));
        let comments = lines.map_while(|line| match line.trim_ascii() {
            b"" => Some(""),
            line => std::str::from_utf8(line.strip_prefix(b"//")?).ok(),
        });
        let comments: Vec<&str> = comments.take(16).map(str::trim).collect();
        let value = |name: &str| {
            comments.iter().find_map(|comment| comment.strip_prefix(name).map(str::trim))
        };
        let game = value("Game:").and_then(|game| {
            let form = match game.to_ascii_lowercase().as_str() {
                "quake" | "hexen 2" | "wrath" | "obsp" => GameForm::Quake,
                "quake 2"
                | "heretic 2"
                | "daikatana"
                | "kingpin"
                | "quetoo"
                | "d-day normandy"
                | "digital paintball 2"
                | "digital paintball2"
                | "soldier of fortune"
                | "sof" => GameForm::Quake2,
                "half-life" => GameForm::HalfLife,
                "quake 3" | "quake live" | "neverball" => GameForm::Quake3,
                _ => return None,
            };
            Some((form, format!("the comment // Game: {game}")))
        });
        game.or_else(|| {
            let format = value("Format:")?;
            let lower = format.to_ascii_lowercase();
            let form = if lower.starts_with("quake3") {
                GameForm::Quake3
            } else if lower.starts_with("quake2") || lower == "daikatana" {
                GameForm::Quake2
            } else {
                return None;
            };
            Some((form, format!("the comment // Format: {format}")))
        })
    }

    /// The form by the key that J.A.C.K. writes, such as `J.A.C.K. 1.1.3773 (vpHalfLife)`.
    fn generator(&self) -> Option<(GameForm, String)> {
        let (_, generator) = self.key("_generator")?;
        let lower = generator.to_ascii_lowercase();
        let profile = lower.split("(vp").nth(1)?.split(')').next()?.replace('-', "");
        let form = match profile.as_str() {
            "quake" => GameForm::Quake,
            "quake2" => GameForm::Quake2,
            "halflife" => GameForm::HalfLife,
            "quake3" => GameForm::Quake3,
            _ => return None,
        };
        Some((form, format!("the key _generator: {generator}")))
    }

    fn flags(&self) -> Option<(GameForm, String)> {
        // Quake III's editors write no other flag.
        const DETAIL: u32 = 1 << 27;
        let (first, _) = self.faces().find(|(_, face)| face.texture.flags.is_some())?;
        let meaning = self
            .faces()
            .find(|(_, face)| face.texture.flags.is_some_and(|f| f.contents & !DETAIL != 0));
        if let Some((line, _)) = meaning {
            let sign = format!("the contents flags of the brush of line {line}");
            return Some((GameForm::Quake2, sign));
        }
        self.folders().or_else(|| {
            let name = |name: &str| self.faces().find(|(_, f)| f.texture.name.starts_with(name));
            Some(match name("*") {
                Some((line, face)) => (GameForm::Quake, texture_sign(&face.texture.name, line)),
                None => (GameForm::Quake2, format!("the three numbers of flags of line {first}")),
            })
        })
    }

    /// The form by a folder of textures that only one game has.
    fn folders(&self) -> Option<(GameForm, String)> {
        self.faces().find_map(|(line, face)| {
            let name = folded(&face.texture.name);
            let (folder, _) = name.split_once('/')?;
            let unit = |digits: &str| digits.parse::<u32>().is_ok();
            let form = match folder {
                "common" | "textures" => GameForm::Quake3,
                _ => {
                    let (episode, number) = folder.strip_prefix('e')?.split_once('u')?;
                    (unit(episode) && unit(number)).then_some(GameForm::Quake2)?
                }
            };
            Some((form, texture_sign(&face.texture.name, line)))
        })
    }

    fn half_life(&self) -> Option<(GameForm, String)> {
        const WADS: [&str; 9] = [
            "halflife.wad",
            "zhlt.wad",
            "sdhlt.wad",
            "half-life",
            "half life",
            "cstrike",
            "xeno.wad",
            "/valve/",
            "\\valve\\",
        ];
        const NAMES: [&str; 15] = [
            "!",
            "aaatrigger",
            "contentwater",
            "contentempty",
            "contentsolid",
            "contentsky",
            "cliphull",
            "clipbevel",
            "solidhint",
            "bevelhint",
            "bevelbrush",
            "boundingbox",
            "splitface",
            "black_hidden",
            "nullnoclip",
        ];
        const CLASSES: [&str; 6] = [
            "infodecal",
            "multi_manager",
            "light_environment",
            "env_sprite",
            "game_player_equip",
            "info_node",
        ];
        let wads = self.key("wad").map_or(String::new(), |(_, wads)| wads.to_ascii_lowercase());
        let wad = WADS.iter().find(|wad| wads.contains(**wad));
        let wad = wad.map(|wad| format!("the key wad with {wad}"));
        let name = || {
            self.faces().find_map(|(line, face)| {
                let name = folded(&face.texture.name);
                let own = NAMES.iter().any(|own| name.starts_with(own));
                own.then(|| texture_sign(&face.texture.name, line))
            })
        };
        let class = || {
            self.entities.iter().find_map(|entity| {
                let class = entity.get("classname").to_ascii_lowercase();
                let own = CLASSES.contains(&class.as_str());
                own.then(|| format!("the {class} of line {}", entity.line))
            })
        };
        wad.or_else(name).or_else(class).map(|sign| (GameForm::HalfLife, sign))
    }
}

pub(super) fn is_worldspawn(classname: &str) -> bool {
    classname.eq_ignore_ascii_case("worldspawn")
}

fn texture_sign(name: &str, line: u64) -> String {
    format!("the texture {name} of the brush of line {line}")
}
