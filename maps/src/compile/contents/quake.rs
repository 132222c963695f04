//! Quake: names of textures, as qbsp and its successors read them (the manual of ericw-tools'
//! qbsp, "Special Texture Names").
//!
//! The first face whose name is not `skip` decides, because `skip` only means that the face is not
//! drawn. `trigger` is solid, like any other name.

use super::{LIQUID, ORIGIN, Owner, Role, SourceFace, Verdict, names};

pub(super) fn verdict(owner: Owner, faces: &[SourceFace]) -> Verdict {
    for name in names(faces) {
        let lacking = |reason| vec![(name.clone(), reason)];
        let (role, unsupported) = match name.as_str() {
            "clip" => (Role::Clip, Vec::new()),
            "hint" | "hintskip" => (Role::Passable, Vec::new()),
            "origin" => (Role::Origin, lacking(ORIGIN)),
            "skip" => continue,
            // The brush model of a wall is solid with any texture.
            name if name.starts_with('*') && owner != Owner::Wall => {
                (Role::Passable, lacking(LIQUID))
            }
            _ => (Role::Solid, Vec::new()),
        };
        return Verdict { role, unsupported };
    }
    Verdict { role: Role::Solid, unsupported: Vec::new() }
}
