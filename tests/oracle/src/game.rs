//! The game for which a map was made, guessed from its text.
//!
//! The editor's own notes count first: a key `_game_form`, TrenchBroom's comments, J.A.C.K.'s
//! `_generator`. Then the contents decide: brush primitives, flags, folders of textures, and names
//! that only Half-Life has. A map without any of these is Quake's.

use crate::map_text::{Entity, FaceText};

/// A game, whose rules decide which brushes are solid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Game {
    /// Quake.
    #[default]
    Quake,
    /// Quake II.
    Quake2,
    /// Half-Life.
    HalfLife,
    /// Quake III.
    Quake3,
}

impl Game {
    /// The game with this name: `quake`, `quake2`, `half-life` or `quake3`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "quake" => Self::Quake,
            "quake2" => Self::Quake2,
            "half-life" => Self::HalfLife,
            "quake3" => Self::Quake3,
            _ => return None,
        })
    }

    pub(crate) fn guess(text: &str, entities: &[Entity]) -> Self {
        let world = entities.iter().find(|entity| {
            entity.get("classname").is_some_and(|name| name.eq_ignore_ascii_case("worldspawn"))
        });
        let world = world.or(entities.first());
        let key = |key: &str| world.and_then(|w| w.get(key)).unwrap_or("").to_ascii_lowercase();
        Self::named(&key("_game_form"))
            .or_else(|| from_comments(text))
            .or_else(|| from_profile(&key("_generator")))
            .or_else(|| from_primitives(text))
            .or_else(|| from_flags(entities))
            .or_else(|| from_folders(entities))
            .or_else(|| from_half_life(entities, &key("wad")))
            .unwrap_or_default()
    }
}

/// The game in the comment that TrenchBroom writes before the first entity.
fn from_comments(text: &str) -> Option<Game> {
    let head = &text[..text.find('{').unwrap_or(text.len())];
    let said = |what: &str| {
        let lines = head.split(['\r', '\n']).map(|l| l.trim().trim_start_matches('/').trim());
        lines.filter_map(|l| l.strip_prefix(what)).map(|l| l.trim().to_ascii_lowercase()).next()
    };
    let game = match said("Game:").unwrap_or_default().as_str() {
        "quake" | "hexen 2" | "wrath" | "obsp" => Some(Game::Quake),
        "half-life" => Some(Game::HalfLife),
        "quake 3" | "quake live" | "neverball" => Some(Game::Quake3),
        "quake 2"
        | "heretic 2"
        | "daikatana"
        | "kingpin"
        | "soldier of fortune"
        | "sof"
        | "d-day normandy"
        | "digital paintball 2"
        | "digital paintball2"
        | "quetoo" => Some(Game::Quake2),
        _ => None,
    };
    game.or_else(|| match said("Format:").unwrap_or_default().as_str() {
        "quake2" | "quake2 (valve)" | "daikatana" => Some(Game::Quake2),
        "quake3" | "quake3 (valve)" | "quake3 (legacy)" => Some(Game::Quake3),
        _ => None,
    })
}

/// The game that J.A.C.K. names in parentheses, as in `(vpquake3)`.
fn from_profile(generator: &str) -> Option<Game> {
    let of = |profile: &str| generator.contains(&format!("(vp{profile})"));
    if of("quake3") {
        Some(Game::Quake3)
    } else if of("quake2") {
        Some(Game::Quake2)
    } else if of("halflife") || of("half-life") {
        Some(Game::HalfLife)
    } else {
        of("quake").then_some(Game::Quake)
    }
}

/// Quake III, if a word opens a brush or patch that only this game has.
fn from_primitives(text: &str) -> Option<Game> {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split_whitespace();
    let own = |word: &str| ["brushdef", "patchdef2", "patchdef3"].contains(&word);
    let mut opened = false;
    words
        .any(|word| {
            let found = opened && own(word);
            opened = word == "{";
            found
        })
        .then_some(Game::Quake3)
}

fn faces(entities: &[Entity]) -> impl Iterator<Item = &FaceText> {
    entities.iter().flat_map(|entity| &entity.brushes).flat_map(|brush| &brush.faces)
}

/// Quake II, if a face has flags other than *detail*. If flags are written but not set, the
/// textures decide between Quake II and Quake.
fn from_flags(entities: &[Entity]) -> Option<Game> {
    let flags = || faces(entities).filter(|face| face.numbers.len() > 1).map(|f| f.numbers[0]);
    flags().next()?;
    if flags().any(|contents| contents != 0 && contents != 0x0800_0000) {
        return Some(Game::Quake2);
    }
    let folder = from_folders(entities);
    let liquid = || faces(entities).any(|face| face.texture.starts_with('*'));
    folder.or_else(|| liquid().then_some(Game::Quake)).or(Some(Game::Quake2))
}

fn from_folders(entities: &[Entity]) -> Option<Game> {
    faces(entities).find_map(|face| {
        let name = face.texture.to_ascii_lowercase().replace('\\', "/");
        let mut parts = name.split('/');
        let folder = parts.next()?;
        parts.next()?;
        if ["common", "textures"].contains(&folder) {
            return Some(Game::Quake3);
        }
        // Quake II's folders have an episode and a unit: e1u3.
        let digits = folder.strip_prefix('e')?.replacen('u', " ", 1);
        let (episode, unit) = digits.split_once(' ')?;
        let number =
            |digits: &str| !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit());
        (number(episode) && number(unit)).then_some(Game::Quake2)
    })
}

fn from_half_life(entities: &[Entity], wads: &str) -> Option<Game> {
    let wad = [
        "half-life",
        "half life",
        "halflife.wad",
        "zhlt.wad",
        "sdhlt.wad",
        "xeno.wad",
        "cstrike",
        "/valve/",
        "\\valve\\",
    ];
    let tool = |name: &str| {
        let tools = "! aaatrigger black_hidden boundingbox bevelbrush bevelhint solidhint splitface \
                     cliphull clipbevel contentwater contentempty contentsolid contentsky nullnoclip";
        tools.split_whitespace().any(|tool| name.to_ascii_lowercase().starts_with(tool))
    };
    let class = |entity: &Entity| {
        let own =
            "infodecal multi_manager light_environment env_sprite game_player_equip info_node";
        let class = entity.get("classname").unwrap_or("").to_ascii_lowercase();
        own.split_whitespace().any(|own| own == class)
    };
    let found = wad.iter().any(|wad| wads.contains(wad))
        || faces(entities).any(|face| tool(&face.texture))
        || entities.iter().any(class);
    found.then_some(Game::HalfLife)
}
