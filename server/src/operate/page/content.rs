use std::io::Write;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Bytes below which compressing gains nothing.
const SHORT: usize = 512;

/// The names of codings.
const GZIP: &str = "gzip";
pub(super) const BROTLI: &str = "br";

/// How long a browser may use an answer without asking again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// The answer may be used for ever, because its address changes with the content.
    ForEver,
    /// The browser asks each time, and gets an answer without a body if nothing has changed. The
    /// next server at this address may have other content.
    Checked,
}

/// Bytes that many visitors request, compressed once for all of them.
#[derive(Clone)]
pub(super) struct Content {
    kind: &'static str,
    /// `None` for content that exists only in compressed form.
    plain: Option<Bytes>,
    /// Compressed, if that makes it smaller.
    packed: Option<Bytes>,
    /// The coding of the compressed form.
    coding: &'static str,
    tag: HeaderValue,
}

impl Content {
    /// Content of a media type. It is compressed here, which takes some milliseconds for each 100
    /// kB.
    pub(super) fn new(kind: &'static str, plain: Bytes) -> Self {
        let packed = (plain.len() >= SHORT).then(|| pack(&plain)).flatten();
        let packed = packed.filter(|packed| packed.len() < plain.len()).map(Bytes::from);
        Self { kind, tag: tag(&plain), plain: Some(plain), packed, coding: GZIP }
    }

    /// Content that is already compressed with Brotli, for visitors who accept this coding.
    pub(super) fn brotli(kind: &'static str, packed: Bytes) -> Self {
        Self { kind, tag: tag(&packed), plain: None, packed: Some(packed), coding: BROTLI }
    }

    /// The answer to a request with these headers.
    pub(super) fn answer(&self, asked: &HeaderMap, kept: Kept) -> Response {
        let kept = match kept {
            Kept::ForEver => "public, max-age=31536000, immutable",
            Kept::Checked => "no-cache",
        };
        let about = [
            (header::ETAG, self.tag.clone()),
            (header::CACHE_CONTROL, HeaderValue::from_static(kept)),
            (header::VARY, HeaderValue::from_static("accept-encoding")),
        ];
        if is_known(asked, &self.tag) {
            return (StatusCode::NOT_MODIFIED, about).into_response();
        }
        let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(self.kind))];
        match (&self.plain, &self.packed) {
            (Some(plain), packed) if packed.is_none() || !takes(asked, self.coding) => {
                (about, kind, plain.clone()).into_response()
            }
            (_, packed) => {
                let coding = [(header::CONTENT_ENCODING, HeaderValue::from_static(self.coding))];
                (about, kind, coding, packed.clone().unwrap_or_default()).into_response()
            }
        }
    }
}

/// The first 16 digits of the SHA-256 of `bytes`.
pub(super) fn digest(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The entity tag of content. It is a weak tag, because the plain and the compressed form have the
/// same one.
fn tag(bytes: &[u8]) -> HeaderValue {
    let tag = format!("W/\"{}\"", digest(bytes));
    // Digits and quotes are allowed in a header.
    HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("*"))
}

fn pack(plain: &[u8]) -> Option<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(plain).ok()?;
    packer.finish().ok()
}

/// The items of a header that is a list.
fn items(asked: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    let values = asked.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Whether the visitor already has the content with this tag.
fn is_known(asked: &HeaderMap, tag: &HeaderValue) -> bool {
    let bare = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    let own = tag.to_str().map(bare).unwrap_or_default();
    items(asked, header::IF_NONE_MATCH).any(|item| item == "*" || bare(item) == own)
}

/// Whether the visitor takes content with this coding (RFC 9110, 12.5.3).
pub(super) fn takes(asked: &HeaderMap, coding: &str) -> bool {
    let weight = |parameters: &str| {
        let weight = parameters.trim().strip_prefix("q=").map(str::parse::<f32>);
        weight.is_none_or(|weight| weight.is_ok_and(|weight| weight > 0.0))
    };
    let weight_of = |coding: &str| {
        let mut found = items(asked, header::ACCEPT_ENCODING).filter_map(|item| {
            let (name, parameters) = item.split_once(';').unwrap_or((item, ""));
            name.trim().eq_ignore_ascii_case(coding).then(|| weight(parameters))
        });
        found.next()
    };
    weight_of(coding).or_else(|| weight_of("*")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use http_body_util::BodyExt;

    use super::*;

    fn asked(pairs: &[(header::HeaderName, &'static str)]) -> HeaderMap {
        let value = |(name, value): &(header::HeaderName, &'static str)| {
            (name.clone(), HeaderValue::from_static(value))
        };
        pairs.iter().map(value).collect()
    }

    async fn body(response: Response) -> Bytes {
        response.into_body().collect().await.unwrap().to_bytes()
    }

    #[tokio::test]
    async fn an_honest_page_asks_once_and_gets_it_packed() {
        let text = "the same again, ".repeat(1000);
        let content = Content::new("text/plain", text.clone().into());
        let whole = content.answer(&HeaderMap::new(), Kept::Checked);
        assert_eq!(whole.headers().get(header::CONTENT_ENCODING), None);
        assert_eq!(body(whole).await, text);

        let packed =
            content.answer(&asked(&[(header::ACCEPT_ENCODING, "br, gzip")]), Kept::ForEver);
        assert_eq!(packed.headers()[header::CONTENT_ENCODING], "gzip");
        assert_eq!(packed.headers()[header::VARY], "accept-encoding");
        assert!(packed.headers()[header::CACHE_CONTROL].to_str().unwrap().contains("immutable"));
        let tag = packed.headers()[header::ETAG].clone();
        let bytes = body(packed).await;
        assert!(bytes.len() < text.len() / 10);
        let mut unpacked = String::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked, text);

        for known in [tag.to_str().unwrap(), "W/\"1\", *"] {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_NONE_MATCH, HeaderValue::from_str(known).unwrap());
            let again = content.answer(&headers, Kept::Checked);
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(again.headers()[header::ETAG], tag);
            assert!(body(again).await.is_empty());
        }
        let other = asked(&[(header::IF_NONE_MATCH, "W/\"1\"")]);
        assert_eq!(content.answer(&other, Kept::Checked).status(), StatusCode::OK);
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        for (header, takes) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5", true),
            ("*", true),
            ("gzip;q=0, *", false),
            ("gzip; q=0.0", false),
            (BROTLI, false),
            ("", false),
        ] {
            let headers = asked(&[(header::ACCEPT_ENCODING, header)]);
            assert_eq!(super::takes(&headers, GZIP), takes, "{header:?}");
        }
    }
}
