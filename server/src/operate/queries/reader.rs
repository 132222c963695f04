//! A reader of answers, written from Valve's page "Server queries" alone. It shares no code with
//! the module that it checks.

use std::collections::BTreeMap;

/// Joins the packets of an answer. A packet begins with `(long) header`: -1 for a whole answer, and
/// -2 for a part of one.
pub(super) fn join(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut parts = BTreeMap::new();
    let mut first = None;
    for packet in packets {
        let mut bytes = Bytes(packet);
        match bytes.long() {
            -1 => {
                assert_eq!(packets.len(), 1);
                return bytes.0.to_vec();
            }
            -2 => {
                let id = bytes.long();
                assert!(id >= 0, "the most significant bit says that the answer is compressed");
                let (total, number, size) = (bytes.byte(), bytes.byte(), bytes.short());
                assert!(number < total && packet.len() <= size as usize, "{number} of {total}");
                assert_eq!(*first.get_or_insert((id, total)), (id, total));
                assert!(parts.insert(number, bytes.0.to_vec()).is_none(), "{number} came twice");
            }
            header => panic!("{header}"),
        }
    }
    assert_eq!(first.map(|(_, total)| usize::from(total)), Some(parts.len()));
    let whole = parts.into_values().flatten().collect::<Vec<_>>();
    // The joined answer has the header of a whole one.
    let mut bytes = Bytes(&whole);
    assert_eq!(bytes.long(), -1);
    bytes.0.to_vec()
}

/// The players in an answer to `A2S_PLAYER`: name, score, seconds.
pub(super) fn players(answer: &[u8]) -> Vec<(String, i32, f32)> {
    let mut bytes = Bytes(answer);
    assert_eq!(bytes.byte(), 0x44);
    let players = (0..bytes.byte())
        .map(|_| {
            bytes.byte();
            (bytes.string(), bytes.long(), bytes.float())
        })
        .collect();
    assert!(bytes.0.is_empty());
    players
}

/// The rules in an answer to `A2S_RULES`.
pub(super) fn rules(answer: &[u8]) -> Vec<(String, String)> {
    let mut bytes = Bytes(answer);
    assert_eq!(bytes.byte(), 0x45);
    let rules = (0..bytes.short()).map(|_| (bytes.string(), bytes.string())).collect();
    assert!(bytes.0.is_empty());
    rules
}

/// The content of an answer to `A2S_INFO`, with the port and the tags that may follow it.
#[derive(Debug, PartialEq)]
pub(super) struct Info {
    pub(super) name: String,
    pub(super) map: String,
    pub(super) game: String,
    pub(super) players: [u8; 3],
    pub(super) kind: [u8; 4],
    pub(super) version: String,
    pub(super) port: Option<u16>,
    pub(super) tags: Option<String>,
}

pub(super) fn info(answer: &[u8]) -> Info {
    let mut bytes = Bytes(answer);
    assert_eq!((bytes.byte(), bytes.byte()), (0x49, 17));
    let (name, map, _folder, game) =
        (bytes.string(), bytes.string(), bytes.string(), bytes.string());
    assert_eq!(bytes.short(), 0, "no id of a Steam application");
    let players = [bytes.byte(), bytes.byte(), bytes.byte()];
    let kind = [bytes.byte(), bytes.byte(), bytes.byte(), bytes.byte()];
    let version = bytes.string();
    let flags = bytes.byte();
    assert_eq!(flags & !0xa0, 0, "neither a Steam id nor a game id nor SourceTV");
    let port = (flags & 0x80 > 0).then(|| bytes.short() as u16);
    let tags = (flags & 0x20 > 0).then(|| bytes.string());
    assert!(bytes.0.is_empty());
    Info { name, map, game, players, kind, version, port, tags }
}

/// Bytes that are read from the front, by the table of data types on Valve's page. All numbers
/// begin with the lowest byte.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (front, rest) = self.0.split_first_chunk::<N>().expect("the answer is too short");
        self.0 = rest;
        *front
    }

    fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    fn short(&mut self) -> i16 {
        i16::from_le_bytes(self.take())
    }

    fn long(&mut self) -> i32 {
        i32::from_le_bytes(self.take())
    }

    fn float(&mut self) -> f32 {
        f32::from_le_bytes(self.take())
    }

    fn string(&mut self) -> String {
        let length = self.0.iter().position(|&byte| byte == 0).expect("a zero ends the text");
        let text = String::from_utf8(self.0[..length].to_vec()).expect("texts are UTF-8");
        self.0 = &self.0[length + 1..];
        text
    }
}
