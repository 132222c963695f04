//! Browsers that abuse the header compression of HTTP/3 (QPACK, RFC 9204). The server has no
//! dynamic table, so instructions for one must cost next to nothing.

use std::sync::Arc;

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, Endpoint, RecvStream, SendStream};
use tests::raw_quic::credulous;
use web_transport_quinn::proto::Settings;

use super::*;

/// Types of HTTP/3 streams: the instructions of an encoder and of a decoder.
const ENCODER: u8 = 0x02;
const DECODER: u8 = 0x03;

/// The type of an HTTP/3 frame with header fields.
const HEADERS: u8 = 0x01;

/// Limit of the bytes that the server takes from one connection whose streams it does not read. The
/// window is 16 KiB, and as many bytes may come while they wait for the handshake.
const TAKEN: usize = 64 << 10;

const REFUSED: &str = "game_refusals_total{reason=\"handshake_failed\"}";

/// A browser's connection. Its streams are kept open, because their end would end the connection.
struct Browser {
    connection: Connection,
    streams: Vec<SendStream>,
}

impl Browser {
    async fn come(running: &Server) -> Self {
        let tls = QuicClientConfig::try_from(credulous(b"h3")).unwrap();
        let config = ClientConfig::new(Arc::new(tls));
        let endpoint = Endpoint::client(([127, 0, 0, 1], 0).into()).unwrap();
        let connecting = endpoint.connect_with(config, running.udp(), "localhost").unwrap();
        let connection = timeout(HANG, connecting).await.unwrap().unwrap();
        let mut settings = Settings::default();
        settings.enable_webtransport(1);
        let mut control = connection.open_uni().await.unwrap();
        settings.write(&mut control).await.unwrap();
        Self { connection, streams: vec![control] }
    }

    /// Opens a stream of this type and sends `instructions` on it, over and over, until the server
    /// takes no more. Returns the number of bytes that it took.
    async fn instruct(&mut self, kind: u8, instructions: &[u8]) -> usize {
        let mut stream = self.connection.open_uni().await.unwrap();
        stream.write_all(&[kind]).await.unwrap();
        let (begin, mut taken) = (Instant::now(), 0);
        let patience = Duration::from_millis(500);
        while let Ok(written) = timeout(patience, stream.write(instructions)).await {
            let Ok(length) = written else { break };
            taken += length;
            if begin.elapsed() > HANG {
                break;
            }
        }
        self.streams.push(stream);
        taken
    }

    /// Requests a session with this field section. Returns the stream of the answer.
    async fn request(&mut self, section: &[u8]) -> RecvStream {
        let (mut send, receive) = self.connection.open_bi().await.unwrap();
        let mut frame = vec![HEADERS];
        // A length of four bytes.
        frame.extend((section.len() as u32 | 0x8000_0000).to_be_bytes());
        frame.extend_from_slice(section);
        // The server may close the connection before it has read the whole frame.
        let _ = timeout(HANG, send.write_all(&frame)).await.expect("the server takes or refuses");
        self.streams.push(send);
        receive
    }
}

/// An instruction that inserts a field into the dynamic table: a literal name, and a value of 100
/// bytes.
fn insertion() -> Vec<u8> {
    [&[0x41, b'x', 100][..], &[b'v'; 100]].concat()
}

#[tokio::test]
async fn instructions_for_a_dynamic_table_are_not_taken_without_end() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    let mut browsers = Vec::new();
    let mut most = 0;
    for count in 0..8 {
        let mut browser = Browser::come(&running).await;
        // A capacity of 4096 bytes, then fields; or acknowledgements of fields.
        let (kind, instructions) = match count % 2 {
            0 => (ENCODER, [&[0x3f, 0xe1, 0x1f][..], &insertion().repeat(40)].concat()),
            _ => (DECODER, vec![0x80; 4096]),
        };
        most = most.max(browser.instruct(kind, &instructions).await);
        browsers.push(browser);
    }
    println!("the server took {most} bytes of one browser");
    assert!(most > 0, "no instruction was sent");
    assert!(most < TAKEN, "the server took {most} bytes of instructions");
    sees_nothing_amiss(&mut good, &running).await;
    // None of the browsers requests a session, so the server soon ends their connections.
    for browser in &browsers {
        timeout(HANG, browser.connection.closed()).await.expect("the connection is ended");
    }
    end(running, good).await;
}

#[tokio::test]
async fn fields_that_refer_to_a_dynamic_table_are_refused_at_once() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    // The section begins with the number of insertions that it needs, and a base.
    let sections: [&[u8]; 5] = [
        // The first entry; the first entry after the base; the names of these two entries.
        &[0x02, 0x00, 0x80],
        &[0x02, 0x00, 0x10],
        &[0x02, 0x00, 0x40, 0x01, b'v'],
        &[0x02, 0x00, 0x00, 0x01, b'v'],
        // An entry of the static table whose number does not fit any integer.
        &[0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    ];
    for (count, section) in sections.into_iter().enumerate() {
        let mut browser = Browser::come(&running).await;
        let begin = Instant::now();
        let _answer = browser.request(section).await;
        timeout(HANG, browser.connection.closed()).await.expect("the browser is refused");
        assert!(begin.elapsed() < WATCH, "{section:x?}: the refusal took too long");
        assert_eq!(metric(&running, REFUSED).await, (count + 1) as f64, "{section:x?}");
    }
    sees_nothing_amiss(&mut good, &running).await;
    end(running, good).await;
}

#[tokio::test]
async fn small_sections_that_stand_for_large_ones_cost_little() {
    let _place = PLACES.acquire_many(HOSTILE).await;
    let mut running = serve();
    let mut good = witness(&mut running).await;
    // References of two bytes to the longest field of the static table, number 85; and a field
    // whose value has a byte for every five bits.
    let references = [0xff, 0x16].repeat(32_000);
    let mut huffman = vec![0x21, b'x', 0xff];
    let mut rest = 60_000_u32 - 127;
    while rest >= 128 {
        huffman.push((rest as u8 & 0x7f) | 0x80);
        rest >>= 7;
    }
    huffman.push(rest as u8);
    // Eight letters `a` of five bits, 00011, in each five bytes.
    huffman.extend([0x18, 0xc6, 0x31, 0x8c, 0x63].repeat(12_000));
    for (count, fields) in [references, huffman].into_iter().cycle().take(8).enumerate() {
        let mut browser = Browser::come(&running).await;
        let _answer = browser.request(&[&[0x00, 0x00], fields.as_slice()].concat()).await;
        timeout(HANG, browser.connection.closed()).await.expect("the browser is refused");
        assert_eq!(metric(&running, REFUSED).await, (count + 1) as f64);
    }
    sees_nothing_amiss(&mut good, &running).await;
    end(running, good).await;
}
