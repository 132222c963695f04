//! Movers and items that a match has no place for.

use std::collections::BTreeMap;

use obsp::MapEntity;
use obsp_sim::SetupWarning;

use crate::world_mut::WorldMut;

/// The numbers of entities that are left out, by class.
#[derive(Debug, Default)]
pub(super) struct LeftOut(BTreeMap<String, u32>);

impl LeftOut {
    pub(super) fn note(&mut self, entity: &MapEntity) {
        *self.0.entry(entity.classname().to_owned()).or_default() += 1;
    }

    /// Warns of each class once.
    pub(super) fn warn(self, world: &mut WorldMut<'_>) {
        for (class, count) in self.0 {
            world.warn(SetupWarning::LeftOut { class, count });
        }
    }
}
