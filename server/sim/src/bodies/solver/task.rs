//! The order in which an island is solved, for whole islands and for those that are divided into
//! blocks.

use super::block::Block;

/// A step of the solver. All blocks of an island finish it before any block begins the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    Begin,
    Push,
    NextSubStep,
    MoveAndRelax,
    Project,
    Bounce,
    PrepareProjection,
    ProjectionPass,
    AddVelocities,
    AddPush,
    Displace,
}

/// Advances an island by a tick of this many sub-steps. `run` does each task in turn.
pub(super) fn drive(sub_steps: u32, mut run: impl FnMut(Task)) {
    run(Task::Begin);
    for step in 0..sub_steps {
        run(if step == 0 { Task::Push } else { Task::NextSubStep });
        run(Task::MoveAndRelax);
    }
    run(Task::Project);
    run(Task::Bounce);
}

impl Task {
    const ALL: [Self; 11] = [
        Self::Begin,
        Self::Push,
        Self::NextSubStep,
        Self::MoveAndRelax,
        Self::Project,
        Self::Bounce,
        Self::PrepareProjection,
        Self::ProjectionPass,
        Self::AddVelocities,
        Self::AddPush,
        Self::Displace,
    ];

    /// The task with this number.
    pub(super) fn of(number: u16) -> Self {
        Self::ALL[usize::from(number)]
    }

    /// Does the block's share of the task.
    pub(super) fn do_with(self, block: &mut Block) {
        let seconds = block.steps.seconds as f32;
        match self {
            Self::Begin => block.begin(),
            Self::Push => block.push(),
            Self::NextSubStep => {
                block.begin_sub_step();
                block.push();
            }
            Self::MoveAndRelax => block.move_and_relax(),
            Self::Project => block.project(),
            Self::Bounce => block.bounce(),
            Self::PrepareProjection => block.prepare_projection(),
            Self::ProjectionPass => block.projection.pass(&block.contacts),
            Self::AddVelocities => block.projection.add_velocities(&mut block.bodies, seconds),
            Self::AddPush => block.projection.add_push(&block.contacts),
            Self::Displace => block.projection.displace(&mut block.bodies),
        }
    }
}
