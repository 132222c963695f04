//! Quake: names of textures, as qbsp and its successors read them (the manual of ericw-tools'
//! qbsp, "Special Texture Names").
//!
//! The first face with a meaning decides. `skip` and `trigger` have none there: they are only
//! not drawn.

use super::{LIQUID, ORIGIN, Owner, Role, SourceFace, Verdict, names};

pub(super) fn verdict(owner: Owner, faces: &[SourceFace]) -> Verdict {
    for name in names(faces) {
        let lacking = |lack| vec![(name.clone(), lack)];
        let (role, lacks) = match name.as_str() {
            "clip" => (Role::Clip, Vec::new()),
            "hint" | "hintskip" => (Role::Passable, Vec::new()),
            "origin" => (Role::Removed, lacking(ORIGIN)),
            "skip" => continue,
            // A wall's brush model is solid whatever is drawn on it.
            name if name.starts_with('*') && owner != Owner::Wall => {
                (Role::Passable, lacking(LIQUID))
            }
            _ => (Role::Solid, Vec::new()),
        };
        return Verdict { role, lacks };
    }
    Verdict { role: Role::Solid, lacks: Vec::new() }
}
