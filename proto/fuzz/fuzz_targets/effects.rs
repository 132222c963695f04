//! Datagrams of effects: every datagram that decodes is encoded to equal bytes again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use obsp_proto::Tick;
use obsp_proto::effects::EffectsDatagram;
use obsp_proto::quantise::WorldBounds;

fuzz_target!(|bytes: &[u8]| {
    let near = Tick(100_000);
    let bounds = WorldBounds::new([-512, -512, -256], [15, 15, 14]).unwrap();
    if let Ok(datagram) = EffectsDatagram::decode(bytes, &bounds, near) {
        assert_eq!(datagram.encode(&bounds), bytes);
    }
});
