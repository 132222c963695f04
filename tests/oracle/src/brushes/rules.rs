use crate::map_text::{Brush, Entity};

/// The contents of a brush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Solid for all sizes.
    Solid,
    /// Solid for bodies with an extent, not for the bare point.
    Clip,
    /// Not part of the static world, or not solid.
    Nothing,
}

/// Quake's rules. The world is `worldspawn`, the groups that compilers
/// dissolve into it, and walls that never move; the first texture with a meaning decides
/// the contents of a brush.
pub fn content(entity: &Entity, brush: &Brush) -> Content {
    let class = entity.get("classname").unwrap_or("").to_ascii_lowercase();
    let wall = class == "func_wall";
    let dissolved =
        ["worldspawn", "func_group", "func_detail", "func_detail_wall", "func_detail_fence"];
    if !wall && !dissolved.contains(&&*class) {
        return Content::Nothing;
    }
    for face in &brush.faces {
        let texture = face.texture.to_ascii_lowercase();
        if texture == "skip" {
            continue;
        }
        if ["hint", "hintskip", "origin"].contains(&&*texture) {
            return Content::Nothing;
        }
        if texture == "clip" {
            return Content::Clip;
        }
        // A wall's brush model is solid regardless of its texture.
        let liquid = texture.starts_with('*') && !wall;
        return if liquid { Content::Nothing } else { Content::Solid };
    }
    Content::Solid
}
