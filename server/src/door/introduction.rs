//! The name of the server and its message of the day, as operators set them by `--name` and
//! `--motd`. Server lists, pages and newcomers show them.

pub(crate) mod options;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};

use obsp_proto::control::{ChatLine, MAX_CHAT_CHARS};

/// Maximum number of characters in a server's name: a list shows that many in a row.
pub(crate) const MAX_SERVER_NAME_CHARS: usize = 64;

/// The name of a server: 1 to 64 characters that can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerName(String);

/// The message of the day: 1 to 160 characters that can be shown, as in a line of chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageOfTheDay(ChatLine);

impl FromStr for ServerName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let long = text.chars().count() > MAX_SERVER_NAME_CHARS;
        if long {
            return Err(format!("a server's name has at most {MAX_SERVER_NAME_CHARS} characters"));
        }
        let line = ChatLine::new(text).map_err(|_| {
            "a server's name must have a visible character and no control or direction characters"
        })?;
        Ok(Self(line.as_str().to_owned()))
    }
}

impl FromStr for MessageOfTheDay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.chars().count() > MAX_CHAT_CHARS {
            return Err(format!("the message of the day has at most {MAX_CHAT_CHARS} characters"));
        }
        let line = ChatLine::new(text).map_err(|_| {
            "the message of the day must have a visible character and no control or direction \
             characters"
        })?;
        Ok(Self(line))
    }
}

impl ServerName {
    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl MessageOfTheDay {
    /// The text of the message.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for MessageOfTheDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The server's name and message of the day. The message may change while the server runs.
#[derive(Debug, Default)]
pub(crate) struct Introduction {
    name: Option<ServerName>,
    motd: RwLock<Option<Arc<MessageOfTheDay>>>,
}

impl Introduction {
    pub(crate) fn new(name: Option<ServerName>, motd: Option<MessageOfTheDay>) -> Self {
        Self { name, motd: RwLock::new(motd.map(Arc::new)) }
    }

    /// The name of the server, if it has one.
    pub(crate) fn name(&self) -> Option<&ServerName> {
        self.name.as_ref()
    }

    /// The message of the day, if there is one.
    pub(crate) fn motd(&self) -> Option<Arc<MessageOfTheDay>> {
        self.motd.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the message of the day. Returns false if it was the same.
    pub(crate) fn set_motd(&self, motd: Option<MessageOfTheDay>) -> bool {
        let mut known = self.motd.write().unwrap_or_else(PoisonError::into_inner);
        let changes = known.as_deref() != motd.as_ref();
        *known = motd.map(Arc::new);
        changes
    }

    /// The lines that greet a newcomer: one line if the name and the message fit into it, else two.
    pub(crate) fn greeting(&self) -> Vec<ChatLine> {
        let (name, motd) = (self.name(), self.motd());
        let one = |text: &str| ChatLine::new(text).ok();
        match (name, &motd) {
            (Some(name), Some(motd)) => match one(&format!("{name}: {motd}")) {
                Some(line) => vec![line],
                None => one(name.as_str()).into_iter().chain([motd.0.clone()]).collect(),
            },
            (Some(name), None) => one(name.as_str()).into_iter().collect(),
            (None, Some(motd)) => vec![motd.0.clone()],
            (None, None) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_messages_are_bounded_and_can_be_shown() {
        let longest = "\u{6f22}".repeat(MAX_SERVER_NAME_CHARS);
        assert_eq!(longest.parse::<ServerName>().unwrap().as_str(), longest);
        for bad in ["", " ", "a\nb", "a\0b", "\u{202e}b", &format!("{longest}x")] {
            assert!(bad.parse::<ServerName>().is_err(), "{bad:?}");
        }
        let longest = "\u{6f22}".repeat(MAX_CHAT_CHARS);
        assert_eq!(longest.parse::<MessageOfTheDay>().unwrap().as_str(), longest);
        for bad in ["", " ", "a\nb", "a\x1b[1mb", &format!("{longest}x")] {
            assert!(bad.parse::<MessageOfTheDay>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_newcomer_is_greeted_in_one_line_where_it_fits() {
        let greeting = |name: Option<&str>, motd: Option<&str>| {
            let name = name.map(|name| name.parse().unwrap());
            let introduction = Introduction::new(name, motd.map(|motd| motd.parse().unwrap()));
            let lines = introduction.greeting().into_iter();
            lines.map(|line| line.as_str().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(greeting(None, None), [""; 0]);
        assert_eq!(greeting(Some("Hall"), None), ["Hall"]);
        assert_eq!(greeting(None, Some("Be kind")), ["Be kind"]);
        assert_eq!(greeting(Some("Hall"), Some("Be kind")), ["Hall: Be kind"]);
        let (fits, long) = ("x".repeat(154), "x".repeat(155));
        assert_eq!(greeting(Some("Hall"), Some(&fits)), [format!("Hall: {fits}")]);
        assert_eq!(greeting(Some("Hall"), Some(&long)), ["Hall".to_owned(), long]);
    }

    #[test]
    fn a_change_of_the_message_is_told_once() {
        let introduction = Introduction::default();
        assert!(introduction.set_motd(Some("one".parse().unwrap())));
        assert!(!introduction.set_motd(Some("one".parse().unwrap())));
        assert!(introduction.set_motd(None) && introduction.motd().is_none());
    }
}
