use super::answer::{MAX_TEXT, MOST_PLAYERS, PlayerInfo, ServerInfo};
use super::split::LONGEST;
use super::*;

fn player(number: usize) -> PlayerInfo {
    // Twenty characters of three bytes, and two digits.
    let name = format!("{}{:02}", "\u{6f22}".repeat(20), number % 100);
    PlayerInfo { name, score: number as i32 - 5, seconds: number as f32 / 2.0 }
}

fn split(answer: Vec<u8>) -> Vec<Vec<u8>> {
    let packets = split::split(answer, u16::MAX);
    assert!(packets.iter().all(|packet| packet.len() <= LONGEST));
    packets
}

/// Symptom: of 28 players with long names, 16 were listed.
#[test]
fn query_player_list_cut() {
    for count in [0, 1, 16, 17, 28, 32, MOST_PLAYERS, MOST_PLAYERS + 1] {
        let all: Vec<_> = (0..count).map(player).collect();
        let packets = split(answer::players(&all));
        let told = reader::players(&reader::join(&packets));
        // A byte counts the players.
        let most = all.iter().take(MOST_PLAYERS);
        let expected: Vec<_> =
            most.map(|player| (player.name.clone(), player.score, player.seconds)).collect();
        assert_eq!(told, expected, "{count} players");
    }
    // The longest names, in the greatest number: a byte counts the packets, too.
    let longest = PlayerInfo { name: "\u{10ffff}".repeat(24), score: -1, seconds: 0.0 };
    let packets = split(answer::players(&vec![longest; 300]));
    assert!(packets.len() < 30, "{}", packets.len());
    assert_eq!(reader::players(&reader::join(&packets)).len(), MOST_PLAYERS);
}

#[test]
fn an_answer_is_split_one_byte_beyond_a_packet() {
    for (length, count) in [(LONGEST, 1), (LONGEST + 1, 2)] {
        let answer = [&[0xff; 4][..], &vec![7; length - 4]].concat();
        let packets = split(answer.clone());
        assert_eq!(packets.len(), count);
        assert_eq!(reader::join(&packets), answer[4..]);
        // The order in which packets arrive does not matter.
        let turned: Vec<_> = packets.into_iter().rev().collect();
        assert_eq!(reader::join(&turned), answer[4..]);
    }
}

#[test]
fn texts_are_cut_where_a_character_ends_and_hold_no_zero() {
    let long = "\u{6f22}".repeat(500);
    let server = ServerInfo {
        name: "a\0b".to_owned(),
        map: long.clone(),
        game: long.clone(),
        players: 255,
        max_players: 254,
        private: true,
        version: "1".to_owned(),
        port: 4433,
        tags: "60hz,tokens".to_owned(),
    };
    let packets = split(answer::info(&server));
    assert_eq!(packets.len(), 1, "lists expect the first answer in one packet");
    let info = reader::info(&reader::join(&packets));
    let cut = "\u{6f22}".repeat(MAX_TEXT / 3);
    assert_eq!(info.name, "ab");
    assert_eq!((&info.map, &info.game), (&cut, &cut));
    assert_eq!((info.players, info.kind), ([255, 254, 0], [b'd', b'l', 1, 0]));
    assert_eq!((info.port, info.tags.as_deref()), (Some(4433), Some("60hz,tokens")));
}

#[test]
fn rules_are_told_and_bounded() {
    let rule = |number: usize| (format!("rule{number}"), "\u{6f22}".repeat(40));
    for (count, told) in [(0, 0), (30, 30), (256, 256), (257, 256)] {
        let all: Vec<_> = (0..count).map(rule).collect();
        let packets = split(answer::rules(&all));
        assert_eq!(reader::rules(&reader::join(&packets)), all[..told]);
    }
    // The longest answer fits into as many packets as a byte can count.
    let widest = ("x".repeat(MAX_TEXT), "x".repeat(MAX_TEXT));
    let packets = split(answer::rules(&vec![widest; 300]));
    assert_eq!(reader::rules(&reader::join(&packets)).len(), 256);
}

#[test]
fn a_challenge_is_never_longer_than_the_query() {
    let mut shortest = [&[0xff; 4][..], b"U", &[0xff; 4]].concat();
    assert!(Query::parse(&shortest).is_some());
    assert!(answer::challenge(u32::MAX).len() <= shortest.len());
    shortest.pop();
    assert_eq!(Query::parse(&shortest), None);
}

/// Symptom: `--listen 0.0.0.0:P --query [::]:P` ended with the advice to stop another program,
/// although the game itself had taken the port.
#[test]
fn queries_of_ipv6_stand_beside_a_game_of_ipv4() {
    let game = bind::udp("0.0.0.0:0".parse().unwrap(), &[]).unwrap();
    let game_at = game.local_addr().unwrap().as_socket().unwrap();
    let query = SocketAddr::from((std::net::Ipv6Addr::UNSPECIFIED, game_at.port()));
    if bind::udp("[::1]:0".parse().unwrap(), &[]).is_err() {
        return eprintln!("skipped: no IPv6 here");
    }
    let options = QueryOptions { query: vec![query] };
    let ports = QueryPorts::bind(&options, &[game_at], Vec::new()).unwrap();
    assert_eq!(ports.addresses().unwrap(), [query]);
}

#[test]
fn a_port_of_the_game_needs_no_second_socket() {
    let covered =
        |query: &str, listen: &str| is_covered(query.parse().unwrap(), &[listen.parse().unwrap()]);
    for (query, listen) in [
        ("127.0.0.1:5", "127.0.0.1:5"),
        ("192.0.2.1:5", "0.0.0.0:5"),
        ("0.0.0.0:5", "0.0.0.0:5"),
        ("0.0.0.0:5", "[::]:5"),
        ("[::1]:5", "[::]:5"),
    ] {
        assert!(covered(query, listen), "{query} {listen}");
    }
    for (query, listen) in [
        ("127.0.0.1:5", "127.0.0.1:6"),
        ("127.0.0.1:5", "127.0.0.2:5"),
        ("0.0.0.0:5", "127.0.0.1:5"),
        ("[::1]:5", "0.0.0.0:5"),
        ("127.0.0.1:0", "127.0.0.1:0"),
    ] {
        assert!(!covered(query, listen), "{query} {listen}");
    }
}
