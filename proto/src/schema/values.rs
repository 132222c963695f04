use obsp_sim::EntityId;

use super::{Field, MAX_FIELDS};

/// The values of a subject's fields, in the order of its fields in the schema, each as its
/// difference from the least value. Indices beyond the last field hold 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldValues([u16; MAX_FIELDS]);

impl FieldValues {
    /// Every field has its least value.
    pub const NONE: Self = Self([0; MAX_FIELDS]);

    /// Sets the value of `field`, clamped to its range. Returns false if `field` is not one of
    /// `fields`.
    pub fn set(&mut self, fields: &[Field], field: &Field, value: i64) -> bool {
        let Some(index) = fields.iter().position(|of| of.name() == field.name()) else {
            return false;
        };
        let field = &fields[index];
        let value = value.clamp(field.least().into(), field.most().into());
        // The difference fits into 16 bits, because the value has been clamped.
        self.0[index] = (value - i64::from(field.least())) as u16;
        true
    }

    /// The value of the field `name`; `None` if `fields` has no such field.
    pub fn get(&self, fields: &[Field], name: &str) -> Option<i32> {
        let index = fields.iter().position(|field| field.name() == name)?;
        Some(fields[index].least() + i32::from(self.0[index]))
    }

    /// All values, each with its field.
    pub fn iter<'a>(&'a self, fields: &'a [Field]) -> impl Iterator<Item = (&'a Field, i32)> {
        fields.iter().zip(self.0).map(|(field, value)| (field, field.least() + i32::from(value)))
    }

    /// The difference between the value of a field and its least value.
    pub(crate) fn offset(&self, index: usize) -> u16 {
        self.0[index]
    }

    pub(crate) fn set_offset(&mut self, index: usize, offset: u16) {
        self.0[index] = offset;
    }
}

/// All values of a match in one tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchValues {
    /// The values of the whole match.
    pub of_match: FieldValues,
    /// The values of entities that have fields, in any order.
    pub of_entities: Vec<(EntityId, FieldValues)>,
    /// The values that the server sends only to each player's own client.
    pub of_own_players: Vec<(EntityId, FieldValues)>,
}
