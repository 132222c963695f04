//! A chunk: up to 128 ticks as one body of a frame. Commands are coded as differences from the
//! previous commands. Each field has its own probabilities. In each chunk they start from the table
//! `priors`.

mod priors;

use std::collections::BTreeMap;

use obsp_proto::range::{Coder, Decoder, Encoder, Number};
use obsp_sim::{Buttons, Command, EntityId, PlayerKind};

use self::priors::PRIORS;
use crate::format::RecordedTick;
use crate::packing::byte;

/// Maximum number of ticks per chunk.
pub(crate) const MAX_TICKS: usize = 128;

/// Maximum number of players per match.
const MAX_PLAYERS: usize = 1024;

/// Number of widths that an angle's difference may have, from 0 to 16 bits. Each width of the
/// latest difference has its own probabilities for the next one.
const WIDTHS: usize = 17;

/// Index of the probability that players join or leave. [`COUNT`] codes their number.
const CHANGES: usize = 0;
const COUNT: Number = Number { at: 1, width: 11 };
/// Index of the two probabilities that a command changes: the first is for a command that did not
/// change in the previous tick, the second for one that did.
const COMMAND: usize = COUNT.at + COUNT.width;
/// Index of the probabilities that the fields of a command change.
const FIELDS: usize = COMMAND + 2;
const FORWARD: usize = FIELDS + 6;
const RIGHT: usize = FORWARD + 256;
const BUTTONS: usize = RIGHT + 256;
const YAW: usize = BUTTONS + 256;
const PITCH: usize = YAW + WIDTHS * 16;
const VIEW_AGE: Number = Number { at: PITCH + WIDTHS * 16, width: 16 };
/// Bits of the actions after the third.
const FURTHER_BUTTONS: u32 = 13;
const PROBABILITIES: usize = VIEW_AGE.at + VIEW_AGE.width;

/// The players and their commands, between two chunks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands(BTreeMap<EntityId, LatestCommand>);

/// The latest command of a player. The next chunk holds the differences from it.
#[derive(Clone, Copy, Debug, Default)]
struct LatestCommand {
    command: Command,
    /// Whether the command changed in the previous tick.
    changed: bool,
    /// The widths of the latest differences of yaw and pitch, in bits.
    widths: [usize; 2],
}

impl Commands {
    /// The players and commands of a keyframe.
    pub(crate) fn of(commands: &[(EntityId, Command)]) -> Self {
        let latest =
            |&(id, command): &_| (id, LatestCommand { command, ..LatestCommand::default() });
        Self(commands.iter().map(latest).collect())
    }

    /// The players and commands in the form of a keyframe.
    pub(crate) fn list(&self) -> Vec<(EntityId, Command)> {
        self.0.iter().map(|(id, latest)| (*id, latest.command)).collect()
    }

    /// Resets everything except the commands, so that reading can begin at this place.
    fn forget(&mut self) {
        for latest in self.0.values_mut() {
            *latest = LatestCommand { command: latest.command, ..LatestCommand::default() };
        }
    }
}

/// Encodes at most [`MAX_TICKS`] ticks as a body. `commands` holds the commands before the first
/// tick. On return it holds the commands after the last tick.
pub(crate) fn encode(ticks: &[RecordedTick], commands: &mut Commands) -> Vec<u8> {
    let mut encoder = Box::new(Encoder::new(&PRIORS, vec![ticks.len() as u8]));
    commands.forget();
    for tick in ticks {
        // Encoding returns the values that it is given, and cannot fail.
        let _ = code(&mut *encoder, tick, commands);
    }
    encoder.finish()
}

/// The number of ticks in the body of a frame.
pub(crate) fn count(body: &[u8]) -> Result<usize, String> {
    match body.first() {
        Some(&count) if usize::from(count) <= MAX_TICKS => Ok(count.into()),
        _ => Err("a chunk has more ticks than a recorder writes".into()),
    }
}

/// The ticks in the body of a frame.
pub(crate) fn decode(body: &[u8], commands: &mut Commands) -> Result<Vec<RecordedTick>, String> {
    let count = count(body)?;
    let mut decoder = Box::new(Decoder::new(&PRIORS, &body[1..]));
    commands.forget();
    let idle = RecordedTick::default();
    let ticks: Result<Vec<RecordedTick>, &str> =
        (0..count).map(|_| code(&mut *decoder, &idle, commands)).collect();
    let ticks = ticks?;
    decoder.finish().map_err(|_| "a chunk is longer or shorter than its ticks")?;
    Ok(ticks)
}

