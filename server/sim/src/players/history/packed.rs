//! Past positions as bytes, with few bytes for each, because nearly all numbers of a saved match
//! are past positions.
//!
//! A *run* is a series of consecutive ticks in which a player was in the world. The coordinates of
//! a player on foot are values of `f32`, and the player mostly moves on as before. So each
//! coordinate is extrapolated from the last three ticks, and only the difference is stored, in
//! steps of `f32`. The widths of a run's differences, in bits, come first. The differences follow,
//! without their highest bits. Other poses are stored unchanged.

use std::collections::VecDeque;

use glam::{DQuat, DVec3};

use super::{KEPT, PastPose};
use crate::bodies::slots::MAX_ENTITIES;
use crate::collision::pose::Pose;
use crate::collision::shape::ShapeId;
use crate::state::EntityId;

/// Number of numbers of a pose on foot.
const ON_FOOT: usize = 3;

/// How many numbers any other pose has.
const FREE: usize = 7;

/// The ticks as bytes. Each has its poses in ascending order of slot.
pub(super) fn to_bytes(ticks: &VecDeque<Vec<PastPose>>) -> Vec<u8> {
    let mut bytes = vec![ticks.len() as u8];
    for (start, poses) in ticks.iter().enumerate() {
        for first in poses {
            let goes_on = start.checked_sub(1).and_then(|before| next_in(&ticks[before], first));
            if goes_on.is_some() {
                continue;
            }
            let mut run = vec![first];
            for tick in ticks.iter().skip(start + 1) {
                let Some(next) = next_in(tick, first) else { break };
                run.push(next);
            }
            put(&mut bytes, start as u32);
            put_run(&mut bytes, &run);
        }
    }
    bytes
}

/// The pose of a neighbouring tick that belongs to the same run.
fn next_in<'a>(tick: &'a [PastPose], of: &PastPose) -> Option<&'a PastPose> {
    let index = tick.binary_search_by_key(&of.player.slot, |past| past.player.slot).ok()?;
    let found = &tick[index];
    let same = found.player == of.player
        && found.shape == of.shape
        && is_on_foot(&found.pose) == is_on_foot(&of.pose);
    same.then_some(found)
}

/// Whether the pose has no rotation and its coordinates are values of `f32`.
fn is_on_foot(pose: &Pose) -> bool {
    let exact = |number: f64| f64::from(number as f32).to_bits() == number.to_bits();
    pose.orientation == DQuat::IDENTITY && pose.position.to_array().into_iter().all(exact)
}

fn put_run(bytes: &mut Vec<u8>, run: &[&PastPose]) {
    let PastPose { player, shape, pose } = run[0];
    let on_foot = is_on_foot(pose);
    bytes.extend([run.len() as u8, u8::from(on_foot)]);
    for number in [player.slot, player.generation, shape.0] {
        put(bytes, number.into());
    }
    if !on_foot {
        let numbers = run.iter().flat_map(|past| numbers(&past.pose));
        return bytes.extend(numbers.flat_map(f64::to_le_bytes));
    }
    let mut bits = Bits::default();
    for axis in 0..ON_FOOT {
        let mut known = Extrapolation::default();
        for past in run {
            let now = numbers(&past.pose)[axis] as f32;
            let off = now.to_bits().wrapping_sub(known.next().to_bits()) as i32;
            let off = (off << 1 ^ off >> 31) as u32;
            let width = u32::BITS - off.leading_zeros();
            bytes.push(width as u8);
            // The highest bit is always a one, so it is left out.
            bits.put(off, width.saturating_sub(1));
            known.add(now);
        }
    }
    bits.finish(bytes);
}

/// A sequence of bits. The first one is the lowest bit of the first byte.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    waiting: u64,
    count: u32,
}

impl Bits {
    /// Adds the `width` lowest bits of a number.
    fn put(&mut self, number: u32, width: u32) {
        self.waiting |= (u64::from(number) & ((1 << width) - 1)) << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.waiting as u8);
            self.waiting >>= 8;
            self.count -= 8;
        }
    }

    /// Appends the bits to `bytes`. The last byte is filled up with zeros.
    fn finish(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.bytes);
        if self.count > 0 {
            bytes.push(self.waiting as u8);
        }
    }
}

