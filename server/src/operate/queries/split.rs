//! Answers that are longer than a packet, split as Source does it. A header tells which answer a
//! packet belongs to, how many packets there are, and which of them it is.

/// The first bytes of a packet of a split answer.
const SPLIT: [u8; 4] = [0xfe, 0xff, 0xff, 0xff];

/// Bytes of the longest packet: every path that carries a match carries packets of this length.
/// Source's own limit is 1248. Operators may lower that, and some IPv6 tunnels do not carry such
/// packets.
pub(super) const LONGEST: usize = 1200;

/// Bytes of the header of a packet of a split answer.
const HEADER: usize = 12;

/// Maximum number of packets of an answer, because a byte counts them. No answer has half as many.
const MOST: usize = u8::MAX as usize;

/// The packets of an answer. `id` must differ from the ids of other answers to the same browser
/// within a few seconds.
pub(super) fn split(answer: Vec<u8>, id: u16) -> Vec<Vec<u8>> {
    if answer.len() <= LONGEST {
        return vec![answer];
    }
    // The highest bit of the 32 says that an answer is compressed. python-a2s reads the highest of
    // the lower 16 bits instead, so neither bit is set.
    let id = u32::from(id & 0x7fff).to_le_bytes();
    let parts: Vec<_> = answer.chunks(LONGEST - HEADER).take(MOST).collect();
    let total = parts.len() as u8;
    let size = (LONGEST as u16).to_le_bytes();
    let packet =
        |(number, part): (u8, &&[u8])| [&SPLIT[..], &id, &[total, number], &size, part].concat();
    (0..total).zip(&parts).map(packet).collect()
}
