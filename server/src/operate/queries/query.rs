//! Reads the datagrams of server browsers.

/// The first bytes of a packet that is not split.
pub(super) const SINGLE: [u8; 4] = [0xff; 4];

/// The text of an `A2S_INFO` query after its letter. A challenge may follow.
const INFO_TEXT: &[u8] = b"Source Engine Query\0";

/// The part of the server that a query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// `A2S_INFO`: the server's name, map, game and number of players.
    Info,
    /// `A2S_PLAYER`: every player.
    Players,
    /// `A2S_RULES`: names and values of the rules.
    Rules,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) subject: Subject,
    /// The challenge by which the sender proves its address, if there is one. A sender that asks
    /// for a challenge sends `u32::MAX`, which Valve writes as -1.
    pub(super) challenge: Option<u32>,
}

impl Query {
    /// Reads a datagram; `None` if it is not a query. Zeros may follow the query.
    pub(super) fn parse(datagram: &[u8]) -> Option<Self> {
        let (&letter, rest) = datagram.strip_prefix(&SINGLE)?.split_first()?;
        let (subject, rest) = match letter {
            b'T' => (Subject::Info, rest.strip_prefix(INFO_TEXT)?),
            b'U' => (Subject::Players, rest),
            b'V' => (Subject::Rules, rest),
            _ => return None,
        };
        let challenge = challenge(rest)?;
        // Only `A2S_INFO` may come without a challenge. The other queries are shorter than the
        // answer that contains a challenge.
        (challenge.is_some() || subject == Subject::Info).then_some(Self { subject, challenge })
    }
}

/// The challenge in the rest of a query. It is at the beginning, or at the end if a client pads its
/// query first. All other bytes must be zeros; otherwise the result is `None`.
fn challenge(rest: &[u8]) -> Option<Option<u32>> {
    let is_empty = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    match (rest.split_first_chunk(), rest.split_last_chunk()) {
        (Some((first, behind)), _) if is_empty(behind) => Some(Some(u32::from_le_bytes(*first))),
        (_, Some((before, last))) if is_empty(before) => Some(Some(u32::from_le_bytes(*last))),
        (None, _) if is_empty(rest) => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(head: &[u8], tail: &[u8]) -> Option<Query> {
        Query::parse(&[&SINGLE[..], head, tail].concat())
    }

    #[test]
    fn only_queries_are_read() {
        let info = [b"T", INFO_TEXT].concat();
        let of = |subject, challenge| Some(Query { subject, challenge });
        assert_eq!(with(&info, &[]), of(Subject::Info, None));
        assert_eq!(with(&info, &[1, 2, 0, 0]), of(Subject::Info, Some(513)));
        assert_eq!(with(b"U", &[255; 4]), of(Subject::Players, Some(u32::MAX)));
        assert_eq!(with(b"V", &[1, 2, 0, 0]), of(Subject::Rules, Some(513)));
        for (head, tail) in [
            (&b""[..], &[][..]),
            (b"T", &[]),
            (b"TSource Engine Query", &[]),
            (&info, &[1, 2]),
            (&info, &[1, 2, 3, 4, 5]),
            (&info, &[1, 0, 0, 0, 0, 0, 0, 0, 5]),
            (b"U", &[]),
            (b"U", &[0; 3]),
            (b"V", &[1, 2, 3]),
            (b"W", &[255; 4]),
        ] {
            assert_eq!(with(head, tail), None, "{head:?} {tail:?}");
        }
        assert_eq!(Query::parse(&info), None);
        assert_eq!(Query::parse(&SINGLE[..3]), None);
    }

    /// Symptom: an A2S_INFO of 1,200 bytes was not answered.
    #[test]
    fn zeros_may_fill_a_query_up() {
        let info = [b"T", INFO_TEXT].concat();
        for zeros in [1, 3, 4, 1175, 1200] {
            let filled = vec![0; zeros];
            let read = with(&info, &filled).unwrap();
            assert_eq!(read.subject, Subject::Info, "{zeros}");
            assert!(matches!(read.challenge, None | Some(0)), "{zeros}");
            for proof in [[9, 8, 7, 6], [0, 8, 7, 0]] {
                // With fewer zeros, padding and challenge cannot be distinguished if the challenge
                // begins with a zero.
                if proof[0] != 0 || zeros >= 4 {
                    for tail in [[&proof[..], &filled].concat(), [&filled, &proof[..]].concat()] {
                        let challenge = with(&info, &tail).unwrap().challenge;
                        assert_eq!(challenge, Some(u32::from_le_bytes(proof)), "{tail:?}");
                    }
                }
            }
            let rules = with(b"V", &[&[9, 8, 7, 6][..], &filled].concat()).unwrap();
            assert_eq!(rules.challenge, Some(0x0607_0809));
        }
    }
}
