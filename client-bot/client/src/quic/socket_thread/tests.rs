//! Servers that stall must not block the caller.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use obsp_proto::control::{MapHash, PlayerName};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, ServerConfig, TransportConfig};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::*;
use crate::Credentials;

/// Maximum time that a drop may take: the documented two and a half seconds, and some more for a
/// busy machine.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server that accepts connections and reads nothing from them. Each connection may open as
/// many streams, and write as many bytes to a stream, as [`StallingServer::start`] is told.
struct StallingServer {
    address: SocketAddr,
    accepted: Receiver<Connection>,
}

impl StallingServer {
    fn start(streams: u32, bytes: u32) -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()])
            .and_then(|parameters| parameters.self_signed(&key))
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        tls.alpn_protocols = vec![obsp_proto::ALPN.to_vec()];
        let mut transport = TransportConfig::default();
        transport
            .max_concurrent_bidi_streams(VarInt::from_u32(streams))
            .stream_receive_window(VarInt::from_u32(bytes));
        let crypto = QuicServerConfig::try_from(tls).unwrap();
        let mut config = ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(Arc::new(transport));
        let (report, accepted) = mpsc::channel(4);
        let (bound, address) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let endpoint = Endpoint::server(config, (Ipv4Addr::LOCALHOST, 0).into()).unwrap();
                bound.send(endpoint.local_addr().unwrap()).unwrap();
                while let Some(incoming) = endpoint.accept().await {
                    // The receiver keeps the connection open; the thread ends with the test.
                    let _ = report.send(incoming.await.unwrap()).await;
                }
            });
        });
        Self { address: address.recv().unwrap(), accepted }
    }

    fn wait_for_connection(&mut self) -> Connection {
        self.accepted.blocking_recv().unwrap()
    }
}

fn connect(server: &StallingServer) -> SocketThread {
    SocketThread::connect(server.address, Trust::Loopback, Arc::default()).unwrap()
}

fn client() -> Client {
    let name = PlayerName::new("tester").unwrap();
    Client::new(&name, MapHash::ANY, &Credentials::default(), Time::ZERO)
}

fn drop_in_time(socket: SocketThread) {
    let begin = Instant::now();
    drop(socket);
    let took = begin.elapsed();
    assert!(took < PATIENCE, "{took:?}");
}

/// Symptom: `obsp_client_free` never returned while the server opened no stream. Cause: the thread
/// waited for the stream and did not check whether the caller still needed it. Cure: the thread
/// ends when the caller drops its end of the channel.
#[test]
fn a_server_that_opens_no_stream_does_not_hold_up_the_drop() {
    let mut server = StallingServer::start(0, 1000);
    let socket = connect(&server);
    let _connection = server.wait_for_connection();
    drop_in_time(socket);
}

/// A server that accepts four bytes of a stream does not even get the whole hello. It does not
/// delay the drop either. Messages that are sent meanwhile wait in a bounded queue.
#[test]
fn a_server_that_reads_nothing_does_not_hold_up_the_drop() {
    let mut server = StallingServer::start(1, 4);
    let mut socket = connect(&server);
    let _connection = server.wait_for_connection();
    let mut client = client();
    socket.transmit(&mut client);
    let orders = socket.orders.clone().unwrap();
    let (begin, mut full_since) = (Instant::now(), Instant::now());
    // The thread takes orders until the write of the first one blocks, and then no more.
    while full_since.elapsed() < Duration::from_millis(300) {
        if orders.try_send(Order::Send(Transmit::Stream(vec![0; 100]))).is_ok() {
            full_since = Instant::now();
        }
        assert!(begin.elapsed() < 4 * PATIENCE, "the thread never blocks");
    }
    assert_eq!(orders.capacity(), 0);
    drop(orders);
    // Output that cannot be sent stays in the client.
    client.leave();
    socket.transmit(&mut client);
    assert!(matches!(client.poll_transmit(), Some(Transmit::Stream(_))));
    drop_in_time(socket);
}
