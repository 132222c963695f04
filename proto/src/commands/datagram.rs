//! The datagram that a client sends each tick.

use obsp_sim::{Buttons, Command};

use super::{Acknowledgement, CommandBatch, MAX_COMMANDS};
use crate::bits::{BitReader, BitWriter};
use crate::snapshot::DatagramKind;
use crate::{DatagramError, Tick};

/// Maximum length of a command datagram, in bytes.
pub const MAX_COMMAND_DATAGRAM: usize = 96;

/// Bits of [`Command::view_age`], enough for two seconds at the highest tick rate.
const VIEW_AGE_BITS: u32 = 12;

/// Number of bits of the jump, crouch and walk keys and of the first three actions.
const FIRST_BUTTONS: u32 = 6;

/// First bit of the actions after the third, and the number of these actions.
const FURTHER_AT: u32 = 7;
const FURTHER_BUTTONS: u32 = 13;

/// Largest [`Command::view_age`] that can be encoded.
pub const MAX_VIEW_AGE: u16 = (1 << VIEW_AGE_BITS) - 1;

/// Steepest view up or down, in steps of [`Command::pitch`].
pub const QUARTER_TURN: i16 = 1 << 14;

/// The datagram that a client sends each tick.
///
/// ```
/// use obsp_proto::Tick;
/// use obsp_proto::commands::{Acknowledgement, CommandBatch, CommandDatagram};
/// use obsp_sim::Command;
///
/// let run = Command { forward: 127, ..Command::default() };
/// let datagram = CommandDatagram {
///     acknowledgement: Some(Acknowledgement::of(Tick(98))),
///     batch: CommandBatch::new(Tick(100), vec![run; 3]).unwrap(),
/// };
/// // A tick is sent as 16 bits. `decode` needs a tick near it to restore the whole number.
/// assert_eq!(CommandDatagram::decode(&datagram.encode(), Tick(99))?, datagram);
/// # Ok::<(), obsp_proto::DatagramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandDatagram {
    /// The snapshots that the client has decoded; `None` before the first.
    pub acknowledgement: Option<Acknowledgement>,
    /// The client's last commands.
    pub batch: CommandBatch,
}

impl CommandDatagram {
    /// Encodes the datagram.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = BitWriter::with_capacity(MAX_COMMAND_DATAGRAM);
        writer.write(DatagramKind::Commands as u32, 2);
        writer.write_bit(self.acknowledgement.is_some());
        writer.write(self.batch.commands().len() as u32 - 1, 3);
        writer.write(0, 2);
        writer.write(self.batch.newest().low_bits().into(), 16);
        if let Some(Acknowledgement { latest, before }) = self.acknowledgement {
            writer.write(latest.low_bits().into(), 16);
            writer.write(before, 32);
        }
        let mut newer: Option<&Command> = None;
        for command in self.batch.commands().iter().rev() {
            write_command(&mut writer, command, newer);
            newer = Some(command);
        }
        writer.finish()
    }

    /// Decodes a datagram. `near` is a tick near the datagram's ticks, such as the present one.
    ///
    /// # Errors
    /// The bytes violate the protocol.
    pub fn decode(bytes: &[u8], near: Tick) -> Result<Self, DatagramError> {
        let mut reader = BitReader::new(bytes);
        DatagramKind::Commands.expect(reader.read(2)?)?;
        let acknowledges = reader.read_bit()?;
        let count = reader.read(3)? as usize + 1;
        if reader.read(2)? != 0 {
            return Err(DatagramError::OutOfRange { field: "reserved bits" });
        }
        let newest = read_tick(&mut reader, near)?;
        let acknowledgement = if acknowledges {
            let latest = read_tick(&mut reader, near)?;
            Some(Acknowledgement { latest, before: reader.read(32)? })
        } else {
            None
        };
        let mut commands = Vec::with_capacity(MAX_COMMANDS);
        for _ in 0..count {
            let command = read_command(&mut reader, commands.last())?;
            commands.push(command);
        }
        reader.finish()?;
        commands.reverse();
        let batch = newest
            .before(count as u32 - 1)
            .and_then(|oldest| CommandBatch::new(oldest, commands))
            .ok_or(DatagramError::OutOfRange { field: "tick" })?;
        Ok(Self { acknowledgement, batch })
    }
}

