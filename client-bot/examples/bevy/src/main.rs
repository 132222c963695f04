//! A match played in Bevy: the client library decodes, predicts and interpolates, and Bevy
//! draws what its view contains. Mouse to look, WASD to run, space to jump, control to crouch,
//! left button to shoot, escape to release the mouse.
//!
//! ```text
//! cargo run -p server -- --map arena.obsp          # in the root of the repository
//! cargo run -- [SERVER [FINGERPRINT]]              # here
//! ```
//!
//! If no server is named, the example joins the one at 127.0.0.1:4433. For a server on another
//! machine, give the fingerprint of its certificate, which it prints when it starts.

mod hints;

use std::collections::HashMap;
use std::error::Error;
use std::f32::consts::{FRAC_PI_2, TAU};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy::asset::RenderAssetUsages;
use bevy::camera::visibility::NoFrustumCulling;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::input::mouse::AccumulatedMouseMotion;
use bevy::mesh::PrimitiveTopology;
use bevy::prelude::*;
use bevy::window::{CursorGrabMode, CursorOptions, PrimaryWindow};
use obsp::geometry::Polygon;
use obsp_client::quic::{MapStore, ServerAddress, SocketThread, Trust};
use obsp_client::{Client, ConnectionEvent, Credentials, LoadedMap};
use obsp_proto::Time as MatchTime;
use obsp_proto::control::{MapHash, MatchEvent, PlayerName};
use obsp_sim::{Buttons, Command as Input, EntityId, Kind, Posture};

/// Radians of a turn for each pixel that the mouse moves.
const SENSITIVITY: f32 = 0.002;

/// Units from the middle of a standing and a crouching player up to the eyes, in the arena.
const EYES: [f32; 2] = [22.0, 10.0];

/// How long a toast is shown.
const TOAST: Duration = Duration::from_secs(4);

