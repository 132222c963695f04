//! The entities: spawn points, props, triggers and movers.

use glam::{DQuat, DVec2, DVec3};
use obsp::model::{Model, shipped};
use obsp::{Map, MapEntity};

use super::canvas::{Canvas, Colour};
use super::view::View;

const INK: Colour = [24, 24, 28];

/// Half the width of a player, in units.
const PLAYER: f64 = 16.0;

/// The kind of an entity in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntityKind {
    Spawn,
    Prop,
    Push,
    Teleport,
    Arrival,
    Trigger,
    Mover,
}

impl EntityKind {
    pub(super) const ALL: [Self; 7] = [
        Self::Spawn,
        Self::Prop,
        Self::Push,
        Self::Teleport,
        Self::Arrival,
        Self::Trigger,
        Self::Mover,
    ];

    fn of(entity: &MapEntity) -> Option<Self> {
        match entity.classname() {
            "prop" => Some(Self::Prop),
            "trigger_push" => Some(Self::Push),
            "trigger_teleport" => Some(Self::Teleport),
            "info_teleport_destination" => Some(Self::Arrival),
            name if name.starts_with("info_player_") => Some(Self::Spawn),
            name if name.starts_with("trigger_") => Some(Self::Trigger),
            _ if !entity.solids().is_empty() => Some(Self::Mover),
            _ => None,
        }
    }

    /// The name for `count` entities of this kind.
    pub(super) fn name(self, count: usize) -> &'static str {
        let [one, many] = match self {
            Self::Spawn => ["spawn point", "spawn points"],
            Self::Prop => ["prop", "props"],
            Self::Push => ["jump pad", "jump pads"],
            Self::Teleport => ["teleporter", "teleporters"],
            Self::Arrival => ["teleport destination", "teleport destinations"],
            Self::Trigger => ["other trigger", "other triggers"],
            Self::Mover => ["other brush entity", "other brush entities"],
        };
        if count == 1 { one } else { many }
    }

    pub(super) fn colour(self) -> Colour {
        match self {
            Self::Spawn => [30, 160, 70],
            Self::Prop => [230, 130, 30],
            Self::Push => [245, 205, 20],
            Self::Teleport => [140, 70, 210],
            Self::Arrival => [185, 140, 235],
            Self::Trigger => [90, 170, 230],
            Self::Mover => [150, 120, 100],
        }
    }

    /// Draws a sample for the legend, `half` pixels to every side.
    pub(super) fn sample(self, canvas: &mut Canvas, centre: DVec2, half: f64) {
        match self {
            Self::Spawn | Self::Arrival => {
                standing(canvas, centre, half, self.colour(), Some(DVec2::X));
            }
            _ => area(canvas, &square(centre, half), self.colour()),
        }
    }
}

/// Draws entities below the cut, and returns the number of each kind.
pub(super) fn paint(
    canvas: &mut Canvas,
    view: &View,
    map: &Map,
    cut: Option<f64>,
) -> Vec<(EntityKind, usize)> {
    let models = shipped();
    let visible = |entity: &MapEntity| {
        let height = lowest(entity);
        cut.is_none_or(|cut| height.is_none_or(|height| height < cut))
    };
    let known = map.entities().iter().filter(|entity| visible(entity));
    let known: Vec<(EntityKind, &MapEntity)> =
        known.filter_map(|entity| Some((EntityKind::of(entity)?, entity))).collect();
    // Areas are drawn first, so that entities inside them are visible.
    let order = |kind: EntityKind| {
        matches!(kind, EntityKind::Spawn | EntityKind::Arrival | EntityKind::Prop)
    };
    for (kind, entity) in known.iter().filter(|(kind, _)| !order(*kind)) {
        for solid in entity.solids() {
            let corners = solid.vertices().iter().map(|v| view.picture(*v));
            area(canvas, &hull(corners.collect()), kind.colour());
        }
    }
    for (kind, entity) in &known {
        if let (false, Some(from), Some(to)) = (order(*kind), middle(entity), target(map, entity)) {
            canvas.dashes(view.picture(from), view.picture(to), 1.5, kind.colour());
            canvas.disc(view.picture(to), 3.0, kind.colour());
        }
    }
    for (kind, entity) in known.iter().filter(|(kind, _)| order(*kind)) {
        let Some(origin) = entity.origin() else { continue };
        let at = view.picture(origin);
        if *kind == EntityKind::Prop {
            let corners = footprint(&models, entity, origin).into_iter().map(|p| view.picture(p));
            area(canvas, &hull(corners.collect()), kind.colour());
        } else {
            let angle = entity.angle().unwrap_or(0.0);
            let heading = DVec2::new(angle.cos(), -angle.sin());
            standing(canvas, at, view.pixels(PLAYER).max(4.0), kind.colour(), Some(heading));
        }
    }
    EntityKind::ALL
        .into_iter()
        .map(|kind| (kind, known.iter().filter(|(other, _)| *other == kind).count()))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// The height of an entity's lowest point.
fn lowest(entity: &MapEntity) -> Option<f64> {
    let solids = entity.solids().iter().map(|solid| solid.bounds().min.z);
    solids.chain(entity.origin().map(|origin| origin.z)).reduce(f64::min)
}

fn middle(entity: &MapEntity) -> Option<DVec3> {
    entity.solids().first().map(|solid| solid.bounds().centre())
}

/// The position of the entity that is the target of `entity`.
fn target(map: &Map, entity: &MapEntity) -> Option<DVec3> {
    let name = entity.get("target")?;
    map.entities().iter().find(|other| other.get("targetname") == Some(name))?.origin()
}

/// The corners of a prop's model at its position in the map.
fn footprint(models: &[Model], prop: &MapEntity, origin: DVec3) -> Vec<DVec3> {
    let turn = DQuat::from_rotation_z(prop.angle().unwrap_or(0.0));
    match models.iter().find(|model| prop.get("model") == Some(model.name())) {
        Some(model) => {
            let vertices = model.parts().iter().flat_map(|part| part.vertices());
            vertices.map(|vertex| origin + turn * *vertex).collect()
        }
        // An unknown model is drawn as a small square.
        None => [(-8.0, -8.0), (8.0, -8.0), (8.0, 8.0), (-8.0, 8.0)]
            .map(|(x, y)| origin + DVec3::new(x, y, 0.0))
            .to_vec(),
    }
}

/// Draws a player's square and the direction of view.
fn standing(canvas: &mut Canvas, at: DVec2, half: f64, colour: Colour, heading: Option<DVec2>) {
    let corners = square(at, half);
    canvas.polygon(&corners, colour, 0.9);
    canvas.outline(&corners, 1.0, INK);
    if let Some(heading) = heading {
        canvas.arrow(
            at - heading * (half * 0.6),
            at + heading * (half * 0.7),
            1.6,
            [255, 255, 255],
        );
    }
}

fn area(canvas: &mut Canvas, corners: &[DVec2], colour: Colour) {
    canvas.polygon(corners, colour, 0.7);
    canvas.outline(corners, 1.0, INK);
}

fn square(centre: DVec2, half: f64) -> [DVec2; 4] {
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .map(|(x, y)| centre + DVec2::new(x, y) * half)
}

/// The corners of the convex hull of `points`, in order (Andrew's monotone chain).
fn hull(mut points: Vec<DVec2>) -> Vec<DVec2> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    let chain = |points: &mut dyn Iterator<Item = DVec2>| {
        let mut chain: Vec<DVec2> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..]
                && (b - a).perp_dot(point - b) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut corners = chain(&mut points.iter().copied());
    corners.extend(chain(&mut points.iter().rev().copied()));
    corners
}
