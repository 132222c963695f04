//! The models that are drawn in a map, as the brushes of its entities.

use super::{Map, MapEntity};
use crate::model::{BrushModelError, BrushModelFault, Model};

/// The first character of the names of these models, as in Quake.
const MARK: char = '*';

impl Map {
    /// The brushes of an entity as a kinematic model: a door or a lift, where it is drawn. Its
    /// convex parts are the brushes, which may touch or overlap.
    ///
    /// The model turns about its entity's `origin`: the middle of a brush with the texture
    /// `origin`, as in Quake II and its successors, or else the key. An entity without an origin
    /// turns about the middle of the box around its brushes, rounded to whole units.
    /// [`Model::drawn`] returns that point.
    ///
    /// The model of the first entity with brushes has the name `*1`, the next `*2`, as in Quake.
    /// Clients that have the map make the same models by [`Map::model_named`].
    ///
    /// ```
    /// # let map = obsp::Map::load(std::path::Path::new("arena.obsp")).expect("the map ships");
    /// let entity = map.entities().iter().find(|entity| !entity.solids().is_empty());
    /// let model = map.model_of(entity.expect("the map has a jump pad"))?;
    /// assert!(model.is_kinematic());
    /// assert_eq!(model.name(), "*1");
    /// assert!(map.model_named("*1").expect("it is drawn in this map")?.is_same(&model));
    /// assert!(map.model_named("*100").is_none());
    /// assert!(map.model_named("*01").is_none());
    /// # Ok::<(), obsp::model::BrushModelError>(())
    /// ```
    ///
    /// # Errors
    /// [`BrushModelError`] if the entity has no brushes, they have too many faces or extend too
    /// far, or a brush is too thin.
    pub fn model_of(&self, entity: &MapEntity) -> Result<Model, BrushModelError> {
        match self.index_of(entity) {
            Some(index) => self.model_at(index),
            None => Err(BrushModelError {
                name: MARK.to_string(),
                entity: self.entities().len(),
                class: entity.classname().to_owned(),
                fault: BrushModelFault::OfOtherMap,
            }),
        }
    }

    /// The model with a name such as `*3`; `None` if that is no name of a model of this map.
    ///
    /// # Errors
    /// The errors are those of [`Map::model_of`].
    pub fn model_named(&self, name: &str) -> Option<Result<Model, BrushModelError>> {
        let number: usize = name.strip_prefix(MARK)?.parse().ok()?;
        // Each model has one name, so `*01` is none.
        if name != format!("{MARK}{number}") {
            return None;
        }
        let (index, _) = self.brush_entities().nth(number.checked_sub(1)?)?;
        Some(self.model_at(index))
    }

    /// The index of an entity of this map; `None` for an entity of another map.
    pub fn index_of(&self, entity: &MapEntity) -> Option<usize> {
        self.entities().iter().position(|known| {
            std::ptr::eq(known, entity)
                || known.pairs() == entity.pairs() && known.solids() == entity.solids()
        })
    }

    fn brush_entities(&self) -> impl Iterator<Item = (usize, &MapEntity)> {
        self.entities().iter().enumerate().filter(|(_, entity)| !entity.solids().is_empty())
    }

    fn model_at(&self, index: usize) -> Result<Model, BrushModelError> {
        let entity = &self.entities()[index];
        let number = self.brush_entities().take_while(|&(other, _)| other <= index).count();
        let name = format!("{MARK}{number}");
        let drawn = (self.hash(), index);
        Model::of_brushes(name.clone(), drawn, entity.solids(), entity.origin()).map_err(|fault| {
            BrushModelError { name, entity: index, class: entity.classname().to_owned(), fault }
        })
    }
}
