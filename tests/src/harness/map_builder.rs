//! A builder of the small maps of tests.

use std::fmt::Write;

use glam::IVec3;

/// Builds the `.map` text of a test's map from boxes, wedges and point entities.
#[derive(Clone, Debug, Default)]
pub struct MapBuilder {
    brushes: String,
    entities: String,
}

impl MapBuilder {
    /// A map with a floor at height zero, 2,048 units square about the origin, and one spawn point
    /// above its corner.
    pub fn floor() -> Self {
        Self::default()
            .block([-1024, -1024, -32], [1024, 1024, 0])
            .entity(&[("classname", "info_player_start"), ("origin", "-900 -900 25")])
    }

    /// Adds a box brush.
    #[must_use]
    pub fn block(self, min: [i32; 3], max: [i32; 3]) -> Self {
        self.block_of("plain", min, max)
    }

    /// Adds a box of water.
    #[must_use]
    pub fn water(self, min: [i32; 3], max: [i32; 3]) -> Self {
        self.block_of("*water", min, max)
    }

    fn block_of(self, texture: &str, min: [i32; 3], max: [i32; 3]) -> Self {
        let (a, b) = (IVec3::from(min), IVec3::from(max));
        let face = |at: IVec3, first: IVec3, second: IVec3| [at, at + first, at + second];
        let (x, y, z) = (IVec3::X, IVec3::Y, IVec3::Z);
        let planes = [
            face(b, y, z),
            face(a, z, y),
            face(b, z, x),
            face(a, x, z),
            face(b, x, y),
            face(a, y, x),
        ];
        self.brush_of(texture, &planes)
    }

    /// Adds a ramp that rises along +X from the floor of the box to its top.
    #[must_use]
    pub fn ramp(self, min: [i32; 3], max: [i32; 3]) -> Self {
        let (a, b) = (IVec3::from(min), IVec3::from(max));
        let (x, y, z) = (IVec3::X, IVec3::Y, IVec3::Z);
        let slope = [a, IVec3::new(b.x, a.y, b.z), a + y];
        let face = |at: IVec3, first: IVec3, second: IVec3| [at, at + first, at + second];
        self.brush(&[slope, face(b, y, z), face(b, z, x), face(a, x, z), face(a, y, x)])
    }

    /// Adds a brush entity that is one box.
    #[must_use]
    pub fn volume(mut self, pairs: &[(&str, &str)], min: [i32; 3], max: [i32; 3]) -> Self {
        let keys: String =
            pairs.iter().map(|(key, value)| format!("\"{key}\" \"{value}\"\n")).collect();
        let brush = Self::default().block(min, max).brushes;
        let _ = write!(self.entities, "{{\n{keys}{brush}}}\n");
        self
    }

    /// Adds a brush by its planes. Each is given by three points such that
    /// `(second − first) × (third − first)` points outward.
    #[must_use]
    pub fn brush(self, planes: &[[IVec3; 3]]) -> Self {
        self.brush_of("plain", planes)
    }

    fn brush_of(mut self, texture: &str, planes: &[[IVec3; 3]]) -> Self {
        self.brushes.push_str("{\n");
        for [first, second, third] in planes {
            // Quake winds its points clockwise from outside.
            for point in [first, third, second] {
                let _ = write!(self.brushes, "( {} {} {} ) ", point.x, point.y, point.z);
            }
            let _ = writeln!(self.brushes, "{texture} 0 0 0 1 1");
        }
        self.brushes.push_str("}\n");
        self
    }

    /// Adds a point entity.
    #[must_use]
    pub fn entity(mut self, pairs: &[(&str, &str)]) -> Self {
        self.entities.push_str("{\n");
        for (key, value) in pairs {
            let _ = writeln!(self.entities, "\"{key}\" \"{value}\"");
        }
        self.entities.push_str("}\n");
        self
    }

    /// Adds a prop with its centre of mass at `origin`.
    #[must_use]
    pub fn prop(self, model: &str, origin: [f64; 3], angle: f64) -> Self {
        let origin = format!("{} {} {}", origin[0], origin[1], origin[2]);
        self.entity(&[
            ("classname", "prop"),
            ("model", model),
            ("origin", &origin),
            ("angle", &angle.to_string()),
        ])
    }

    /// Replaces all point entities by one spawn point, for the only player of a test, whose feet
    /// are at `feet`.
    #[must_use]
    pub fn spawn(mut self, feet: [i32; 3]) -> Self {
        self.entities.clear();
        let origin = format!("{} {} {}", feet[0], feet[1], feet[2] + 24);
        self.entity(&[("classname", "info_player_start"), ("origin", &origin)])
    }

    /// Adds a spawn point for players whose feet are at `feet`.
    #[must_use]
    pub fn spawn_point(self, feet: [i32; 3]) -> Self {
        let origin = format!("{} {} {}", feet[0], feet[1], feet[2] + 24);
        self.entity(&[("classname", "info_player_deathmatch"), ("origin", &origin)])
    }

    /// The `.map` text.
    pub fn text(&self) -> String {
        format!("{{\n\"classname\" \"worldspawn\"\n{}}}\n{}", self.brushes, self.entities)
    }

    /// Compiles the map for the default sizes.
    ///
    /// # Panics
    /// If the map does not compile.
    pub fn compile(&self) -> obsp::Map {
        let source = obsp::Source::from_text("drawing", self.text());
        let compiled = obsp::compile(
            &source,
            &obsp::Spaces::default(),
            &obsp::CompileOptions { strict: true, ..obsp::CompileOptions::default() },
            &mut |_, _, _| {},
        );
        compiled.unwrap_or_else(|error| panic!("{error}")).map
    }
}
