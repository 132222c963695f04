//! The module with which the web page replays matches of capture the flag. `server/web/wasm/build`
//! makes it, and `--replay-module` serves it.

#[path = "../../rules.rs"]
mod rules;

obsp_page::replay_module!(rules::CaptureTheFlag);
