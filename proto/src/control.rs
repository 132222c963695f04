//! Messages sent reliably, on the one bidirectional stream that a client opens: hello, welcome or
//! refusal, match events, chat, and goodbyes. A message is bincode in a frame with a hard limit. So
//! a peer can make the other end hold at most [`MAX_CLIENT_FRAME`] or [`MAX_SERVER_FRAME`] bytes.

mod chat_line;
mod checked_text;
mod event;
mod frame;
mod map_name;
mod match_name;
mod means;
mod message;
mod player_name;
mod reason;
mod text;
mod ticket;
mod vitals;

pub use chat_line::{ChatError, ChatLine, MAX_CHAT_CHARS};
pub use event::{MatchEvent, RoundPhase};
pub use frame::{FrameError, Framer, MAX_CLIENT_FRAME, MAX_SERVER_FRAME, frame};
pub use map_name::{MAX_MAP_NAME, MapName};
pub use match_name::{MAX_MATCH_NAME, MAX_MATCHES, MatchName, MatchNameError, MatchNames};
pub use means::{MAX_MEANS, Means};
pub use message::{
    ClientHello, ClientMessage, ClosingReason, GameHash, MAX_TOKEN, MapHash, MessageError,
    RefusalReason, ServerHello, ServerMessage, decode_client_message, decode_server_message,
    encode_client_message, encode_server_message, hello_version,
};
pub use player_name::{MAX_NAME_CHARS, NameError, PlayerName};
pub use reason::Reason;
pub use text::TextFault;
pub use ticket::Ticket;
pub use vitals::Vitals;
