//! The datagram of effects.

use glam::DVec3;
use obsp_proto::Tick;
use obsp_proto::effects::{Effect, EffectsDatagram, TickEffects};

use super::{bounds, check, printed};

#[test]
fn effects() {
    let (from, to) = (DVec3::new(0.0, 113.0, 25.25), DVec3::new(300.5, -512.0, -256.0));
    let ray = Effect::Ray { player: 3, from, to };
    let hurt = Effect::Hurt { player: 2, by: 3, damage: 25 };
    let blast = Effect::Blast { at: DVec3::new(-508.875, -505.75, -246.625), radius: 120.0 };
    let replaced = Effect::Replaced { entity: 17 };
    let ticks = vec![
        TickEffects { tick: Tick(70_001), effects: vec![ray, hurt] },
        TickEffects { tick: Tick(70_004), effects: vec![blast, replaced] },
    ];
    let datagram = EffectsDatagram::new(ticks).unwrap();
    check("effects", &datagram.encode(&bounds()));
    let received = EffectsDatagram::decode(&printed("effects"), &bounds(), Tick(70_000));
    assert_eq!(received, Ok(datagram));
}
