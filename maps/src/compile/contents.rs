//! The contents of a brush, by the rules of the map's form.
//!
//! Each form has a file with its table, written from that form's own documentation: `quake`,
//! `quake2`, `half_life` and `quake3`. A table says what a face means; the file also says
//! which face decides where they differ. Names are compared without regard to case, and a
//! backslash is a slash.
//!
//! A name that no table knows is solid. A name that a table knows, and that has more of a meaning there
//! than this world can give it (nobody swims, bots have no clips of their own), is told by one
//! [`Unsupported`] for each name.

mod half_life;
mod quake;
mod quake2;
mod quake3;
#[cfg(test)]
mod tests;

use super::error::Unsupported;
use super::game_form::GameForm;
use super::source::map::{SourceBrush, SourceEntity, SourceFace};

/// The contents of a brush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// Solid for every size.
    Solid,
    /// Solid for boxes and bodies, not for the bare point: Quake's clip brushes,
    /// which are in the hulls of boxes and not in that of points.
    Clip,
    /// Part of the static world but not solid: a liquid, a hint. Or no part of
    /// anything: an origin brush.
    Passable,
    /// Not part of the static world; kept with its entity.
    Entity,
}

/// The contents that a table gives a brush which is part of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Solid,
    Clip,
    Passable,
    /// It tells the compiler a place, and is removed from whatever entity it belongs to.
    Removed,
}

/// The kind of entity that a brush belongs to. The classes that begin with `func_detail`
/// are read by compilers: detail, wall and fence are solid; illusionary ones are only
/// drawn, like a `func_illusionary`. (Of the 2,182 brushes of `lqdm3` with these classes,
/// 2,162 are solid, 19 illusionary and one is water.)
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The world itself: worldspawn, and the groups that editors and compilers
    /// dissolve into it.
    World,
    /// A brush model that never moves and is always there.
    Wall,
    /// Triggers, movers, illusions.
    Other,
}

fn owner(form: GameForm, entity: &SourceEntity) -> Owner {
    match entity.get("classname").to_ascii_lowercase().as_str() {
        "worldspawn" | "func_group" | "func_detail" | "func_detail_wall" | "func_detail_fence" => {
            Owner::World
        }
        // One that is triggered comes and goes.
        "func_wall" if form == GameForm::Quake2 && quake2::is_triggered(entity) => Owner::Other,
        "func_wall" => Owner::Wall,
        "func_static" if form == GameForm::Quake3 => Owner::Wall,
        _ => Owner::Other,
    }
}

/// The part of a name's or a flag's meaning that is not done, as a sentence.
type Lack = &'static str;

const LIQUID: Lack = "a liquid is empty space here, in which nobody swims and which hurts nobody";
const CURRENT: Lack = "no current moves anybody here";
const BOTS: Lack =
    "it is for bots and monsters only, which have no rules of their own here: it is left out";
const LADDER: Lack = "nobody climbs ladders here";
const SLICK: Lack = "no surface is slick here";
const PORTAL: Lack = "areas are not divided here: it is always open";
const ORIGIN: Lack = "an origin brush belongs to an entity that moves: in the world it is left out";

/// The answer of a table about a brush.
struct Verdict {
    role: Role,
    /// Names and flags as they are told, each with what is lacking.
    lacks: Vec<(String, Lack)>,
}

/// The contents of `brush` of `entity`, and what of its meaning is not supported, each once.
pub(super) fn contents(
    form: GameForm,
    entity: &SourceEntity,
    brush: &SourceBrush,
) -> (Contents, Vec<Unsupported>) {
    let owner = owner(form, entity);
    let decide = match form {
        GameForm::Quake => quake::verdict,
        GameForm::Quake2 => quake2::verdict,
        GameForm::HalfLife => half_life::verdict,
        GameForm::Quake3 => quake3::verdict,
    };
    let Verdict { role, lacks } = decide(owner, &brush.faces);
    let contents = match (role, owner) {
        (Role::Removed, _) => Contents::Passable,
        // Triggers and movers are the business of the game.
        (_, Owner::Other) => return (Contents::Entity, Vec::new()),
        (Role::Solid, _) => Contents::Solid,
        (Role::Clip, _) => Contents::Clip,
        (Role::Passable, _) => Contents::Passable,
    };
    if owner == Owner::Other {
        return (contents, Vec::new());
    }
    let mut unsupported: Vec<Unsupported> = Vec::new();
    for (name, lack) in lacks {
        if !unsupported.iter().any(|known| known.name == name) {
            unsupported.push(Unsupported { name, lack, line: brush.line, brushes: 1 });
        }
    }
    (contents, unsupported)
}

/// A name as it is compared.
pub(super) fn folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('\\', "/")
}

/// The names of the faces, as they are compared.
fn names(faces: &[SourceFace]) -> impl Iterator<Item = String> {
    faces.iter().map(|face| folded(&face.texture.name))
}
