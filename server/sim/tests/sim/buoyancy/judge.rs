//! The judge: volume and potential energy of the part of a body below a level, by sums over the
//! triangles of a surface. The divergence theorem turns both into integrals of a power of the depth
//! over the surface, which have a closed form for each triangle. So no body is cut.

use glam::{DQuat, DVec3};
use obsp::model::Model;

/// A closed surface, as triangles about the centre of mass.
pub(crate) struct Surface {
    triangles: Vec<[DVec3; 3]>,
}

/// The part of a surface that is below a level.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Below {
    /// Cubic units.
    pub(crate) volume: f64,
    /// The integral of the depth over the volume below, in units⁴.
    pub(crate) depths: f64,
}

impl Surface {
    /// The surface of a model, by its faces.
    pub(crate) fn of(model: &Model) -> Self {
        let fan = |corners: &[DVec3]| {
            (2..corners.len()).map(|i| [corners[0], corners[i - 1], corners[i]]).collect::<Vec<_>>()
        };
        let faces = model.polygons().iter();
        Self { triangles: faces.flat_map(|face| fan(&face.winding.vertices)).collect() }
    }

    fn heights(&self, turn: DQuat) -> impl Iterator<Item = [DVec3; 3]> {
        self.triangles.iter().map(move |corners| corners.map(|corner| turn * corner))
    }

    /// The lowest and the highest point, relative to the centre of mass.
    pub(crate) fn extent(&self, turn: DQuat) -> [f64; 2] {
        let heights = || self.heights(turn).flatten().map(|corner| corner.z);
        [heights().fold(f64::MAX, f64::min), heights().fold(f64::MIN, f64::max)]
    }

    /// The part below `level` of the body turned by `turn`, with its centre of mass at `height`.
    pub(crate) fn below(&self, turn: DQuat, height: f64, level: f64) -> Below {
        let mut sum = Below::default();
        for [a, b, c] in self.heights(turn) {
            // The area that the triangle covers in the plan; negative on the underside.
            let plan = 0.5 * ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
            let over = [a.z, b.z, c.z].map(|z| z + height - level);
            let [first, second] = negative_powers(over);
            sum.volume += plan * first;
            sum.depths -= plan * second / 2.0;
        }
        sum
    }

    /// The level, relative to the centre of mass, below which there are `volume` cubic units.
    pub(crate) fn level(&self, turn: DQuat, volume: f64) -> f64 {
        let [mut low, mut high] = self.extent(turn);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.below(turn, 0.0, middle).volume < volume { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

/// The means over a triangle of the first and the second power of a linear function where it is
/// negative. At the corners it is `over`.
fn negative_powers(over: [f64; 3]) -> [f64; 2] {
    let [a, b, c] = over;
    let mean = (a + b + c) / 3.0;
    let square = (a * a + b * b + c * c + a * b + b * c + c * a) / 6.0;
    // A corner whose sign differs from that of the other two cuts off a triangle.
    let alone = |d: f64, [e, f]: [f64; 2]| {
        let share = d / (d - e) * (d / (d - f));
        [share * d / 3.0, share * d * d / 6.0]
    };
    let others = [[b, c], [a, c], [a, b]];
    let find = |is: fn(f64) -> bool| (0..3).find(|&i| is(over[i]));
    match over.iter().filter(|&&d| d < 0.0).count() {
        0 => [0.0; 2],
        1 => find(|d| d < 0.0).map_or([0.0; 2], |i| alone(over[i], others[i])),
        2 => {
            let [first, second] =
                find(|d| d >= 0.0).map_or([0.0; 2], |i| alone(over[i], others[i]));
            [mean - first, square - second]
        }
        _ => [mean, square],
    }
}

#[test]
fn the_judge_knows_a_box() {
    let model = Model::cuboid("box", DVec3::new(10.0, 20.0, 4.0)).unwrap();
    let surface = Surface::of(&model);
    for depth in [0.0, 1.0, 5.0, 8.0] {
        let below = surface.below(DQuat::IDENTITY, 4.0 - depth, 0.0);
        assert!((below.volume - 800.0 * depth).abs() < 1e-9, "{depth}: {below:?}");
        assert!((below.depths - 400.0 * depth * depth).abs() < 1e-8, "{depth}: {below:?}");
    }
    // Turned about any axis, half of it is below its middle.
    let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.3, 0.8, 0.1);
    assert!((surface.below(turn, 0.0, 0.0).volume - 3200.0).abs() < 1e-9);
    assert!(surface.level(turn, 3200.0).abs() < 1e-9);
}
