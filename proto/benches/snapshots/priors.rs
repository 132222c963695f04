//! The initial probabilities of a snapshot: how often each bit was a 1 in the snapshots of
//! a match.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::sync::Arc;

use obsp_proto::Tick;
use obsp_proto::commands::{Acknowledgement, CommandBatch, CommandDatagram};
use obsp_proto::quantise::QuantisedEntity;
use obsp_proto::range::{Coder, Decoder};
use obsp_proto::server::OwnPlayer;
use obsp_proto::snapshot::{
    BaselineQuery, Header, Lead, PLAIN_BYTES, PRIORS, PROBABILITY_COUNT, SnapshotCodec,
};
use obsp_sim::Command;

use crate::arena::Moment;
use crate::{LIMIT, bounds, join};

/// A decoder that counts the bits it reads.
struct Counting<'a, 'b> {
    decoder: Decoder<'a, PROBABILITY_COUNT>,
    /// For each probability, how many zeros and ones it coded.
    counts: &'b mut [[u64; 2]; PROBABILITY_COUNT],
}

impl Coder for Counting<'_, '_> {
    fn bit(&mut self, probability: usize, bit: bool) -> bool {
        let bit = self.decoder.bit(probability, bit);
        self.counts[probability][usize::from(bit)] += 1;
        bit
    }

    fn raw(&mut self, value: u32, width: u32) -> u32 {
        self.decoder.raw(value, width)
    }
}

/// Prints the table that would have coded these moments best.
pub(crate) fn print(moments: &[Moment]) {
    let mut counts = [[0; 2]; PROBABILITY_COUNT];
    let clients = moments[0].players.len();
    for index in (0..clients).step_by(4) {
        // Round trips of 1 to 12 ticks, and an occasional loss.
        count(moments, index, 1 + index * 11 / clients, &mut counts);
    }
    for row in counts.chunks(16) {
        let prior = |[zeros, ones]: &[u64; 2]| {
            // A little is added to both counts, so that no probability is 0 or 1.
            let share = (*ones as f64 + 0.4) / ((zeros + ones) as f64 + 0.8);
            format!("{:3},", (share * 256.0).round().clamp(1.0, 255.0))
        };
        println!("    {}", row.iter().map(prior).collect::<Vec<_>>().join(" "));
    }
}

fn count(
    moments: &[Moment],
    index: usize,
    round_trip: usize,
    counts: &mut [[u64; 2]; PROBABILITY_COUNT],
) {
    let player = moments[0].players[index].0;
    let (mut session, _) = join(player, moments[0].state.tick());
    let codec = SnapshotCodec {
        bounds: bounds(),
        tick_rate: NonZeroU16::new(60).unwrap(),
        schema: Arc::default(),
    };
    let mut known: BTreeMap<u16, Vec<(Tick, Option<QuantisedEntity>)>> = BTreeMap::new();
    let mut got: Option<Acknowledgement> = None;
    let mut acknowledgements = Vec::new();
    for (count, moment) in moments.iter().enumerate() {
        let (_, own) = moment.players[index];
        let lead = Some(Lead::from_ticks(1.0 + (count / 30 % 5) as f64 / 4.0));
        let own = OwnPlayer { lead, ..own };
        let datagram = session.encode_snapshot(&moment.state, &own, LIMIT).unwrap();
        let is_lost = count % 61 == 60;
        if !is_lost {
            let near = moment.state.tick();
            let header = Header::of_plain(&datagram, near).unwrap();
            let mut counting =
                Counting { decoder: Decoder::new(&PRIORS, &datagram[PLAIN_BYTES..]), counts };
            let find = |slot: u16, query: BaselineQuery| {
                let values = known.get(&slot)?;
                let of = match query {
                    BaselineQuery::At(tick) => values.iter().find(|(at, _)| *at == tick)?,
                    BaselineQuery::Until(tick) => values.iter().rfind(|(at, _)| *at <= tick)?,
                };
                Some((of.0, of.1.as_ref()?))
            };
            let snapshot = codec.read(&mut counting, header, find).unwrap();
            for record in snapshot.records {
                known.entry(record.slot).or_default().push((near, record.entity));
            }
            match &mut got {
                Some(got) => got.add(near),
                None => got = Some(Acknowledgement::of(near)),
            }
        }
        acknowledgements.push(got);
        if let Some(acknowledgement) = count.checked_sub(round_trip).map(|at| acknowledgements[at])
        {
            let batch = CommandBatch::new(moment.state.tick(), vec![Command::default()]).unwrap();
            let datagram = CommandDatagram { acknowledgement, batch }.encode();
            session.receive_datagram(obsp_proto::Time::ZERO, &datagram).unwrap();
        }
    }
}