fn numbers(pose: &Pose) -> [f64; FREE] {
    let [x, y, z] = pose.position.to_array();
    let [i, j, k, w] = pose.orientation.to_array();
    [x, y, z, i, j, k, w]
}

/// Extrapolates a coordinate from its latest three values. Players accelerate evenly, if at all.
#[derive(Default)]
struct Extrapolation {
    last: Option<f32>,
    step: Option<f32>,
    change: f32,
}

impl Extrapolation {
    fn next(&self) -> f32 {
        self.last.map_or(0.0, |last| last + (self.step.unwrap_or(0.0) + self.change))
    }

    fn add(&mut self, now: f32) {
        if let Some(last) = self.last {
            let step = now - last;
            self.change = self.step.map_or(0.0, |before| step - before);
            self.step = Some(step);
        }
        self.last = Some(now);
    }
}

/// Adds a number, seven bits a byte, the lowest first.
fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The ticks that these bytes encode; `None` if the bytes are not valid.
pub(super) fn from_bytes(bytes: &[u8]) -> Option<VecDeque<Vec<PastPose>>> {
    let (&count, mut rest) = bytes.split_first()?;
    if usize::from(count) > KEPT {
        return None;
    }
    let mut ticks: VecDeque<Vec<PastPose>> = (0..count).map(|_| Vec::new()).collect();
    while !rest.is_empty() {
        let start = take(&mut rest)? as usize;
        for (at, past) in take_run(&mut rest)?.into_iter().enumerate() {
            let tick = ticks.get_mut(start + at).filter(|tick| tick.len() < MAX_ENTITIES)?;
            tick.push(past);
        }
    }
    for tick in &mut ticks {
        // Runs come in the order of their first ticks, so a tick is not sorted by slot yet.
        tick.sort_unstable_by_key(|past| past.player.slot);
        if !tick.is_sorted_by(|one, next| one.player.slot < next.player.slot) {
            return None;
        }
    }
    Some(ticks)
}

fn take_run(rest: &mut &[u8]) -> Option<Vec<PastPose>> {
    let (&[count, on_foot], after) = rest.split_first_chunk()?;
    *rest = after;
    let mut number = || u16::try_from(take(rest)?).ok();
    let player = EntityId { slot: number()?, generation: number()? };
    let shape = ShapeId(number()?);
    let count = usize::from(count).min(KEPT);
    let past = |pose| PastPose { player, shape, pose };
    if on_foot == 1 {
        let on_foot = take_on_foot(rest, count)?.into_iter();
        return Some(on_foot.map(|[x, y, z]| past(Pose::at(DVec3::new(x, y, z)))).collect());
    }
    let mut run = Vec::with_capacity(count);
    for _ in 0..count {
        let mut numbers = [0.0; FREE];
        for number in &mut numbers {
            let (bytes, after) = rest.split_first_chunk()?;
            *rest = after;
            *number = f64::from_le_bytes(*bytes);
        }
        let [x, y, z, i, j, k, w] = numbers;
        let orientation = DQuat::from_xyzw(i, j, k, w);
        run.push(past(Pose { position: DVec3::new(x, y, z), orientation }));
    }
    Some(run)
}

/// The positions of a run on foot.
fn take_on_foot(rest: &mut &[u8], count: usize) -> Option<Vec<[f64; ON_FOOT]>> {
    let (widths, after) = rest.split_at_checked(count * ON_FOOT)?;
    let left_open = |width: &u8| u64::from(width.saturating_sub(1));
    let length = widths.iter().map(left_open).sum::<u64>().div_ceil(8) as usize;
    let (bytes, after) = after.split_at_checked(length)?;
    *rest = after;
    let (mut bytes, mut waiting, mut known) = (bytes.iter(), 0_u64, 0_u32);
    let mut positions = vec![[0.0; ON_FOOT]; count];
    let mut widths = widths.iter().map(|width| u32::from(*width));
    for axis in 0..ON_FOOT {
        let mut before = Extrapolation::default();
        for position in &mut positions {
            let width = widths.next().filter(|&width| width <= u32::BITS)?;
            let open = width.saturating_sub(1);
            while known < open {
                waiting |= u64::from(*bytes.next()?) << known;
                known += 8;
            }
            let off = match width {
                0 => 0,
                _ => 1 << open | (waiting & ((1 << open) - 1)) as u32,
            };
            waiting >>= open;
            known -= open;
            let off = off >> 1 ^ (off & 1).wrapping_neg();
            let now = f32::from_bits(before.next().to_bits().wrapping_add(off));
            before.add(now);
            position[axis] = now.into();
        }
    }
    Some(positions)
}

