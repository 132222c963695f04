//! Codes the values of a game's fields. The values of an entity are in its record. The values of
//! the match and of the client's own player are in separate blocks.

use super::probabilities::{LEAPS, STEP, VALUE_CHANGES};
use crate::DatagramError;
use crate::range::Coder;
use crate::schema::{Field, FieldValues};

/// The placeholder that a reader passes for values that it does not know yet.
pub(super) const NO_VALUES: FieldValues = FieldValues::NONE;

/// Largest change of a value that is coded as a step.
const LONGEST_STEP: i32 = (1 << STEP.width) - 1;

/// Bits of the age of a block's baseline.
const AGE_BITS: u32 = 8;

/// The values of the match, or of the client's own player alone, in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueBlock {
    /// The values.
    pub values: FieldValues,
    /// Number of ticks from the baseline to the snapshot; 0 if the baseline is the least value of
    /// every field.
    pub age: u8,
    /// The baseline from which the values are coded as changes: earlier values, or the least value
    /// of every field.
    pub baseline: FieldValues,
}

/// The placeholder that a reader passes for a block that it does not know yet.
pub(super) const UNKNOWN_BLOCK: ValueBlock =
    ValueBlock { values: NO_VALUES, age: 0, baseline: NO_VALUES };

const OUT_OF_RANGE: DatagramError = DatagramError::OutOfRange { field: "value of a field" };

/// Codes all values.
///
/// # Errors
/// The reader gets a value that is out of range.
pub(super) fn whole_values(
    coder: &mut impl Coder,
    fields: &[Field],
    values: &FieldValues,
) -> Result<FieldValues, DatagramError> {
    let mut read = NO_VALUES;
    for (index, field) in fields.iter().enumerate() {
        let offset = coder.raw(values.offset(index).into(), field.bits()) as u16;
        if offset > field.span() {
            return Err(OUT_OF_RANGE);
        }
        read.set_offset(index, offset);
    }
    Ok(read)
}

/// Codes values as changes from `old`, which becomes the new values.
///
/// # Errors
/// The reader gets a value that is out of range.
pub(super) fn change_values(
    coder: &mut impl Coder,
    fields: &[Field],
    values: &FieldValues,
    old: &mut FieldValues,
) -> Result<(), DatagramError> {
    for (index, field) in fields.iter().enumerate() {
        let (from, to) = (i32::from(old.offset(index)), i32::from(values.offset(index)));
        if !coder.bit(VALUE_CHANGES + index, from != to) {
            continue;
        }
        let offset = if coder.bit(LEAPS, (to - from).abs() > LONGEST_STEP) {
            coder.raw(to as u32, field.bits()) as i32
        } else {
            from + coder.signed(STEP, to - from)
        };
        let offset = u16::try_from(offset).ok().filter(|offset| *offset <= field.span());
        old.set_offset(index, offset.ok_or(OUT_OF_RANGE)?);
    }
    Ok(())
}

/// Codes a block. `baseline` takes a number of ticks, and returns the values that the reader got
/// that many ticks before.
///
/// # Errors
/// The reader gets a value that is out of range, or lacks the baseline.
pub(super) fn code_block(
    coder: &mut impl Coder,
    fields: &[Field],
    block: &ValueBlock,
    baseline: impl Fn(u8) -> Option<FieldValues>,
) -> Result<ValueBlock, DatagramError> {
    let age = coder.raw(block.age.into(), AGE_BITS) as u8;
    let known = if age == 0 { Some(NO_VALUES) } else { baseline(age) };
    let baseline = known.ok_or(DatagramError::UnknownValues { age })?;
    let mut values = baseline;
    change_values(coder, fields, &block.values, &mut values)?;
    Ok(ValueBlock { values, age, baseline })
}