fn main() -> ExitCode {
    match Match::join() {
        Ok(joined) => {
            App::new()
                .add_plugins(DefaultPlugins)
                .insert_resource(joined)
                .insert_resource(ClearColor(Color::srgb(0.45, 0.6, 0.75)))
                .init_resource::<Bodies>()
                .add_systems(Startup, set_up)
                .add_systems(Update, (look, exchange, draw_map, draw_bodies, follow, tell).chain())
                .run();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cannot join: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The connection, the client behind it, and the player's input.
#[derive(Resource)]
struct Match {
    start: Instant,
    socket: SocketThread,
    client: Client,
    /// The direction of the view, in radians: the heading and the elevation.
    yaw: f32,
    pitch: f32,
    /// Keys that were pressed since the last tick. Without them, a key that is released again
    /// before the next tick would be missed.
    pressed: Buttons,
    /// The latest toast of the game's events, and when it came.
    toast: Option<(Instant, String)>,
}

impl Match {
    fn join() -> Result<Self, Box<dyn Error>> {
        let mut arguments = std::env::args().skip(1);
        let server: ServerAddress =
            arguments.next().as_deref().unwrap_or("127.0.0.1:4433").parse()?;
        let trust = match arguments.next() {
            Some(fingerprint) => Trust::Pin(fingerprint.parse()?),
            None => Trust::Loopback,
        };
        let socket = SocketThread::connect(server, trust, Arc::new(MapStore::default()))?;
        let (name, credentials) = (PlayerName::new("bevy")?, Credentials::default());
        let client = Client::new(&name, MapHash::ANY, &credentials, MatchTime::ZERO);
        let (yaw, pitch, pressed) = (0.0, 0.0, Buttons::default());
        Ok(Self { start: Instant::now(), socket, client, yaw, pitch, pressed, toast: None })
    }

    fn now(&self) -> MatchTime {
        MatchTime::since_start(self.start.elapsed())
    }
}

impl Drop for Match {
    /// Says goodbye, so that the server does not wait for the player to come back.
    fn drop(&mut self) {
        self.client.leave();
        self.socket.transmit(&mut self.client);
    }
}

/// The space of the match, in which +Z is up; Bevy's up is +Y.
#[derive(Component)]
struct MatchSpace;

/// The drawn entities, by their slot in the match, each with its team if it has one.
#[derive(Resource, Default)]
struct Bodies {
    shown: HashMap<u16, (EntityId, Option<i32>, Entity)>,
    meshes: HashMap<Kind, Handle<Mesh>>,
}

/// Marks the entity that draws the polygons of the map with this hash.
#[derive(Component)]
struct Map(MapHash);

fn set_up(mut commands: Commands) {
    let upright = Transform::from_rotation(Quat::from_rotation_x(-FRAC_PI_2));
    let lens = PerspectiveProjection { fov: 1.2, near: 1.0, far: 16_384.0, ..default() };
    let sun = DirectionalLight { illuminance: 5_000.0, ..default() };
    let sky = AmbientLight { brightness: 500.0, ..default() };
    commands.insert_resource(sky);
    commands.spawn((MatchSpace, upright, Visibility::default())).with_children(|space| {
        // Other kinds of tone mapping need compressed tables, and a library that unpacks them.
        let tones = Tonemapping::Reinhard;
        space.spawn((Camera3d::default(), Projection::Perspective(lens), tones));
        space.spawn((sun, Transform::default().looking_to(Vec3::new(0.4, 0.7, -1.0), Vec3::Z)));
    });
}

/// Turns the view, and takes or releases the mouse.
fn look(
    mut state: ResMut<Match>,
    motion: Res<AccumulatedMouseMotion>,
    buttons: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    mut cursor: Single<&mut CursorOptions, With<PrimaryWindow>>,
) {
    if buttons.just_pressed(MouseButton::Left) {
        (cursor.grab_mode, cursor.visible) = (CursorGrabMode::Locked, false);
    } else if keys.just_pressed(KeyCode::Escape) {
        (cursor.grab_mode, cursor.visible) = (CursorGrabMode::None, true);
    }
    if !cursor.visible {
        state.yaw = (state.yaw - motion.delta.x * SENSITIVITY).rem_euclid(TAU);
        state.pitch = (state.pitch - motion.delta.y * SENSITIVITY).clamp(-1.5, 1.5);
    }
}

/// Passes on the bytes that have arrived, plays a tick if one is due, and sends.
fn exchange(
    mut state: ResMut<Match>,
    keys: Res<ButtonInput<KeyCode>>,
    mouse: Res<ButtonInput<MouseButton>>,
    mut exit: MessageWriter<AppExit>,
) {
    let now = state.now();
    let Match { socket, client, pressed, yaw, pitch, toast, .. } = &mut *state;
    socket.receive(client, now);
    let held = [
        (keys.pressed(KeyCode::Space), Buttons::JUMP),
        (keys.pressed(KeyCode::ControlLeft), Buttons::CROUCH),
        (mouse.pressed(MouseButton::Left), Buttons::PRIMARY),
    ];
    for (_, button) in held.into_iter().filter(|(held, _)| *held) {
        *pressed = *pressed | button;
    }
    let axis = |plus, minus| 127 * (i8::from(keys.pressed(plus)) - i8::from(keys.pressed(minus)));
    // 65,536 steps are a turn.
    let steps = |angle: f32| (angle / TAU * 65_536.0) as i32;
    let input = Input {
        forward: axis(KeyCode::KeyW, KeyCode::KeyS),
        right: axis(KeyCode::KeyD, KeyCode::KeyA),
        yaw: steps(*yaw) as u16,
        pitch: steps(*pitch) as i16,
        buttons: *pressed,
        ..Input::default()
    };
    if client.tick(input, now).is_some() {
        *pressed = Buttons::default();
    }
    while let Some(event) = client.poll_event() {
        match event {
            ConnectionEvent::Joined(hello) => info!("joined on the map {}", hello.map_name),
            ConnectionEvent::NewWorld { name, .. } => info!("the next map is {name}"),
            ConnectionEvent::Disconnected(cause) => {
                error!("disconnected: {cause}");
                exit.write(AppExit::error());
            }
        }
    }
    while let Some((tick, event)) = client.next_match_event(now) {
        debug!("tick {tick}: {event:?}");
        let MatchEvent::Game(event) = &event else { continue };
        let schema = client.session().hello().map(|hello| &hello.schema);
        let kind = schema.and_then(|schema| schema.events().get(usize::from(event.kind())));
        let Some(kind) = kind else { continue };
        if let Some(text) = hints::toast(kind, event, client.view(now)) {
            *toast = Some((Instant::now(), text));
        }
        if let Some(sound) = kind.sound_name() {
            info!("sound: {sound}");
        }
    }
    socket.transmit(client);
}

/// Draws the polygons of the map once it is loaded, and again when the map changes.
fn draw_map(
    state: Res<Match>,
    space: Single<Entity, With<MatchSpace>>,
    drawn: Query<(Entity, &Map)>,
    mut bodies: ResMut<Bodies>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let Some(map) = state.client.prediction().map(|prediction| prediction.map()) else { return };
    if drawn.iter().any(|(_, shown)| shown.0 == map.hash()) {
        return;
    }
    drawn.iter().for_each(|(entity, _)| commands.entity(entity).despawn());
    // Another game may number its models in another order.
    bodies.meshes.clear();
    let mesh = meshes.add(mesh_of(map.map.polygons()));
    let material = materials.add(matte(Color::srgb(0.62, 0.6, 0.56)));
    let shown = (Map(map.hash()), Mesh3d(mesh), MeshMaterial3d(material), NoFrustumCulling);
    commands.spawn((shown, ChildOf(*space)));
}

/// Draws the entities of the match where its view has them.
fn draw_bodies(
    state: Res<Match>,
    space: Single<Entity, With<MatchSpace>>,
    mut bodies: ResMut<Bodies>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    // Without the map, the shapes of the entities are not known.
    let Some(map) = state.client.prediction().map(|prediction| prediction.map()) else { return };
    let Bodies { shown, meshes: known } = &mut *bodies;
    let mut gone = std::mem::take(shown);
    let view = state.client.view(state.now());
    let schema = state.client.session().hello().map(|hello| &hello.schema);
    for entity in view.entities().filter(|entity| entity.traits.visible) {
        let pose = Transform {
            translation: entity.position.as_vec3().to_array().into(),
            rotation: Quat::from_array(entity.orientation.as_quat().to_array()),
            ..default()
        };
        let team = schema.and_then(|schema| hints::team(view, schema, entity.id));
        let before = gone.get(&entity.id.slot);
        let before = before.filter(|(id, of, _)| (*id, *of) == (entity.id, team));
        let drawn = match before {
            Some(&(_, _, drawn)) => {
                gone.remove(&entity.id.slot);
                commands.entity(drawn).insert(pose);
                drawn
            }
            None => {
                let mesh = known
                    .entry(entity.kind)
                    .or_insert_with(|| meshes.add(shape_of(map, entity.kind)));
                let hue = (f32::from(entity.id.slot) * 137.5) % 360.0;
                let lightness = if entity.kind.is_player() { 0.5 } else { 0.75 };
                let own = || Color::hsl(hue, 0.5, lightness);
                let material = materials.add(matte(team.map_or_else(own, hints::team_colour)));
                let look = (Mesh3d(mesh.clone()), MeshMaterial3d(material));
                commands.spawn((look, pose, ChildOf(*space))).id()
            }
        };
        shown.insert(entity.id.slot, (entity.id, team, drawn));
    }
    gone.into_values().for_each(|(_, _, drawn)| commands.entity(drawn).despawn());
}

/// Puts the camera at the predicted eyes of the client's own player.
fn follow(state: Res<Match>, mut camera: Single<&mut Transform, With<Camera3d>>) {
    camera.rotation = Quat::from_rotation_z(state.yaw - FRAC_PI_2)
        * Quat::from_rotation_x(FRAC_PI_2 + state.pitch);
    let view = state.client.view(state.now());
    if let (Some(position), Some(motion)) = (view.position(), view.motion()) {
        let crouches = motion.walker.posture == Posture::Crouching;
        let eyes = EYES[usize::from(crouches)];
        camera.translation = Vec3::from_array(position.as_vec3().to_array()) + eyes * Vec3::Z;
    }
}

/// Shows the game's values and its latest toast in the title of the window.
fn tell(state: Res<Match>, mut window: Single<&mut Window, With<PrimaryWindow>>) {
    let schema = state.client.session().hello().map(|hello| &hello.schema);
    let view = state.client.view(state.now());
    let mut title = schema.map_or_else(String::new, |schema| hints::values(view, schema));
    if let Some((_, text)) = state.toast.as_ref().filter(|(since, _)| since.elapsed() < TOAST) {
        title = format!("{text}   {title}");
    }
    // A title that is set counts as changed, even by the same text.
    if window.title != title {
        window.title = title;
    }
}

/// The shape of an entity of this kind: a player's box, or a body's model.
fn shape_of(map: &LoadedMap, kind: Kind) -> Mesh {
    match kind {
        Kind::Player { posture } => {
            let name = if posture == Posture::Crouching { "crouching" } else { "standing" };
            let size = map.map.sizes().iter().find(|size| size.name == name);
            let half = size.map_or([16.0, 16.0, 28.0], |size| size.half_extents.to_array());
            Cuboid { half_size: half.into() }.into()
        }
        Kind::Vehicle { model } | Kind::Prop { model } => {
            match map.models.get(usize::from(model.0)) {
                Some(model) => mesh_of(model.polygons()),
                // The game has no model of this number.
                None => Cuboid::from_length(32.0).into(),
            }
        }
    }
}

/// The mesh of these polygons: each is a fan of triangles with flat shading.
fn mesh_of(polygons: &[Polygon]) -> Mesh {
    let (mut positions, mut normals) = (Vec::new(), Vec::new());
    for polygon in polygons {
        let corners = &polygon.winding.vertices;
        for pair in corners[1..].windows(2) {
            for corner in [corners[0], pair[0], pair[1]] {
                positions.push(corner.as_vec3().to_array());
                normals.push(polygon.plane.normal.as_vec3().to_array());
            }
        }
    }
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::RENDER_WORLD)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
}

fn matte(color: Color) -> StandardMaterial {
    StandardMaterial { base_color: color, perceptual_roughness: 1.0, reflectance: 0.1, ..default() }
}