fn take(rest: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in [0, 7, 14, 21, 28] {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        number |= u32::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The past of some players who run. One of the players comes later, one leaves, and one rolls
    /// over.
    fn past() -> VecDeque<Vec<PastPose>> {
        let mut random = Random::new(5);
        let mut number = move |most: u64| random.below(most) as f64;
        let pose_at = |tick: usize, slot: u16, number: &mut dyn FnMut(u64) -> f64| {
            let x = 100.0 - 5.3 * tick as f64 + number(100) / 1000.0;
            let position = DVec3::new(x, -x / 3.0, 24.0).as_vec3().as_dvec3();
            let turned = DQuat::from_xyzw(number(9), 1.0, number(9), 2.0).normalize();
            match slot {
                7 => Pose { position: position * 0.3, orientation: turned },
                _ => Pose::at(position),
            }
        };
        (0..KEPT)
            .map(|tick| {
                let here =
                    (1..9).filter(|&slot| (slot != 3 || tick < 9) && (slot != 4 || tick > 40));
                let poses = here.map(|slot| PastPose {
                    player: EntityId { slot, generation: u16::from(slot == 5 && tick < 20) },
                    shape: ShapeId(u16::from(slot == 6 && tick % 9 < 4)),
                    pose: pose_at(tick, slot, &mut number),
                });
                poses.collect()
            })
            .collect()
    }

    #[test]
    fn a_packed_history_unpacks_to_the_bit_and_is_short() {
        let mut ticks = past();
        let bytes = to_bytes(&ticks);
        assert_eq!(from_bytes(&bytes).as_ref(), Some(&ticks));
        // The player who rolls over takes 56 bytes a tick. Unpacked, each other player takes 24.
        let on_foot = bytes.len() - 56 * KEPT;
        assert!(on_foot < KEPT * 7 * 9, "{on_foot} bytes");
        ticks.truncate(1);
        assert_eq!(from_bytes(&to_bytes(&ticks)), Some(ticks));
        assert_eq!(from_bytes(&to_bytes(&VecDeque::new())), Some(VecDeque::new()));
    }

    #[test]
    fn values_that_cannot_be_extrapolated_come_back_too() {
        let odd = [f32::MAX, f32::MIN, -0.0, f32::MIN_POSITIVE, 1e-42, f32::MAX, 3.0];
        let past = |x: f32| PastPose {
            player: EntityId { slot: 2, generation: 1 },
            shape: ShapeId(0),
            pose: Pose::at(DVec3::splat(x.into())),
        };
        let ticks: VecDeque<Vec<PastPose>> = odd.map(|x| vec![past(x)]).into();
        let back = from_bytes(&to_bytes(&ticks)).expect("written ticks can be read");
        for (tick, x) in back.iter().zip(odd) {
            assert_eq!(tick[0].pose.position.x.to_bits(), f64::from(x).to_bits());
        }
    }

    #[test]
    fn bytes_that_nobody_wrote_are_refused() {
        let bytes = to_bytes(&past());
        assert_eq!(from_bytes(&[]), None);
        assert_eq!(from_bytes(&[KEPT as u8 + 1]), None);
        // The bytes may be cut off only between two runs, and a run may not come twice.
        let whole = (1..bytes.len()).filter(|&end| from_bytes(&bytes[..end]).is_some()).count();
        assert!(whole < 30, "{whole}");
        assert_eq!(from_bytes(&[&bytes[..], &bytes[1..]].concat()), None);
        // A run may not reach beyond the last tick.
        assert_eq!(from_bytes(&[1, 1, 1, 1, 2, 1, 0, 0, 0, 0]), None);
        assert!(from_bytes(&[1, 0, 1, 1, 2, 1, 0, 0, 0, 0]).is_some());
    }
}
