//! Quake II: the masks of its game code. A player is stopped by solid, window and player clip
//! (`MASK_PLAYERSOLID`), a shot by solid and window (`MASK_SHOT`).

use super::Content;
use crate::map_text::{Brush, FaceText};

/// The positions of the contents' bits, as the game's header lists them.
mod bit {
    pub(super) const SOLID: u32 = 0;
    pub(super) const WINDOW: u32 = 1;
    pub(super) const LAVA: u32 = 3;
    pub(super) const SLIME: u32 = 4;
    pub(super) const WATER: u32 = 5;
    pub(super) const MIST: u32 = 6;
    pub(super) const AREA_PORTAL: u32 = 15;
    pub(super) const PLAYER_CLIP: u32 = 16;
    pub(super) const MONSTER_CLIP: u32 = 17;
    pub(super) const ORIGIN: u32 = 24;
    /// Contents that make a brush not solid by default: window, aux, liquids and mist, then the
    /// invisible ones.
    pub(super) const NOT_SOLID: [u32; 10] =
        [WINDOW, 2, LAVA, SLIME, WATER, MIST, AREA_PORTAL, PLAYER_CLIP, MONSTER_CLIP, ORIGIN];
}

pub(super) fn content(brush: &Brush) -> Content {
    // Hint and skip faces have no contents. The first face that has some decides.
    let Some(bits) = brush.faces.iter().find_map(contents) else { return Content::Nothing };
    let has = |bit: u32| bits >> bit & 1 == 1;
    let default = !bit::NOT_SOLID.into_iter().any(has);
    let stops_shots = has(bit::SOLID) || has(bit::WINDOW) || default;
    match (stops_shots, has(bit::PLAYER_CLIP)) {
        // An origin brush is removed before the world is built.
        _ if has(bit::ORIGIN) => Content::Nothing,
        (true, _) => Content::Solid,
        (false, true) => Content::Clip,
        (false, false) => Content::Nothing,
    }
}

/// The contents of a face; `None` for a hint or skip face.
fn contents(face: &FaceText) -> Option<u32> {
    let number = |i: usize| face.numbers.get(i).map_or(0, |&n| n as u32);
    let flagged = face.numbers.len() > 1 && (number(0), number(1)) != (0, 0);
    if flagged {
        // Bits 8 and 9 of the surface flags are hint and skip.
        return (number(1) & 0x300 == 0).then_some(number(0));
    }
    by_name(&face.texture.to_ascii_lowercase().replace('\\', "/"))
}

/// The contents that the game's texture of this name has in its file.
fn by_name(path: &str) -> Option<u32> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.trim_end_matches(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '_']);
    let of = |bits: &[u32]| Some(bits.iter().fold(0, |sum, bit| sum | 1 << bit));
    match name {
        "hint" | "skip" | "hintskip" => return None,
        "clip" => return of(&[bit::PLAYER_CLIP, bit::MONSTER_CLIP]),
        "playerclip" => return of(&[bit::PLAYER_CLIP]),
        "clip_mon" | "monsterclip" => return of(&[bit::MONSTER_CLIP]),
        "origin" => return of(&[bit::ORIGIN]),
        "mist" => return of(&[bit::MIST]),
        "areaportal" => return of(&[bit::AREA_PORTAL]),
        _ => (),
    }
    match stem {
        "water" | "brwater" | "bluwter" => of(&[bit::WATER]),
        "slime" | "brslime" => of(&[bit::SLIME]),
        "lava" | "brlava" => of(&[bit::LAVA]),
        _ => Some(0),
    }
}
