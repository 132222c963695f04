//! Random places: pits, shafts and creases of flat and steep sides, and gullies with a ridge in
//! them, with ledges, stairs, ceilings and props. Each stands on a floor of its own in a grid, so
//! that one world holds a hundred of them.

use std::fmt::Write;

use glam::{DVec2, DVec3};
use obsp_sim::Random;

/// Distance between the centres of neighbouring places, in units: no place is wider.
pub(crate) const SPACING: f64 = 1024.0;

/// Thickness of the sides of a place at their top, in units.
const RIM: f64 = 64.0;

/// Half of the width of the widest side, in units: so small that no place reaches into another.
const WIDEST: f64 = 460.0;

/// A place and its parts.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Description of the place, for the reader of a failure.
    pub(crate) what: String,
    pub(crate) centre: DVec2,
    /// The map text of the place's brushes.
    pub(crate) brushes: String,
    /// The place's props, by model and position.
    pub(crate) props: Vec<(&'static str, DVec3)>,
    /// The first position of the player: the centre of the box.
    pub(crate) start: DVec3,
    /// Height of the highest side.
    pub(crate) top: f64,
    /// Distance from the middle beyond which a player has left the place.
    pub(crate) radius: f64,
}

/// A side of a pit. Its foot is `foot` units from the middle, in the direction `turn`, in radians.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) turn: f64,
    pub(crate) foot: f64,
    /// The angle of the side's slope; 90 for a wall.
    pub(crate) degrees: f64,
    pub(crate) height: f64,
    /// Half of the side's angle as seen from the middle, in radians.
    pub(crate) half_angle: f64,
}

impl Side {
    fn across(&self) -> f64 {
        self.height / self.degrees.to_radians().tan()
    }
}

/// A half-space by a point in its face and the normal that points out of the brush.
type Plane = (DVec3, DVec3);

/// A brush by its planes. Quake winds the points of a face clockwise as seen from outside.
fn brush(planes: &[Plane]) -> String {
    let mut text = "{\n".to_owned();
    for (at, normal) in planes {
        let (first, second) = normal.normalize().any_orthonormal_pair();
        let (first, second) =
            if first.cross(second).dot(*normal) > 0.0 { (first, second) } else { (second, first) };
        for point in [*at, *at + second * 64.0, *at + first * 64.0] {
            let _ = write!(text, "( {:.4} {:.4} {:.4} ) ", point.x, point.y, point.z);
        }
        text += "plain 0 0 0 1 1\n";
    }
    text + "}\n"
}

/// A box brush.
pub(crate) fn block(min: DVec3, max: DVec3) -> String {
    let planes = [DVec3::X, DVec3::Y, DVec3::Z].into_iter();
    let planes: Vec<Plane> = planes.flat_map(|axis| [(max, axis), (min, -axis)]).collect();
    brush(&planes)
}

/// The horizontal unit vector in a direction, in radians.
pub(crate) fn towards(turn: f64) -> DVec3 {
    DVec3::new(turn.cos(), turn.sin(), 0.0)
}

/// The brush of a side of the pit around `middle`, which is on its floor.
fn side(middle: DVec3, side: &Side) -> String {
    let Side { turn, foot, degrees, height, half_angle } = *side;
    let (out, tilt) = (towards(turn), degrees.to_radians());
    let inner = DVec3::Z * tilt.cos() - out * tilt.sin();
    let (left, right) = (turn + half_angle, turn - half_angle);
    let aside = towards(turn + std::f64::consts::FRAC_PI_2);
    brush(&[
        (middle + aside * WIDEST, aside),
        (middle - aside * WIDEST, -aside),
        (middle + out * foot, inner),
        (middle + DVec3::Z * height, DVec3::Z),
        (middle - DVec3::Z * 16.0, -DVec3::Z),
        (middle + out * (foot + side.across() + RIM), out),
        (middle, DVec3::new(-left.sin(), left.cos(), 0.0)),
        (middle, DVec3::new(right.sin(), -right.cos(), 0.0)),
    ])
}

/// A box turned about the vertical. `at` is the middle of its lower face.
fn turned_block(at: DVec3, turn: f64, half: DVec2, height: f64) -> String {
    let (along, aside) = (towards(turn), towards(turn + std::f64::consts::FRAC_PI_2));
    brush(&[
        (at + along * half.x, along),
        (at - along * half.x, -along),
        (at + aside * half.y, aside),
        (at - aside * half.y, -aside),
        (at + DVec3::Z * height, DVec3::Z),
        (at - DVec3::Z * 4.0, -DVec3::Z),
    ])
}

/// A ridge across the middle, with flanks of this angle. It makes a gully in the form of a V into a
/// W.
fn ridge(middle: DVec3, turn: f64, degrees: f64, height: f64) -> String {
    let (along, aside) = (towards(turn), towards(turn + std::f64::consts::FRAC_PI_2));
    let (sin, cos) = degrees.to_radians().sin_cos();
    brush(&[
        (middle + DVec3::Z * height, along * sin + DVec3::Z * cos),
        (middle + DVec3::Z * height, DVec3::Z * cos - along * sin),
        (middle + aside * 300.0, aside),
        (middle - aside * 300.0, -aside),
        (middle - DVec3::Z * 8.0, -DVec3::Z),
    ])
}

/// A pit with these sides around the middle of its floor.
pub(crate) fn pit(what: String, centre: DVec2, sides: &[Side]) -> Place {
    let middle = centre.extend(0.0);
    let half = DVec3::new(SPACING / 2.0, SPACING / 2.0, 0.0);
    let mut brushes = block(middle - half - DVec3::Z * 16.0, middle + half);
    brushes.extend(sides.iter().map(|one| side(middle, one)));
    let reach = |one: &Side| one.foot + one.across();
    let radius = sides.iter().map(reach).fold(0.0, f64::max) + 24.0;
    let top = sides.iter().map(|one| one.height).fold(0.0, f64::max);
    let start = middle + DVec3::Z * (top + 40.0);
    Place { what, centre, brushes, props: Vec::new(), start, top, radius }
}

