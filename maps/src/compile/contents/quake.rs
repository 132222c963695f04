//! Quake: names of textures, as qbsp and its successors read them (the manual of ericw-tools'
//! qbsp, "Special Texture Names").
//!
//! The first face whose name is not `skip` decides, because `skip` only means that the face is not
//! drawn. `trigger` is solid, like any other name.

use super::{LiquidKind, ORIGIN, Owner, Role, SourceFace, Verdict, names};

pub(super) fn verdict(owner: Owner, faces: &[SourceFace]) -> Verdict {
    for name in names(faces) {
        let lacking = |reason| vec![(name.clone(), reason)];
        let (role, unsupported) = match name.as_str() {
            "clip" => (Role::Clip, Vec::new()),
            "hint" | "hintskip" => (Role::Passable, Vec::new()),
            "origin" => (Role::Origin, lacking(ORIGIN)),
            "skip" => continue,
            // The brush model of a wall is solid with any texture.
            name if name.starts_with('*') && owner != Owner::Wall => (liquid(name), Vec::new()),
            _ => (Role::Solid, Vec::new()),
        };
        return Verdict { role, unsupported };
    }
    Verdict { role: Role::Solid, unsupported: Vec::new() }
}

/// The role of a name with a star. The game's compilers take every such name except those of lava
/// and slime for water, even the surface of a teleporter. Here nobody swims in a teleporter.
fn liquid(name: &str) -> Role {
    let begins = |start| name.starts_with(start);
    match () {
        () if begins("*lava") => Role::Liquid(LiquidKind::Lava),
        () if begins("*slime") => Role::Liquid(LiquidKind::Slime),
        () if begins("*tele") => Role::Passable,
        () => Role::Liquid(LiquidKind::Water),
    }
}
