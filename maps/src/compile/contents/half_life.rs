//! Half-Life: names of textures, as its compile tools read them (`TextureContents`,
//! `CheckBrushContents` and `ParseBrush` of HLCSG; TWHL's list of tool textures).
//!
//! The tools compare the beginning of a name. The first face that settles the contents (`clip…`,
//! `skip…`, `content…`) decides. Without such a face the strongest face decides, so a brush with
//! one face of stone is stone.

use super::{Flow, LiquidKind, ORIGIN, Owner, Reason, Role, SourceFace, Verdict, names};

const RAYS_ONLY: Reason = "in Half-Life the brush stops rays but no players; no brush of this world can do that, so it is \
     left out";
const ONE_HULL: Reason = "in Half-Life the brush stops players of one size only; in this world it \
                          stops all";

/// The strength of a face in the choice of its brush's contents; the greatest wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// `hint` and the like: passable, unless a stronger face decides otherwise.
    Empty,
    /// `null` and the like: solid, unless a stronger face decides otherwise.
    Null,
    Special,
    Solid,
    /// This face settles the contents, and no other face counts.
    Settled,
}

const WATER: Role = Role::Liquid(LiquidKind::Water);
const SLIME: Role = Role::Liquid(LiquidKind::Slime);
const LAVA: Role = Role::Liquid(LiquidKind::Lava);

const fn current(flow: Flow) -> Role {
    Role::Current(LiquidKind::Water, flow)
}

/// Beginnings of names, the longer before the shorter, and their meanings.
const TABLE: &[(&str, Strength, Role, Option<Reason>)] = &[
    ("contentsolid", Strength::Settled, Role::Solid, None),
    ("contentsky", Strength::Settled, Role::Solid, None),
    ("contentwater", Strength::Settled, WATER, None),
    ("contentempty", Strength::Settled, Role::Passable, None),
    ("cliphull", Strength::Settled, Role::Clip, Some(ONE_HULL)),
    ("clip", Strength::Settled, Role::Clip, None),
    ("skip", Strength::Settled, Role::Passable, None),
    ("nullnoclip", Strength::Settled, Role::Passable, Some(RAYS_ONLY)),
    ("noclip", Strength::Settled, Role::Passable, Some(RAYS_ONLY)),
    ("origin", Strength::Special, Role::Origin, Some(ORIGIN)),
    ("boundingbox", Strength::Special, Role::Removed, Some(ORIGIN)),
    ("!cur_0", Strength::Special, current(Flow::EAST), None),
    ("!cur_90", Strength::Special, current(Flow::NORTH), None),
    ("!cur_180", Strength::Special, current(Flow::WEST), None),
    ("!cur_270", Strength::Special, current(Flow::SOUTH), None),
    ("!cur_up", Strength::Special, current(Flow::UP), None),
    ("!cur_dwn", Strength::Special, current(Flow::DOWN), None),
    ("!lava", Strength::Special, LAVA, None),
    ("*lava", Strength::Special, LAVA, None),
    ("!slime", Strength::Special, SLIME, None),
    ("*slime", Strength::Special, SLIME, None),
    ("!", Strength::Special, WATER, None),
    ("*", Strength::Special, WATER, None),
    ("translucent", Strength::Special, Role::Passable, None),
    ("@", Strength::Special, Role::Passable, None),
    ("solidhint", Strength::Null, Role::Solid, None),
    ("bevelhint", Strength::Null, Role::Solid, None),
    ("bevel", Strength::Null, Role::Solid, None),
    ("null", Strength::Null, Role::Solid, None),
    ("splitface", Strength::Special, Role::Passable, None),
    ("hint", Strength::Empty, Role::Passable, None),
    // The following names are solid, like every name that is not listed.
    ("aaatrigger", Strength::Solid, Role::Solid, None),
    ("black_hidden", Strength::Solid, Role::Solid, None),
    ("env_sky", Strength::Null, Role::Solid, None),
    ("sky", Strength::Null, Role::Solid, None),
    ("{", Strength::Solid, Role::Solid, None),
    ("", Strength::Solid, Role::Solid, None),
];

pub(super) fn verdict(_: Owner, faces: &[SourceFace]) -> Verdict {
    let mut best: Option<(Strength, Role, Option<Reason>, String)> = None;
    for name in names(faces) {
        let (strength, role, reason) = meaning(&name);
        if best.as_ref().is_none_or(|(known, ..)| strength > *known) {
            best = Some((strength, role, reason, name));
        }
    }
    let Some((_, role, reason, name)) = best else {
        return Verdict { role: Role::Solid, unsupported: Vec::new() };
    };
    Verdict { role, unsupported: reason.map(|reason| (name, reason)).into_iter().collect() }
}

fn meaning(name: &str) -> (Strength, Role, Option<Reason>) {
    // The name of an animated liquid has one character before the exclamation mark.
    let animated = name.char_indices().nth(1).map_or("", |(at, _)| &name[at..]);
    for (start, role) in [("!lava", LAVA), ("!slime", SLIME)] {
        if animated.starts_with(start) {
            return (Strength::Special, role, None);
        }
    }
    let row = TABLE.iter().find(|(start, ..)| name.starts_with(start));
    row.map_or((Strength::Solid, Role::Solid, None), |&(_, s, role, reason)| (s, role, reason))
}
