use crate::common::labelled;

labelled! {
    /// A limit that was hit. Its name says what there was too much of.
    pub(crate) enum Limit {
        /// The address is banned.
        Ban = "ban",
        /// Too many connections are open.
        Connections = "connections",
        /// Handshakes of one address.
        Handshakes = "handshakes",
        /// Answers to connection attempts.
        Answers = "answers",
        /// Connections that are not in the match: the oldest one was closed.
        Unfinished = "unfinished",
        /// Players of one address.
        Players = "players",
        /// Spectators of one address.
        Spectators = "spectators",
        /// Joins of one address.
        Joins = "joins",
        /// Wrong passwords of one address.
        Guesses = "guesses",
        /// Bytes of control streams from one address.
        Control = "control",
        /// Lines of one client.
        Lines = "lines",
        /// Chat of one address.
        Chat = "chat",
        /// Chat of the whole match.
        MatchChat = "match_chat",
        /// Chat that one listener's budget could not carry.
        ListenerChat = "listener_chat",
        /// Mismatch reports of one client.
        Mismatches = "mismatches",
        /// QUIC datagrams of one client.
        Datagrams = "datagrams",
        /// Stream frames of one client.
        StreamFrames = "stream_frames",
        /// QUIC frames of one client about ids, paths and streams.
        ControlFrames = "control_frames",
        /// UDP datagrams of one client.
        Packets = "packets",
        /// Bytes of one client.
        Bytes = "bytes",
        /// The origin of a page that wants to enter a match.
        Origin = "origin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_listed_in_their_order_with_labels_of_their_own() {
        let mut labels = std::collections::BTreeSet::new();
        for (index, limit) in Limit::ALL.into_iter().enumerate() {
            assert_eq!(limit as usize, index, "{limit:?}");
            assert!(labels.insert(limit.label()));
        }
    }
}
