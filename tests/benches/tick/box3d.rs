//! Box3D plays the same heap in a child process (`box3d.c`). The bench compiles that process from a
//! checkout of <https://github.com/erincatto/box3d>, whose folder the variable `BOX3D` names. Box3D
//! is C, and no code of this workspace is unsafe, so Box3D runs in a process of its own. Only the
//! time of its step counts, not the time of the exchange.

use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};
use std::time::Duration;

use glam::{DQuat, DVec3};
use obsp::geometry::ConvexSolid;
use obsp::model::shipped;
use obsp_sim::{Command, EntityState, Kind, State};

use super::peer::{DENSITY, FRICTION, GRAVITY, METRE, RESTITUTION};
use super::{Engine, Scene};

/// Sub-steps of a tick: the number that Box3D's documentation recommends.
const SUB_STEPS: u32 = 4;

/// Box3D, compiled for this bench.
pub(crate) struct Program(PathBuf);

impl Program {
    /// Compiles Box3D from the checkout that the variable `BOX3D` names. Prints why, and returns
    /// nothing, if there is none.
    pub(crate) fn compiled() -> Option<Self> {
        let Some(checkout) = std::env::var_os("BOX3D").map(PathBuf::from) else {
            println!(
                "Box3D is skipped: BOX3D=FOLDER names a checkout of github.com/erincatto/box3d"
            );
            return None;
        };
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("box3d");
        let sources = std::fs::read_dir(checkout.join("src"));
        let sources = sources.unwrap_or_else(|error| panic!("{}/src: {error}", checkout.display()));
        let mut sources: Vec<PathBuf> =
            sources.filter_map(|entry| Some(entry.ok()?.path())).collect();
        sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
        sources.sort();
        // The options of Box3D's own release build.
        let compiled = Process::new("cc")
            .args(["-std=gnu17", "-O3", "-DNDEBUG", "-ffp-contract=off", "-I"])
            .arg(checkout.join("include"))
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tick/box3d.c"))
            .args(&sources)
            .args(["-lm", "-lpthread", "-o"])
            .arg(&program)
            .status();
        let compiled = compiled.unwrap_or_else(|error| panic!("cc does not start: {error}"));
        assert!(compiled.success(), "cc does not compile Box3D: {compiled}");
        Some(Self(program))
    }
}

/// Box3D as its documentation sets it up for one thread.
pub(crate) struct Box3d {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
    seconds: f64,
    entities: Vec<EntityState>,
    awake: u64,
}

impl Box3d {
    /// The scene with all props as in `start`, the first state of our engine.
    pub(crate) fn new(program: &Program, scene: &Scene, start: &State) -> Self {
        let child = Process::new(&program.0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("Box3D starts");
        let input = BufWriter::new(child.stdin.take().expect("the input is a pipe"));
        let output = BufReader::new(child.stdout.take().expect("the output is a pipe"));
        let seconds = 1.0 / f64::from(scene.config.tick_rate);
        let entities = start.entities.clone();
        let mut own = Self { child, input, output, seconds, entities, awake: 0 };
        own.send(&format!("world {GRAVITY} {METRE} {FRICTION} {RESTITUTION} {DENSITY}"));
        for solid in scene.map().solids() {
            own.send(&format!("static {}", points(solid)));
        }
        let models = shipped();
        for entity in &start.entities {
            let Kind::Prop { model } = entity.kind else {
                panic!("Box3D plays heaps of props only")
            };
            let (at, turn) = (entity.position, entity.orientation);
            own.send(&format!(
                "body {} {} {} {} {} {} {}",
                at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w
            ));
            for part in models[usize::from(model.0)].parts() {
                own.send(&format!("part {}", points(part)));
            }
        }
        own
    }

    fn send(&mut self, command: &str) {
        writeln!(self.input, "{command}").expect("Box3D reads its input");
    }

    /// Reads a line of numbers.
    fn receive(&mut self) -> Vec<f64> {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("Box3D answers");
        let number = |word: &str| word.parse().expect("Box3D answers with numbers");
        line.split_whitespace().map(number).collect()
    }

    /// The state of all entities.
    pub(crate) fn state(&mut self) -> State {
        self.send("state");
        self.input.flush().expect("Box3D reads its input");
        for at in 0..self.entities.len() {
            let numbers = self.receive();
            let [x, y, z, i, j, k, w, u, v, s, asleep] = numbers[..] else {
                panic!("a body of Box3D has eleven numbers, but these are {numbers:?}");
            };
            let entity = &mut self.entities[at];
            entity.position = DVec3::new(x, y, z);
            entity.orientation = DQuat::from_xyzw(i, j, k, w).normalize();
            entity.velocity = DVec3::new(u, v, s);
            entity.asleep = asleep != 0.0;
        }
        State { tick: 0, entities: self.entities.clone() }
    }
}

impl Engine for Box3d {
    fn step(&mut self, _: &[Command]) -> Duration {
        self.send(&format!("step {} {SUB_STEPS}", self.seconds));
        self.input.flush().expect("Box3D reads its input");
        let answer = self.receive();
        let [nanoseconds, awake] = answer[..] else {
            panic!("a step of Box3D has two numbers, but these are {answer:?}");
        };
        self.awake = awake as u64;
        Duration::from_nanos(nanoseconds as u64)
    }

    fn state(&mut self) -> State {
        Self::state(self)
    }

    fn awake(&self) -> u64 {
        self.awake
    }
}

impl Drop for Box3d {
    fn drop(&mut self) {
        // The child is of no use without this process, whether or not it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The corners of a solid, as `box3d.c` reads them.
fn points(solid: &ConvexSolid) -> String {
    let corners = solid.vertices();
    let coordinates = corners.iter().map(|at| format!(" {} {} {}", at.x, at.y, at.z));
    format!("{}{}", corners.len(), coordinates.collect::<String>())
}