/// Encodes or decodes a tick, as `coder` does.
fn code(
    coder: &mut impl Coder,
    tick: &RecordedTick,
    commands: &mut Commands,
) -> Result<RecordedTick, &'static str> {
    let mut out = RecordedTick::default();
    if coder.bit(CHANGES, !tick.left.is_empty() || !tick.joined.is_empty()) {
        for index in 0..counted(coder, tick.left.len())? {
            let left = id(coder, tick.left.get(index));
            commands.0.remove(&left);
            out.left.push(left);
        }
        for index in 0..counted(coder, tick.joined.len())? {
            let (own, kind) = tick.joined.get(index).copied().unzip();
            let joined = id(coder, own.as_ref());
            let drives = coder.raw(u32::from(kind == Some(PlayerKind::Hovertank)), 1) == 1;
            let kind = if drives { PlayerKind::Hovertank } else { PlayerKind::Box };
            commands.0.insert(joined, LatestCommand::default());
            out.joined.push((joined, kind));
        }
        if commands.0.len() > MAX_PLAYERS {
            return Err("there are more players than a match can have");
        }
    }
    let mut changes = tick.commands.iter().peekable();
    for (player, latest) in &mut commands.0 {
        // Both lists are in ascending order.
        while changes.next_if(|(id, _)| id < player).is_some() {}
        let own = changes.next_if(|(id, _)| id == player).map(|(_, command)| *command);
        if let Some(changed) = code_command(coder, latest, own.unwrap_or(latest.command))? {
            out.commands.push((*player, changed));
        }
    }
    let halves = [tick.digest as u32, (tick.digest >> 32) as u32].map(|half| coder.raw(half, 32));
    out.digest = u64::from(halves[0]) | u64::from(halves[1]) << 32;
    Ok(out)
}

fn counted(coder: &mut impl Coder, count: usize) -> Result<usize, &'static str> {
    let count = coder.number(COUNT, count as u32) as usize;
    if count > MAX_PLAYERS { Err("more players come or go than a match has") } else { Ok(count) }
}

fn id(coder: &mut impl Coder, own: Option<&EntityId>) -> EntityId {
    let [slot, generation] = own.map_or([0; 2], |id| [id.slot, id.generation]);
    let slot = coder.raw(slot.into(), 16) as u16;
    EntityId { slot, generation: coder.raw(generation.into(), 16) as u16 }
}

/// Encodes or decodes a command as its difference from the player's latest command. Returns the
/// command if it has changed.
fn code_command(
    coder: &mut impl Coder,
    latest: &mut LatestCommand,
    own: Command,
) -> Result<Option<Command>, &'static str> {
    let before = latest.command;
    let changed = coder.bit(COMMAND + usize::from(latest.changed), own != before);
    latest.changed = changed;
    if !changed {
        latest.widths = [0; 2];
        return Ok(None);
    }
    let mut now = before;
    if coder.bit(FIELDS, own.forward != before.forward) {
        now.forward = byte(coder, FORWARD, own.forward as u8) as i8;
    }
    if coder.bit(FIELDS + 1, own.right != before.right) {
        now.right = byte(coder, RIGHT, own.right as u8) as i8;
    }
    if coder.bit(FIELDS + 2, own.buttons != before.buttons) {
        let bits = buttons(coder, own.buttons.bits());
        now.buttons =
            Buttons::from_recorded_bits(bits).ok_or("a command holds keys that do not exist")?;
    }
    let turned = own.yaw.wrapping_sub(before.yaw) as i16;
    let turned = angle(coder, YAW, &mut latest.widths[0], turned);
    now.yaw = before.yaw.wrapping_add_signed(turned);
    let raised = own.pitch.wrapping_sub(before.pitch);
    let raised = angle(coder, PITCH, &mut latest.widths[1], raised);
    now.pitch = before.pitch.wrapping_add(raised);
    if coder.bit(FIELDS + 3, own.view_age != before.view_age) {
        let older = own.view_age.wrapping_sub(before.view_age) as i16;
        let older = coder.signed(VIEW_AGE, older.into()) as i16;
        now.view_age = before.view_age.wrapping_add_signed(older);
    }
    latest.command = now;
    Ok(Some(now))
}

/// Encodes or decodes buttons: the lowest seven bits and whether any others are set, and then all
/// others.
fn buttons(coder: &mut impl Coder, bits: u32) -> u32 {
    let further = bits >> 7;
    let first = byte(coder, BUTTONS, (bits & 0x7f) as u8 | u8::from(further != 0) << 7);
    let further = if first & 0x80 != 0 { coder.raw(further, FURTHER_BUTTONS) } else { 0 };
    u32::from(first & 0x7f) | further << 7
}

/// Encodes or decodes the difference of an angle. It is usually about as large as the previous
/// difference.
fn angle(coder: &mut impl Coder, at: usize, width: &mut usize, difference: i16) -> i16 {
    let number = Number { at: at + *width * 16, width: 16 };
    let coded = coder.signed(number, difference.into());
    *width = (u32::BITS - coded.unsigned_abs().leading_zeros()).min(WIDTHS as u32 - 1) as usize;
    coded as i16
}
