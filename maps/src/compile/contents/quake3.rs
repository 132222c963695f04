//! Quake III: names of shaders, as `common.shader` of the game's editors defines them, and
//! the folders of its liquids and fogs.
//!
//! Names are written with or without `textures/`, and names of the folder `common` with or without
//! that folder. Editors write only one flag, *detail*, which does not affect contents. A liquid
//! decides the contents of its brush, then fog, then a clip of players, then anything else that is
//! not solid (`SetBrushContents` of q3map2).
//!
//! `full_clip` and `missileclip` are meant to stop shots. They do so in this world, although the
//! game's own compiler makes them clips of players.

use super::{BOTS, LADDER, LiquidKind, ORIGIN, Owner, PORTAL, Reason, Role, SLICK, SourceFace};
use super::{Verdict, liquid_named, names};

const NO_DROP: Reason = "in Quake III the brush removes items that are dropped in it; in this \
                         world it is left out";

/// The strength of a face in the choice of its brush's contents; the greatest wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Solid,
    NotSolid,
    Clip,
    Fog,
    Liquid(LiquidKind),
    Origin,
}

/// Shaders of the folder `common`. A name that is not listed is also solid.
const COMMON: &[(&str, Strength, Option<Reason>)] = &[
    ("clip", Strength::Clip, None),
    ("playerclip", Strength::Clip, None),
    ("clipplayer", Strength::Clip, None),
    ("metalclip", Strength::Clip, None),
    ("nowalljumpclip", Strength::Clip, None),
    ("ladder", Strength::Clip, Some(LADDER)),
    ("ladderclip", Strength::Clip, Some(LADDER)),
    ("full_clip", Strength::Solid, None),
    ("fullclip", Strength::Solid, None),
    ("weapclip", Strength::Solid, None),
    ("missileclip", Strength::Solid, None),
    ("botclip", Strength::NotSolid, Some(BOTS)),
    ("monsterclip", Strength::NotSolid, Some(BOTS)),
    ("clipmonster", Strength::NotSolid, Some(BOTS)),
    ("donotenter", Strength::NotSolid, Some(BOTS)),
    ("clusterportal", Strength::NotSolid, Some(BOTS)),
    ("areaportal", Strength::NotSolid, Some(PORTAL)),
    ("hint", Strength::NotSolid, None),
    ("hintlocal", Strength::NotSolid, None),
    ("hintskip", Strength::NotSolid, None),
    ("skip", Strength::NotSolid, None),
    ("antiportal", Strength::NotSolid, None),
    ("lightgrid", Strength::NotSolid, None),
    ("nodraw", Strength::NotSolid, None),
    ("nodrawnonsolid", Strength::NotSolid, None),
    ("nodrop", Strength::NotSolid, Some(NO_DROP)),
    ("alpha_0", Strength::NotSolid, None),
    ("alpha_25", Strength::NotSolid, None),
    ("alpha_50", Strength::NotSolid, None),
    ("alpha_75", Strength::NotSolid, None),
    ("alpha_100", Strength::NotSolid, None),
    ("watercaulk", Strength::Liquid(LiquidKind::Water), None),
    ("slimecaulk", Strength::Liquid(LiquidKind::Slime), None),
    ("lavacaulk", Strength::Liquid(LiquidKind::Lava), None),
    ("nodrawwater", Strength::Liquid(LiquidKind::Water), None),
    ("water", Strength::Liquid(LiquidKind::Water), None),
    ("slime", Strength::Liquid(LiquidKind::Slime), None),
    ("lava", Strength::Liquid(LiquidKind::Lava), None),
    ("fog", Strength::Fog, None),
    ("origin", Strength::Origin, Some(ORIGIN)),
    ("slick", Strength::Solid, Some(SLICK)),
    ("caulk", Strength::Solid, None),
    ("cushion", Strength::Solid, None),
    ("invisible", Strength::Solid, None),
    ("mirror1", Strength::Solid, None),
    ("mirror2", Strength::Solid, None),
    ("noimpact", Strength::Solid, None),
    ("nolightmap", Strength::Solid, None),
    ("portal", Strength::Solid, None),
    ("timportal", Strength::Solid, None),
    ("terrain", Strength::Solid, None),
    ("terrain2", Strength::Solid, None),
    ("trigger", Strength::Solid, None),
];

pub(super) fn verdict(_: Owner, faces: &[SourceFace]) -> Verdict {
    let (mut strongest, mut unsupported) = (Strength::Solid, Vec::new());
    for name in names(faces) {
        let (strength, reason) = meaning(&name);
        if let Some(reason) = reason {
            unsupported.push((name, reason));
        }
        strongest = strongest.max(strength);
    }
    let role = match strongest {
        Strength::Solid => Role::Solid,
        Strength::NotSolid | Strength::Fog => Role::Passable,
        Strength::Liquid(kind) => Role::Liquid(kind),
        Strength::Clip => Role::Clip,
        Strength::Origin => Role::Origin,
    };
    Verdict { role, unsupported }
}

fn meaning(name: &str) -> (Strength, Option<Reason>) {
    let name = name.strip_prefix("textures/").unwrap_or(name);
    if let Some(liquid) = name.strip_prefix("liquids/") {
        return (Strength::Liquid(liquid_named(liquid)), None);
    }
    if name.strip_prefix("sfx/").is_some_and(|sfx| sfx.contains("fog")) {
        return (Strength::Fog, None);
    }
    let name = name.strip_prefix("common/").unwrap_or(name);
    let row = COMMON.iter().find(|(known, ..)| *known == name);
    row.map_or((Strength::Solid, None), |&(_, strength, reason)| (strength, reason))
}
