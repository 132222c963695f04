//! Half-Life: the hulls in which a texture is solid, by TWHL's list of tool textures. Shots use
//! hull 0, players the other hulls.

use super::Content;
use crate::map_text::Brush;

/// The meaning of a texture in the list.
#[derive(Clone, Copy, PartialEq)]
enum Texture {
    /// Any other texture, even if its name resembles that of a tool: solid in all hulls.
    Stone,
    /// Solid like `null`, unless another face decides otherwise.
    Null,
    /// Not solid: liquids of all colours, translucent textures and `splitface`.
    Air,
    /// Removed from the world, because only its place counts: `origin` and `boundingbox`.
    Place,
    /// Splits space and has no content.
    Hint,
    /// Decides the content of the whole brush by itself.
    Brush(Content),
}

fn texture(name: &str) -> Texture {
    let name = name.to_ascii_lowercase();
    let begins = |starts: &str| starts.split(' ').any(|start| name.starts_with(start));
    if begins("contentwater contentempty skip") {
        Texture::Brush(Content::Nothing)
    } else if begins("contentsolid contentsky") {
        Texture::Brush(Content::Solid)
    } else if begins("clip") {
        Texture::Brush(Content::Clip)
    } else if begins("noclip nullnoclip") {
        // Solid in hull 0 alone, which `Content` cannot express.
        Texture::Brush(Content::Nothing)
    } else if begins("origin boundingbox") {
        Texture::Place
    } else if begins("! * @ translucent splitface") || animated_liquid(&name) {
        Texture::Air
    } else if begins("solidhint bevelhint bevel null sky env_sky") {
        Texture::Null
    } else if begins("hint") {
        Texture::Hint
    } else {
        Texture::Stone
    }
}

fn animated_liquid(name: &str) -> bool {
    let mut rest = name.chars();
    rest.next();
    rest.as_str().starts_with("!lava") || rest.as_str().starts_with("!slime")
}

pub(super) fn content(brush: &Brush) -> Content {
    let textures: Vec<Texture> = brush.faces.iter().map(|face| texture(&face.texture)).collect();
    let has = |wanted: Texture| textures.contains(&wanted);
    let alone = textures.iter().find_map(|texture| match texture {
        Texture::Brush(content) => Some(*content),
        _ => None,
    });
    if let Some(content) = alone {
        content
    } else if has(Texture::Stone) || textures.is_empty() {
        Content::Solid
    } else if has(Texture::Air) || has(Texture::Place) {
        Content::Nothing
    } else if has(Texture::Null) {
        Content::Solid
    } else {
        Content::Nothing
    }
}
