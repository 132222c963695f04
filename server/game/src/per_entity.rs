use obsp_sim::EntityId;
use serde::{Deserialize, Serialize};

/// Values that a game attaches to entities, in ascending order of slot. A value belongs to one id.
/// A later entity in the slot of a removed one does not have that value.
///
/// ```
/// use obsp_game::PerEntity;
/// use obsp_sim::EntityId;
///
/// let mut scores = PerEntity::default();
/// let player = EntityId { slot: 3, generation: 0 };
/// scores.insert(player, 7);
/// assert_eq!(scores.get(player), Some(&7));
///
/// // A later entity in the same slot has another generation, and no score.
/// let later = EntityId { slot: 3, generation: 1 };
/// assert_eq!(scores.get(later), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerEntity<T>(Vec<(EntityId, T)>);

impl<T> Default for PerEntity<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> PerEntity<T> {
    /// Attaches a value to an entity. It replaces the value of this entity, or of an earlier entity
    /// in its slot.
    pub fn insert(&mut self, id: EntityId, value: T) {
        match self.place(id) {
            Ok(index) => self.0[index] = (id, value),
            Err(index) => self.0.insert(index, (id, value)),
        }
    }

    /// Detaches and returns the value of an entity.
    pub fn remove(&mut self, id: EntityId) -> Option<T> {
        self.get(id)?;
        let index = self.place(id).ok()?;
        Some(self.0.remove(index).1)
    }

    /// The value of an entity.
    pub fn get(&self, id: EntityId) -> Option<&T> {
        let (owner, value) = &self.0[self.place(id).ok()?];
        (*owner == id).then_some(value)
    }

    /// The value of an entity, to change.
    pub fn get_mut(&mut self, id: EntityId) -> Option<&mut T> {
        let index = self.place(id).ok()?;
        let (owner, value) = &mut self.0[index];
        (*owner == id).then_some(value)
    }

    /// All values, in ascending order of slot.
    pub fn iter(&self) -> impl Iterator<Item = (EntityId, &T)> {
        self.0.iter().map(|(id, value)| (*id, value))
    }

    /// All values, to change, in ascending order of slot.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (EntityId, &mut T)> {
        self.0.iter_mut().map(|(id, value)| (*id, value))
    }

    /// The entities that have a value, in ascending order of slot.
    pub fn ids(&self) -> Vec<EntityId> {
        self.0.iter().map(|(id, _)| *id).collect()
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no entity has a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, id: EntityId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id.slot, |(owner, _)| owner.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_belongs_to_one_entity_and_not_to_its_slot() {
        let id = |slot, generation| EntityId { slot, generation };
        let mut values = PerEntity::default();
        values.insert(id(3, 0), 'b');
        values.insert(id(1, 0), 'a');
        assert_eq!(values.get(id(3, 1)), None, "the id is of a later entity in that slot");
        assert_eq!(values.remove(id(3, 1)), None);
        values.insert(id(3, 1), 'c');
        assert_eq!(values.get(id(3, 0)), None);
        assert_eq!(values.iter().collect::<Vec<_>>(), [(id(1, 0), &'a'), (id(3, 1), &'c')]);
        assert_eq!(values.remove(id(1, 0)), Some('a'));
        assert_eq!(values.len(), 1);
    }
}
