//! The range coder alone: a decoder accepts exactly the bytes that an encoder writes for
//! the decoded values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use obsp_proto::range::{Coder, Decoder, Encoder, Number};

const PROBABILITIES: usize = 24;
const NUMBER: Number = Number { at: 8, width: 16 };

/// Codes values of the kinds that `script` lists.
fn pass(coder: &mut impl Coder, script: &[u8], values: &mut Vec<u32>) {
    for (index, kind) in script.iter().enumerate() {
        if index == values.len() {
            values.push(0);
        }
        let value = values[index];
        values[index] = match kind % 4 {
            0 => coder.bit(usize::from(kind >> 2) % 8, value != 0).into(),
            1 => coder.raw(value, u32::from(kind >> 2) % 33),
            2 => coder.number(NUMBER, value),
            _ => coder.signed(NUMBER, value as i32) as u32,
        };
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&length, rest)) = bytes.split_first() else { return };
    let (script, coded) = rest.split_at(usize::from(length).min(rest.len()));
    let priors = [128, 200, 10, 250, 1, 255, 60, 128].repeat(PROBABILITIES / 8);
    let priors: [u8; PROBABILITIES] = priors.try_into().unwrap();
    let mut values = Vec::new();
    let mut decoder = Decoder::new(&priors, coded);
    pass(&mut decoder, script, &mut values);
    let accepted = decoder.finish().is_ok();
    let mut encoder = Encoder::new(&priors, Vec::new());
    pass(&mut encoder, script, &mut values);
    let written = encoder.finish();
    assert!(!accepted || written == coded);
    let mut read = Vec::new();
    let mut decoder = Decoder::new(&priors, &written);
    pass(&mut decoder, script, &mut read);
    assert_eq!((read, decoder.finish()), (values, Ok(())));
});
