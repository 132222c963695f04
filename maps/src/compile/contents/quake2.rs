//! Quake II: flags of contents and surface on every face. They are named after `qfiles.h` of
//! id's tools and `BrushContents` of its qbsp3.
//!
//! In the game a face without flags has the flags of its texture's file. The compiler does not have
//! that file, so the face gets the flags of the game's own texture with this name. The first face
//! that has contents decides; faces with the flags *hint* or *skip* have none.

use super::{
    BOTS, CURRENT, Flow, LADDER, LiquidKind, ORIGIN, Owner, PORTAL, Reason, Role, SLICK,
    SourceFace, Verdict, folded,
};
use crate::compile::source::map::{Flags, SourceEntity};

const SOLID: u32 = 1;
const WINDOW: u32 = 1 << 1;
const AUX: u32 = 1 << 2;
const LAVA: u32 = 1 << 3;
const SLIME: u32 = 1 << 4;
const WATER: u32 = 1 << 5;
const MIST: u32 = 1 << 6;
const AREAPORTAL: u32 = 1 << 15;
const PLAYERCLIP: u32 = 1 << 16;
const MONSTERCLIP: u32 = 1 << 17;
const ORIGIN_BRUSH: u32 = 1 << 24;
const LADDERS: u32 = 1 << 29;

/// The lowest of the six flags of currents.
const FIRST_CURRENT: u32 = 18;

const LIQUIDS: u32 = LAVA | SLIME | WATER;

/// Flags of contents that make a brush something other than solid. A brush with none of them is
/// solid. The other flags (detail, translucent, currents, ladder, unused bits) do not change that.
const KINDS: u32 =
    WINDOW | AUX | LIQUIDS | MIST | AREAPORTAL | PLAYERCLIP | MONSTERCLIP | ORIGIN_BRUSH;

const SURFACE_SLICK: u32 = 1 << 1;
const SURFACE_HINT: u32 = 1 << 8;
const SURFACE_SKIP: u32 = 1 << 9;

/// Flags that this world does not support in full, with the names that editors show.
const UNSUPPORTED: &[(u32, &str, Reason)] = &[
    (AREAPORTAL, "contents flag areaportal", PORTAL),
    (MONSTERCLIP, "contents flag monsterclip", BOTS),
    (1 << FIRST_CURRENT, "contents flag current_0", CURRENT),
    (1 << (FIRST_CURRENT + 1), "contents flag current_90", CURRENT),
    (1 << (FIRST_CURRENT + 2), "contents flag current_180", CURRENT),
    (1 << (FIRST_CURRENT + 3), "contents flag current_270", CURRENT),
    (1 << (FIRST_CURRENT + 4), "contents flag current_up", CURRENT),
    (1 << (FIRST_CURRENT + 5), "contents flag current_dn", CURRENT),
    (ORIGIN_BRUSH, "contents flag origin", ORIGIN),
    (LADDERS, "contents flag ladder", LADDER),
];

/// The game's tool textures, without their folder, and the flags of their files.
const TOOLS: &[(&str, u32, u32)] = &[
    ("clip", PLAYERCLIP | MONSTERCLIP, 0),
    ("playerclip", PLAYERCLIP, 0),
    ("clip_mon", MONSTERCLIP, 0),
    ("monsterclip", MONSTERCLIP, 0),
    ("hint", 0, SURFACE_HINT),
    ("skip", 0, SURFACE_SKIP),
    ("hintskip", 0, SURFACE_SKIP),
    ("origin", ORIGIN_BRUSH, 0),
    ("mist", MIST, 0),
    ("areaportal", AREAPORTAL, 0),
    ("ladder", SOLID | LADDERS, 0),
];

/// Textures of liquids, without their folder and their number.
const LIQUID_TEXTURES: &[(&str, u32)] = &[
    ("water", WATER),
    ("brwater", WATER),
    ("bluwter", WATER),
    ("slime", SLIME),
    ("brslime", SLIME),
    ("lava", LAVA),
    ("brlava", LAVA),
];

pub(super) fn verdict(_: Owner, faces: &[SourceFace]) -> Verdict {
    let mut unsupported = Vec::new();
    let mut decisive = None;
    for face in faces {
        let Flags { contents, surface } = flags(face);
        if surface & SURFACE_SLICK != 0 {
            unsupported.push(("surface flag slick".to_owned(), SLICK));
        }
        if surface & (SURFACE_HINT | SURFACE_SKIP) == 0 && decisive.is_none() {
            decisive = Some(contents);
        }
    }
    let Some(contents) = decisive else { return Verdict { role: Role::Passable, unsupported } };
    let role = with_current(role(contents), contents);
    let known = UNSUPPORTED.iter().filter(|&&(flag, ..)| contents & flag != 0);
    // A brush that clips both players and monsters stops both in this world, so nothing is missing.
    let known = known.filter(|&&(flag, ..)| flag != MONSTERCLIP || role == Role::Passable);
    let flows = matches!(role, Role::Current(..));
    let known = known.filter(|&&(.., reason)| reason != CURRENT || !flows);
    unsupported.extend(known.map(|&(_, name, reason)| (name.to_owned(), reason)));
    Verdict { role, unsupported }
}

/// The role that flags of contents give a brush: *origin* decides first, then *solid* and
/// *window*, then a clip of players, then the most harmful liquid.
fn role(contents: u32) -> Role {
    if contents & ORIGIN_BRUSH != 0 {
        Role::Origin
    } else if contents & (SOLID | WINDOW) != 0 || contents & KINDS == 0 {
        Role::Solid
    } else if contents & PLAYERCLIP != 0 {
        Role::Clip
    } else if contents & LAVA != 0 {
        Role::Liquid(LiquidKind::Lava)
    } else if contents & SLIME != 0 {
        Role::Liquid(LiquidKind::Slime)
    } else if contents & WATER != 0 {
        Role::Liquid(LiquidKind::Water)
    } else {
        Role::Passable
    }
}

/// The role of a liquid that has flags of currents.
fn with_current(role: Role, contents: u32) -> Role {
    match (role, Flow::of_bits(contents >> FIRST_CURRENT)) {
        (Role::Liquid(kind), Some(flow)) => Role::Current(kind, flow),
        _ => role,
    }
}

/// The flags of a face as written. If none is set, the flags of its texture's name.
fn flags(face: &SourceFace) -> Flags {
    let written = face.texture.flags.unwrap_or_default();
    if written != Flags::default() {
        return written;
    }
    let name = folded(&face.texture.name);
    let name = name.rsplit('/').next().unwrap_or_default();
    let numbered = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    let tool = TOOLS.iter().find(|(tool, ..)| *tool == name);
    let tool = tool.map(|&(_, contents, surface)| Flags { contents, surface });
    let liquid = LIQUID_TEXTURES.iter().find(|(liquid, _)| *liquid == numbered);
    let liquid = liquid.map(|&(_, contents)| Flags { contents, surface: 0 });
    tool.or(liquid).unwrap_or_default()
}

/// Whether a `func_wall` appears or vanishes when it is triggered.
pub(super) fn is_triggered(entity: &SourceEntity) -> bool {
    entity.get("spawnflags").trim().parse::<u32>().is_ok_and(|flags| flags & 0b111 != 0)
}
