//! The words that a match is told: the names of players who join, and the lines that players say.
//! Words are rare, so they have a frame of their own before the chunk of their ticks.

use bincode::{Decode, Encode};
use obsp_game::PlayerInfo;
use obsp_sim::EntityId;

use crate::format::{RecordedTick, decode, encode};

/// The words of one tick.
#[derive(Encode, Decode)]
struct TickWords {
    /// The number of the tick in its chunk.
    tick: u8,
    /// Slot, generation, name and number of each player who is introduced.
    introduced: Vec<(u16, u16, String, Option<u64>)>,
    /// Slot and generation of the speaker, and the line.
    said: Vec<(u16, u16, String)>,
}

/// Whether a tick of a chunk has words.
pub(crate) fn are_in(ticks: &[RecordedTick]) -> bool {
    ticks.iter().any(|tick| !tick.introduced.is_empty() || !tick.said.is_empty())
}

/// The body of a frame with the words of the ticks of a chunk; `None` if it would be longer than a
/// frame may be.
pub(crate) fn body_of(ticks: &[RecordedTick]) -> Option<Vec<u8>> {
    let words = |(tick, recorded): (usize, &RecordedTick)| {
        let RecordedTick { introduced, said, .. } = recorded;
        let introduced = introduced
            .iter()
            .map(|(id, info)| (id.slot, id.generation, info.name.clone(), info.player_id));
        let said = said.iter().map(|(id, line)| (id.slot, id.generation, line.clone()));
        TickWords { tick: tick as u8, introduced: introduced.collect(), said: said.collect() }
    };
    let has_words = |words: &TickWords| !words.introduced.is_empty() || !words.said.is_empty();
    let words: Vec<TickWords> = ticks.iter().enumerate().map(words).filter(has_words).collect();
    encode(&words)
}

/// Adds the words of a frame to the ticks of its chunk.
pub(crate) fn add(body: &[u8], ticks: &mut [RecordedTick]) -> Result<(), String> {
    let words: Vec<TickWords> = decode(body)?;
    for TickWords { tick, introduced, said } in words {
        let recorded = ticks.get_mut(usize::from(tick));
        let recorded = recorded.ok_or("words belong to a tick that their chunk does not have")?;
        let info = |(slot, generation, name, player_id)| {
            (EntityId { slot, generation }, PlayerInfo { name, player_id })
        };
        recorded.introduced.extend(introduced.into_iter().map(info));
        let line = |(slot, generation, line)| (EntityId { slot, generation }, line);
        recorded.said.extend(said.into_iter().map(line));
    }
    Ok(())
}
