//! The range coder, and the probabilities that it starts from.

use obsp_proto::range::{Coder, Decoder, Encoder, Number};
use obsp_proto::snapshot::PRIORS;

use super::{check, printed};

#[test]
fn range_coding() {
    let mut encoder = Encoder::new(&[128, 200, 10, 250, 128, 60], vec![]);
    for bit in [true, false, true, true] {
        encoder.bit(0, bit);
        encoder.bit(1, !bit);
    }
    let number = Number { at: 2, width: 4 };
    for value in [0, 1, 2, 15] {
        encoder.number(number, value);
    }
    for value in [-1, 7, 0] {
        encoder.signed(number, value);
    }
    encoder.raw(0x1234_5678, 32);
    encoder.raw(5, 3);
    check("range-coding", &encoder.finish());
    let bytes = printed("range-coding");
    let mut decoder = Decoder::new(&[128, 200, 10, 250, 128, 60], &bytes);
    for bit in [true, false, true, true] {
        assert_eq!((decoder.bit(0, false), decoder.bit(1, false)), (bit, !bit));
    }
    assert_eq!([0; 4].map(|_| decoder.number(number, 0)), [0, 1, 2, 15]);
    assert_eq!([0; 3].map(|_| decoder.signed(number, 0)), [-1, 7, 0]);
    assert_eq!((decoder.raw(0, 32), decoder.raw(0, 3)), (0x1234_5678, 5));
    assert_eq!(decoder.finish(), Ok(()));
}

#[test]
fn the_table_of_probabilities() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/PROTOCOL.md");
    let text = std::fs::read_to_string(path).unwrap();
    let block = text.split("```probabilities\n").nth(1).expect("a table of probabilities");
    let printed: Vec<u8> =
        block.split("```").next().unwrap().split_whitespace().map(|n| n.parse().unwrap()).collect();
    let rows: Vec<String> = PRIORS
        .chunks(16)
        .map(|row| row.iter().map(|n| format!("{n:3}")).collect::<Vec<_>>().join(" "))
        .collect();
    assert!(printed == PRIORS, "the table is now\n{}", rows.join("\n"));
}
