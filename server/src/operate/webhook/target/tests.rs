use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::*;

const KEY: &str = "0123456789abcdef";

fn no_roots() -> ClientConfig {
    let roots = rustls::RootCertStore::empty();
    tls_builder().unwrap().with_root_certificates(roots).with_no_client_auth()
}

fn target(url: &str, key: Option<&str>) -> Target {
    Target::new(url, key.map(|key| Key::new(key).unwrap()), no_roots()).unwrap()
}

fn post() -> Post {
    let body = br#"{"event":"join"}"#;
    Post { id: "5-0".to_owned(), event: "join", body: Arc::from(&body[..]) }
}

/// Reads one request up to the end of its body, and answers.
async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, status: &str) -> String {
    let mut read = Vec::new();
    while !read.ends_with(&post().body) {
        let mut chunk = [0; 1024];
        let length = stream.read(&mut chunk).await.unwrap();
        assert!(length > 0, "the post ends early");
        read.extend_from_slice(&chunk[..length]);
    }
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    String::from_utf8(read).unwrap()
}

#[tokio::test]
async fn a_post_is_json_and_signed_as_github_signs() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let target = target(&format!("http://{address}/hook?secret=1"), Some(KEY));
    let asked = async { answer(listener.accept().await.unwrap().0, "204 No Content").await };
    let post = post();
    let (taken, asked) = tokio::join!(target.post(&post), asked);
    taken.unwrap();
    assert!(asked.starts_with("POST /hook?secret=1 HTTP/1.1\r\n"), "{asked}");
    // printf '{"event":"join"}' | openssl dgst -sha256 -hmac 0123456789abcdef
    let signature = "958ca2195d02b7f569aa42ebb9ffc8be193bcb7f6f381bc4eff225068a0e5b5f";
    let length = format!("content-length: {}", post.body.len());
    let signed = format!("arena-signature-256: sha256={signature}");
    for header in [
        &format!("host: {address}"),
        "content-type: application/json",
        "arena-event: join",
        "arena-delivery: 5-0",
        &length,
        &signed,
    ] {
        assert!(asked.contains(&format!("\r\n{header}")), "{header} in {asked}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_success_is_told_with_its_status() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = target(&format!("http://{}", listener.local_addr().unwrap()), None);
    for (status, code, is_final) in [
        ("302 Found", 302, true),
        ("401 Unauthorized", 401, true),
        ("408 Request Timeout", 408, false),
        ("429 Too Many Requests", 429, false),
        ("500 Internal Server Error", 500, false),
    ] {
        let asked = async { answer(listener.accept().await.unwrap().0, status).await };
        let post = post();
        let (taken, asked) = tokio::join!(target.post(&post), asked);
        let error = taken.unwrap_err();
        assert_eq!(error.is_final(), is_final, "{status}");
        assert!(error.to_string().contains(&code.to_string()), "{error}");
        assert!(!asked.contains("signature"), "without a key: {asked}");
    }
}

#[tokio::test]
async fn https_is_spoken_to_those_whom_the_roots_name() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let own = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![made.cert.der().clone()],
            rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(own));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let knows = tls_builder().unwrap().with_root_certificates(roots).with_no_client_auth();
    for (tls, is_known) in [(knows, true), (no_roots(), false)] {
        let target = Target::new(&url, None, tls).unwrap();
        let asked = async {
            let stream = acceptor.accept(listener.accept().await.unwrap().0).await.ok()?;
            Some(answer(stream, "200 OK").await)
        };
        let post = post();
        let (taken, asked) = tokio::join!(target.post(&post), asked);
        assert_eq!((taken.is_ok(), asked.is_some()), (is_known, is_known), "{taken:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_never_answers_is_given_up() {
    // The kernel accepts the connection, and nobody reads it.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = target(&format!("http://{}", listener.local_addr().unwrap()), None);
    let begin = tokio::time::Instant::now();
    let error = target.post(&post()).await.unwrap_err();
    assert!(matches!(error, PostError::Silent { .. }) && !error.is_final(), "{error}");
    assert_eq!(begin.elapsed(), TRY_LIMIT);
}

#[test]
fn only_addresses_of_the_web_are_taken_and_none_is_shown() {
    for good in ["http://a", "https://a.example:8443/x?y=z", "http://[::1]:80/", "http://192.0.2.1"]
    {
        assert!(Target::new(good, None, no_roots()).is_ok(), "{good}");
    }
    for bad in
        ["", "secret", "ftp://secret/", "secret:80", "http://", "http://u:secret@a/", "http://a b"]
    {
        let error = Target::new(bad, None, no_roots()).map(drop).unwrap_err().to_string();
        assert!(error.starts_with("--webhook: ") && !error.contains("secret"), "{error}");
    }
}

#[test]
fn a_key_has_sixteen_bytes_or_more() {
    let path = std::env::temp_dir().join(format!("webhook-key-{}", std::process::id()));
    std::fs::write(&path, format!("  {KEY}\n")).unwrap();
    assert_eq!(Key::read(&path).unwrap().sign(b"x"), Key::new(KEY).unwrap().sign(b"x"));
    std::fs::write(&path, &KEY[1..]).unwrap();
    let error = Key::read(&path).unwrap_err().to_string();
    assert!(error.contains("16 bytes"), "{error}");
    std::fs::remove_file(path).unwrap();
}
