//! Scenes in the simulation under test.

use std::sync::Arc;

use glam::DVec3;
use obsp::model::{Material, Model};
use obsp::{CompileOptions, Source, Spaces, compile};
use obsp_sim::{Config, EntityId, World, WorldEvent};

use super::engine::{Engine, Told};
use super::scene::{Body, Drive, Scene};

/// The simulation that plays a scene.
pub struct Ours {
    world: World,
    ids: Vec<EntityId>,
    fault: Option<String>,
}

/// Sets a scene up in the simulation.
///
/// # Errors
/// The message of the part that refuses the scene: the compiler, a model or the match.
pub fn start(scene: &Scene) -> Result<Box<dyn Engine>, String> {
    let source = Source::from_text("scene", scene.map_text());
    let map = compile(&source, &Spaces::default(), &CompileOptions::default(), &mut |_, _, _| ())
        .map_err(|error| format!("the map is refused: {error}"))?
        .map;
    let models = scene.bodies.iter().enumerate().map(|(index, body)| model(index, body));
    let models = models.collect::<Result<Vec<_>, String>>()?;
    let config = Config { tick_rate: scene.rate, seed: 1, objects: 0, max_players: 1 };
    let mut world = World::new(Arc::new(map), models.into(), config)
        .map_err(|error| format!("the match is refused: {error}"))?;
    world.set_threads(scene.threads);
    world.set_budget(None);
    let mut ids = Vec::new();
    for (index, body) in scene.bodies.iter().enumerate() {
        let model = world.model(&name(index)).ok_or("the match lacks the model of a body")?;
        let rotation = scene.rotation();
        let id = world
            .spawn_body(model, scene.to_world(body.position), rotation * body.orientation)
            .map_err(|error| format!("body {index} is refused: {error}"))?;
        world
            .set_velocity(id, rotation * body.velocity, rotation * body.spin)
            .map_err(|error| format!("the velocity of body {index} is refused: {error}"))?;
        ids.push(id);
    }
    Ok(Box::new(Ours { world, ids, fault: None }))
}

fn name(index: usize) -> String {
    format!("body{index}")
}

fn model(index: usize, body: &Body) -> Result<Model, String> {
    let refused = |error: &dyn std::fmt::Display| format!("model {index} is refused: {error}");
    let model =
        Model::from_obj(&name(index), &body.solid.obj()).map_err(|error| refused(&error))?;
    let material =
        Material::new(body.friction, body.restitution).map_err(|error| refused(&error))?;
    let material = material.with_angular_damping(body.damping).map_err(|error| refused(&error))?;
    let model = model.with_material(material);
    Ok(if body.drive == Drive::Kinematic { model.as_kinematic() } else { model })
}

impl Engine for Ours {
    fn step(&mut self) {
        self.world.step(&[]);
        for event in self.world.events() {
            if let WorldEvent::Replaced { entity } = event {
                let tick = self.world.tick();
                self.fault =
                    Some(format!("tick {tick}: the simulation put {entity:?} into another place"));
            }
        }
    }

    fn told(&self, body: usize) -> Told {
        match self.world.entity(self.ids[body]) {
            Some(state) => Told {
                position: state.position,
                orientation: state.orientation,
                velocity: state.velocity,
                asleep: state.asleep,
            },
            None => Told {
                position: DVec3::NAN,
                orientation: glam::DQuat::IDENTITY,
                velocity: DVec3::ZERO,
                asleep: false,
            },
        }
    }

    fn set_velocity(&mut self, body: usize, linear: DVec3, angular: DVec3) {
        if let Err(error) = self.world.set_velocity(self.ids[body], linear, angular) {
            self.fault = Some(format!("the simulation refuses a velocity: {error}"));
        }
    }

    fn fault(&self) -> Option<String> {
        self.fault.clone()
    }
}
