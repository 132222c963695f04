//! Effects: rays, explosions and the like, which are shown for a moment. They are neither entities
//! nor events of the match.

use obsp_proto::effects::Effect;

use crate::events::OBSP_NO_SLOT;
use crate::failure::guard;
use crate::handle::ObspClient;
use crate::raw;

/// The kind of an effect.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObspEffectKind {
    /// `entity` shot a ray from `from` to `to`.
    Ray,
    /// Something exploded at `from`, with `radius`.
    Blast,
    /// `other` took `damage` health from `entity`.
    Hurt,
    /// The body `entity` was taken out of an overlap and put elsewhere.
    Replaced,
}

/// An effect. It names players and bodies by their slots in its tick.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ObspEffect {
    /// The kind.
    pub kind: ObspEffectKind,
    /// The first tick that shows the effect.
    pub tick: u32,
    /// The slot of the player or body; `OBSP_NO_SLOT` if the kind has none.
    pub entity: u16,
    /// The slot of the attacker, who may have left; `OBSP_NO_SLOT` if the kind has none.
    pub other: u16,
    /// Health lost.
    pub damage: u16,
    /// Where a ray begins, or the centre of an explosion, in units.
    pub from: [f64; 3],
    /// Where a ray ends, in units.
    pub to: [f64; 3],
    /// The radius of an explosion, in units.
    pub radius: f64,
}

/// Takes the next effect; false if there is none. If effects are not taken, the oldest are dropped.
/// An effect may come some ticks before the moment that is shown.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obsp_client_next_effect(
    client: *mut ObspClient,
    effect: *mut ObspEffect,
) -> bool {
    guard(false, || {
        // SAFETY: the contract of the header.
        let client = unsafe { raw::client(client)? };
        let Some((tick, next)) = client.client.next_effect() else { return Ok(false) };
        // SAFETY: the contract of the header.
        unsafe { raw::put(effect, described(tick.0, next))? };
        Ok(true)
    })
}

fn described(tick: u32, effect: Effect) -> ObspEffect {
    let none = ObspEffect {
        kind: ObspEffectKind::Replaced,
        tick,
        entity: OBSP_NO_SLOT,
        other: OBSP_NO_SLOT,
        damage: 0,
        from: [0.0; 3],
        to: [0.0; 3],
        radius: 0.0,
    };
    match effect {
        Effect::Ray { player, from, to } => ObspEffect {
            kind: ObspEffectKind::Ray,
            entity: player,
            from: from.to_array(),
            to: to.to_array(),
            ..none
        },
        Effect::Blast { at, radius } => {
            ObspEffect { kind: ObspEffectKind::Blast, from: at.to_array(), radius, ..none }
        }
        Effect::Hurt { player, by, damage } => {
            ObspEffect { kind: ObspEffectKind::Hurt, entity: player, other: by, damage, ..none }
        }
        Effect::Replaced { entity } => ObspEffect { entity, ..none },
    }
}