fn read_tick(reader: &mut BitReader<'_>, near: Tick) -> Result<Tick, DatagramError> {
    let low = reader.read(16)? as u16;
    Tick::from_low_bits(low, near).ok_or(DatagramError::OutOfRange { field: "tick" })
}

/// Writes a command as its difference from the command of the next tick. The newest command is
/// written as its difference from the default one.
fn write_command(writer: &mut BitWriter, command: &Command, newer: Option<&Command>) {
    if let Some(newer) = newer {
        writer.write_bit(command != newer);
        if command == newer {
            return;
        }
    }
    let base = newer.copied().unwrap_or_default();
    let fields = |command: &Command| {
        [
            (u32::from(command.forward as u8), 8),
            (u32::from(command.right as u8), 8),
            (u32::from(command.yaw), 16),
            (u32::from(command.pitch as u16), 16),
        ]
    };
    for ((value, width), (base, _)) in fields(command).into_iter().zip(fields(&base)) {
        writer.write_bit(value != base);
        if value != base {
            writer.write(value, width);
        }
    }
    writer.write_bit(command.buttons != base.buttons);
    if command.buttons != base.buttons {
        write_buttons(writer, command.buttons);
    }
    if command.buttons.aims() {
        writer.write(command.view_age.into(), VIEW_AGE_BITS);
    }
}

/// Writes buttons in 8 bits: the first ones, a zero, and whether an action after the third is held.
/// If so, the bits of all actions after the third follow.
fn write_buttons(writer: &mut BitWriter, buttons: Buttons) {
    let further = buttons.bits() >> FURTHER_AT;
    writer.write(buttons.bits() & ((1 << FIRST_BUTTONS) - 1), FURTHER_AT);
    writer.write_bit(further != 0);
    if further != 0 {
        writer.write(further, FURTHER_BUTTONS);
    }
}

fn read_buttons(reader: &mut BitReader<'_>) -> Result<Buttons, DatagramError> {
    let first = reader.read(FURTHER_AT)?;
    let has_further = reader.read_bit()?;
    let further = if has_further { reader.read(FURTHER_BUTTONS)? } else { 0 };
    let buttons = Buttons::from_bits(first | further << FURTHER_AT);
    // There is one encoding for each set of buttons.
    let buttons = buttons.filter(|_| has_further == (further != 0));
    buttons.ok_or(DatagramError::OutOfRange { field: "buttons" })
}

fn read_command(
    reader: &mut BitReader<'_>,
    newer: Option<&Command>,
) -> Result<Command, DatagramError> {
    if let Some(newer) = newer
        && !reader.read_bit()?
    {
        return Ok(*newer);
    }
    let mut command = newer.copied().unwrap_or_default();
    if reader.read_bit()? {
        command.forward = reader.read(8)? as u8 as i8;
    }
    if reader.read_bit()? {
        command.right = reader.read(8)? as u8 as i8;
    }
    if reader.read_bit()? {
        command.yaw = reader.read(16)? as u16;
    }
    if reader.read_bit()? {
        command.pitch = reader.read(16)? as u16 as i16;
    }
    if reader.read_bit()? {
        command.buttons = read_buttons(reader)?;
    }
    command.view_age = if command.buttons.aims() { reader.read(VIEW_AGE_BITS)? as u16 } else { 0 };
    if command.forward == i8::MIN || command.right == i8::MIN {
        return Err(DatagramError::OutOfRange { field: "movement" });
    }
    if !(-QUARTER_TURN..=QUARTER_TURN).contains(&command.pitch) {
        return Err(DatagramError::OutOfRange { field: "pitch" });
    }
    Ok(command)
}
