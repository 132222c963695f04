use std::str::FromStr;

/// An origin whose pages are allowed: `SCHEME://HOST` or `SCHEME://HOST:PORT`, as
/// browsers write it, or `*` for any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigin(Origin);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Any,
    One {
        /// The whole origin, as a browser writes it.
        origin: String,
        /// The origin's host, without a port or the brackets of an IPv6 address.
        host: String,
    },
}

/// A text that is no origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an origin is SCHEME://HOST or SCHEME://HOST:PORT, such as https://arena.example; or *")]
pub struct OriginSyntax;

impl FromStr for AllowedOrigin {
    type Err = OriginSyntax;

    fn from_str(text: &str) -> Result<Self, OriginSyntax> {
        if text == "*" {
            return Ok(Self(Origin::Any));
        }
        let (scheme, authority) = text.split_once("://").ok_or(OriginSyntax)?;
        let is_plain = |part: &str| !part.is_empty() && !part.contains(['/', '?', '#', '@', ' ']);
        if !is_plain(scheme) || !is_plain(authority) {
            return Err(OriginSyntax);
        }
        let host = match authority.strip_prefix('[') {
            Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        };
        Ok(Self(Origin::One { origin: text.to_owned(), host: host.to_owned() }))
    }
}

impl AllowedOrigin {
    /// Whether `other`, as a browser writes it, is this origin.
    pub(crate) fn matches(&self, other: &str) -> bool {
        match &self.0 {
            Origin::Any => true,
            Origin::One { origin, .. } => origin.eq_ignore_ascii_case(other),
        }
    }

    /// Whether this is an origin of the host `name`.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        match &self.0 {
            Origin::Any => true,
            Origin::One { host, .. } => host.eq_ignore_ascii_case(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_no_browser_writes_is_refused() {
        for good in ["*", "https://arena.example", "http://[::1]:80", "https://a:8443"] {
            assert!(good.parse::<AllowedOrigin>().is_ok(), "{good}");
        }
        for bad in ["", "arena.example", "https://", "https://a/", "https://a/b", "://a", "a b://c"]
        {
            assert_eq!(bad.parse::<AllowedOrigin>(), Err(OriginSyntax), "{bad}");
        }
    }
}