/// Sides all around. `of` returns foot, degrees and height of each by its index.
pub(crate) fn around(count: u32, turn: f64, of: impl Fn(u32) -> (f64, f64, f64)) -> Vec<Side> {
    let share = std::f64::consts::TAU / f64::from(count);
    // Sides may reach behind their neighbours, so that no gap is left between them.
    let half_angle = (share / 2.0 + 0.15).min(1.5);
    let side = |index: u32| {
        let (foot, degrees, height) = of(index);
        Side { turn: turn + share * f64::from(index), foot, degrees, height, half_angle }
    };
    (0..count).map(side).collect()
}

/// A random place around `centre`.
pub(crate) fn random_place(random: &mut Random, centre: DVec2) -> Place {
    let count = 2 + random.below(7) as u32;
    let turn = random.between(0.0, std::f64::consts::TAU);
    let alike = random.below(2) == 0;
    let steep = random.below(3) > 0;
    let (degrees, foot) = (random.between(46.0, 89.0), random.between(0.0, 40.0));
    let height = random.between(12.0, 160.0);
    let numbers: Vec<(f64, f64, f64)> = (0..count)
        .map(|_| {
            let least = if steep { 46.0 } else { 20.0 };
            let own = random.between(least, 92.0).min(90.0);
            let (own, far) = (own, random.between(0.0, 60.0));
            if alike { (foot, degrees, height) } else { (far, own, height) }
        })
        .collect();
    // Flat and high slopes are made steeper, so that the place does not outgrow its floor.
    let numbers = numbers.into_iter().map(|(foot, degrees, height): (f64, f64, f64)| {
        let across = height / degrees.to_radians().tan();
        if across > 150.0 { (foot, degrees.max(60.0), height) } else { (foot, degrees, height) }
    });
    let numbers: Vec<_> = numbers.collect();
    let mut sides = around(count, turn, |index| numbers[index as usize]);
    let mut what = format!("{sides:.1?}");
    if count > 3 && random.below(5) == 0 {
        sides.pop();
        what += ", the last one open";
    }
    let mut place = pit(what, centre, &sides);
    furnish(random, &mut place, height);
    place
}

/// Puts ridges, ledges, stairs, a ceiling and props into a place of this height.
fn furnish(random: &mut Random, place: &mut Place, height: f64) {
    let middle = place.centre.extend(0.0);
    let turn = random.between(0.0, std::f64::consts::TAU);
    if random.below(4) == 0 {
        let (degrees, high) = (random.between(46.0, 85.0), random.between(4.0, 40.0));
        place.brushes += &ridge(middle, turn, degrees, high);
        let _ = write!(place.what, ", ridge {high:.1} high at {turn:.2} of {degrees:.1} degrees");
    }
    for _ in 0..random.below(3) {
        let (at, high) = (random.between(0.0, std::f64::consts::TAU), random.between(4.0, 70.0));
        let (off, half) = (random.between(20.0, 70.0), random.between(4.0, 24.0));
        let corner = middle + towards(at) * (off + half);
        place.brushes += &turned_block(corner, at, DVec2::splat(half), high);
        let _ =
            write!(place.what, ", block {high:.1} high, {half:.1} wide, {off:.1} off at {at:.2}");
    }
    if random.below(4) == 0 {
        let (rise, run) = (random.between(6.0, 26.0), random.between(6.0, 40.0));
        for step in 0..6 {
            let (off, high) = (20.0 + run * (f64::from(step) + 0.5), rise * f64::from(step + 1));
            let at = middle + towards(turn) * off;
            place.brushes += &turned_block(at, turn, DVec2::new(run / 2.0, 24.0), high);
        }
        let _ = write!(place.what, ", stairs at {turn:.2} of {rise:.1} by {run:.1}");
    }
    if random.below(5) == 0 {
        let above = height + random.between(20.0, 80.0);
        let half = DVec3::new(300.0, 300.0, 0.0);
        let lower = middle - half + DVec3::Z * above;
        place.brushes += &block(lower, middle + half + DVec3::Z * (above + 16.0));
        place.start.z = (above - 30.0).min(place.start.z);
        let _ = write!(place.what, ", ceiling at {above:.1}");
    }
    for prop in 0..random.below(4) {
        let model = ["small_crate", "crate", "barrel", "plank"][random.below(4) as usize];
        let off = towards(random.between(0.0, std::f64::consts::TAU)) * random.between(0.0, 60.0);
        let above = place.start.z.min(height) + 50.0 + 40.0 * prop as f64;
        place.props.push((model, middle + off + DVec3::Z * above));
        let _ = write!(place.what, ", a {model} at {off:.1}");
    }
}

/// The `.map` text of places.
pub(crate) fn map_of(places: &[Place]) -> String {
    let brushes: String = places.iter().map(|place| place.brushes.as_str()).collect();
    // The spawn point is on a floor of its own, away from all places.
    let aside = DVec3::new(-9.0 * SPACING, -9.0 * SPACING, 0.0);
    let floor =
        block(aside - DVec3::new(200.0, 200.0, 16.0), aside + DVec3::new(200.0, 200.0, 0.0));
    format!(
        "{{\n\"classname\" \"worldspawn\"\n{floor}{brushes}}}\n{{\n\"classname\" \
         \"info_player_start\"\n\"origin\" \"{} {} 25\"\n}}\n",
        aside.x, aside.y
    )
}
