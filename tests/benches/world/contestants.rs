//! The implementations that are compared, and the maps in the forms that they need.

use std::path::Path;

use glam::DVec3;
use obsp::body::{Cuboid, Cylinder, LEAST_EXTENT, Sphere};
use obsp::geometry::ConvexSolid;
use obsp::{CompileOptions, Map, Source, Spaces, Trace, compile};

use crate::melax::shifted;
use crate::peers::Peers;
use crate::workloads::{Segment, Workload};

type Cast<'a> = dyn Fn(&Segment) -> Option<f32> + 'a;

/// An implementation of traces. Its answer is the free fraction of the segment, `None` if all of
/// it is free.
pub(crate) struct Contestant<'a> {
    pub(crate) name: String,
    /// Whether this implementation moves another body than the other ones. Then its answers differ
    /// from theirs.
    pub(crate) other_body: bool,
    cast: Box<Cast<'a>>,
}

impl<'a> Contestant<'a> {
    pub(crate) fn new(
        name: impl Into<String>,
        cast: impl Fn(&Segment) -> Option<f32> + 'a,
    ) -> Self {
        Self { name: name.into(), other_body: false, cast: Box::new(cast) }
    }

    pub(crate) fn with_other_body(self) -> Self {
        Self { other_body: true, ..self }
    }

    pub(crate) fn cast(&self, segment: &Segment) -> Option<f32> {
        (self.cast)(segment)
    }

    pub(crate) fn share_of_hits(&self, segments: &[Segment]) -> f64 {
        let hits = segments.iter().filter(|s| self.cast(s).is_some()).count();
        hits as f64 / segments.len() as f64
    }

    /// Share of the segments on which both implementations stop within a tenth of a unit of each
    /// other.
    pub(crate) fn agreement(&self, other: &Self, segments: &[Segment]) -> f64 {
        let agree = |segment: &&Segment| {
            let free = |contestant: &Self| contestant.cast(segment).unwrap_or(1.0);
            (free(self) - free(other)).abs() * segment.0.distance(segment.1) < 0.1
        };
        segments.iter().filter(agree).count() as f64 / segments.len() as f64
    }
}

/// A map in all the forms that are compared.
pub(crate) struct Subject {
    world: Map,
    /// For each of `world`'s sizes, the map compiled for that size alone.
    separate: Vec<Map>,
    peers: Peers,
    peers_of_rays: Peers,
}

impl Subject {
    pub(crate) fn read(path: &Path) -> Self {
        let source = Source::read(path).unwrap_or_else(|error| panic!("{error}"));
        let compiled = |spaces: &Spaces| {
            let compiled = compile(&source, spaces, &CompileOptions::default(), &mut |_, _, _| ());
            compiled.unwrap_or_else(|error| panic!("{error}")).map
        };
        let spaces = Spaces::default();
        let world = compiled(&spaces);
        let alone = |size: &obsp::Size| {
            compiled(&Spaces::new(vec![size.clone()]).expect("a list of one valid size is valid"))
        };
        let separate = spaces.sizes().iter().map(alone).collect();
        // Brushes that are solid for boxes only do not stop rays.
        let point = world.size("point").expect("the default sizes hold the point");
        let rays_stop = |solid: &&ConvexSolid| {
            let centre = solid.centre();
            let within = |v: &DVec3| world.is_solid(point, centre.lerp(*v, 0.9).as_vec3());
            solid.vertices().iter().all(within)
        };
        let peers = Peers::new(world.solids());
        let peers_of_rays = Peers::new(world.solids().iter().filter(rays_stop));
        Self { separate, peers, peers_of_rays, world }
    }

    pub(crate) fn world(&self) -> &Map {
        &self.world
    }

    pub(crate) fn description(&self) -> String {
        let counts = self.world.counts();
        let alone = self.separate.iter().map(|world| world.counts().onion_nodes.to_string());
        format!(
            "{}: {} solids, {} nodes for {} sizes, {} for each alone",
            self.world.name(),
            counts.solids,
            counts.onion_nodes,
            self.separate.len(),
            alone.collect::<Vec<_>>().join(" + ")
        )
    }

    /// All implementations for this workload; the onion first.
    pub(crate) fn contestants(&self, workload: &Workload) -> Vec<Contestant<'_>> {
        let size = self.world.size(workload.space).expect("the segments were made for this size");
        let size_in_units = &self.world.sizes()[size.index()];
        let peers = if size_in_units.is_point() { &self.peers_of_rays } else { &self.peers };
        let mut all = vec![
            onion("onion BSP of all sizes", &self.world, workload.space),
            onion("BSP of this size alone", &self.separate[size.index()], workload.space),
        ];
        let half_extents = size_in_units.half_extents;
        if let Ok(cuboid) = Cuboid::new(half_extents) {
            let sphere = Sphere::new(half_extents.z).expect("its extents are those of the cuboid");
            let cylinder = Cylinder::new(half_extents.x, half_extents.z)
                .expect("its extents are those of the cuboid");
            all.push(shifted("shifted planes, box", &self.world, cuboid));
            all.push(shifted("shifted planes, sphere", &self.world, sphere).with_other_body());
            all.push(shifted("shifted planes, cylinder", &self.world, cylinder).with_other_body());
        } else {
            let least = Sphere::new(LEAST_EXTENT).expect("the least extent is allowed");
            all.push(shifted("shifted planes, least sphere", &self.world, least));
        }
        all.extend(peers.contestants(half_extents));
        all
    }
}

/// A world's onion BSP, for one of its sizes.
pub(crate) fn onion<'a>(name: &str, world: &'a Map, space: &str) -> Contestant<'a> {
    let size = world.size(space).expect("the map was compiled for this size");
    Contestant::new(name, move |&(start, end)| {
        match world.find_first_transition(size, start, end) {
            Trace::Clear => None,
            Trace::Hit(hit) => Some(hit.time),
            Trace::StartSolid => Some(0.0),
        }
    })
}
