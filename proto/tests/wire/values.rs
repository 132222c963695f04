//! Values of an invented game: of the match, of all players and bodies, and of the client's own
//! player.

use obsp_proto::schema::{Field, FieldValues, MatchValues, Schema, SchemaParts};
use obsp_sim::State;

use crate::random::Random;

const CLOCK: Field = Field::new("clock", -100, 20_000);
const HOLDER: Field = Field::new("holder", 0, 2);
const SECRET: Field = Field::new("secret", 0, 65_535);

/// A schema with the greatest number of fields.
pub(crate) fn schema() -> Schema {
    const NAMES: [&str; 16] =
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"];
    let wide = |index: usize| Field::new(NAMES[index], -3, 1 << index);
    Schema::new(SchemaParts {
        of_match: vec![CLOCK, HOLDER],
        of_own_player: vec![SECRET],
        of_players: (0..16).map(wide).collect(),
        models: (0..6).map(|index| (format!("model{index}"), vec![wide(15), wide(0)])).collect(),
        events: vec!["bang".into()],
        ..SchemaParts::default()
    })
    .unwrap()
}

/// Values of each entity of a state. The values change now and then, those of each entity at
/// different times.
pub(crate) fn values(schema: &Schema, state: &State) -> MatchValues {
    let some = |subject: u64, fields: &[Field]| {
        let mut values = FieldValues::default();
        for (field, salt) in fields.iter().zip(1_u64..) {
            let period = 1 + (subject * 7 + salt * 13) % 50;
            let step = state.tick / period;
            // Most values change by little, some by much.
            let value = if salt.is_multiple_of(3) {
                Random::new(step ^ subject << 20 ^ salt << 40).below(1 << 16) as i64
            } else {
                (step % 40) as i64 - 3
            };
            assert!(values.set(fields, field, value));
        }
        values
    };
    let of_entities = state
        .entities
        .iter()
        .map(|entity| (entity.id, some(entity.id.slot.into(), schema.of_kind(entity.kind))))
        .collect();
    let own = state.entities.iter().find(|entity| entity.id.slot == 0);
    MatchValues {
        of_match: some(5000, schema.of_match()),
        of_entities,
        of_own_players: own
            .map(|own| (own.id, some(6000, schema.of_own_player())))
            .into_iter()
            .collect(),
    }
}
