//! The contents of brushes, by each game's own documentation.
//!
//! These rules share no code with the compiler that they judge.

mod half_life;
mod quake2;
mod quake3;

use crate::game::Game;
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

/// The content of a brush by the rules of the map's game. The static world consists of
/// `worldspawn`, the groups that compilers dissolve into it, and walls that never move.
pub fn content(entity: &Entity, brush: &Brush) -> Content {
    let class = entity.get("classname").unwrap_or("").to_ascii_lowercase();
    let dissolved =
        ["worldspawn", "func_group", "func_detail", "func_detail_wall", "func_detail_fence"];
    let wall = match entity.game {
        Game::Quake3 => class == "func_wall" || class == "func_static",
        // The first three spawn flags make a wall appear and vanish.
        Game::Quake2 => {
            let flags = entity.get("spawnflags").and_then(|f| f.trim().parse::<u32>().ok());
            class == "func_wall" && flags.unwrap_or(0) & 7 == 0
        }
        _ => class == "func_wall",
    };
    if !wall && !dissolved.contains(&&*class) {
        return Content::Nothing;
    }
    match entity.game {
        Game::Quake => quake(brush, wall),
        Game::Quake2 => quake2::content(brush),
        Game::HalfLife => half_life::content(brush),
        Game::Quake3 => quake3::content(brush),
    }
}

/// The content of a brush in Quake: the first texture that is not ignored decides.
fn quake(brush: &Brush, wall: bool) -> Content {
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
