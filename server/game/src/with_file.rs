//! A game together with a `game.toml`. Servers and replays make matches of the two.

use std::borrow::Borrow;
use std::sync::Arc;

use obsp::PlayerSize;
use obsp::entity_check::KnownClasses;
use obsp::model::Model;
use obsp_proto::game_data::{GameData, GameDataError};
use obsp_proto::schema::{Schema, SchemaError};
use obsp_sim::{Config, MAX_MODELS, MovementSets, SetupError, World};

use crate::any_game::AnyGame;
use crate::game::Game;
use crate::game_file::GameFile;
use crate::game_match::Match;
use crate::replicated::schema;
use crate::running::RunningMatch;
use crate::save::{self, LoadMatchError};

/// A game and the file that its matches are set up by.
#[derive(Clone, Debug)]
pub(crate) struct WithFile<G> {
    pub(crate) game: G,
    pub(crate) file: GameFile,
}

impl<G: Game> AnyGame for WithFile<G> {
    fn game_name(&self) -> &'static str {
        self.game.game_name()
    }

    fn models(&self, map: &obsp::Map) -> Vec<Model> {
        all_models(&self.game, &self.file, map)
    }

    fn add_classes(&self, known: KnownClasses) -> KnownClasses {
        self.game.add_classes(known).with_classes(self.file.classes())
    }

    fn schema(&self, map: &obsp::Map) -> Result<Schema, SchemaError> {
        schema(&self.game, &self.file, map, &self.models(map))
    }

    fn client_data(&self, map: &obsp::Map) -> Result<GameData, GameDataError> {
        let data = self.file.data().with_models(&self.models(map))?;
        data.with_movements(&self.game.movements_on(map, *data.movement()))
    }

    fn with_file(&self, file: &GameFile) -> Arc<dyn AnyGame> {
        self.game.with_file(file)
    }

    fn new_match(
        &self,
        map: Arc<obsp::Map>,
        config: Config,
    ) -> Result<Box<dyn RunningMatch>, SetupError> {
        Ok(Box::new(Match::with_file(self.game.clone(), map, config, &self.file)?))
    }

    fn load_match(
        &self,
        map: Arc<obsp::Map>,
        saved: &[u8],
    ) -> Result<Box<dyn RunningMatch>, LoadMatchError> {
        Ok(Box::new(save::load(&self.game, map, &self.file, saved)?))
    }
}

/// The models of a match: those of its game, then those of the file, then those that are drawn in
/// the map. The models that its weapons throw are marked as missiles, because clients have to know
/// this.
pub(crate) fn all_models<G: Game>(game: &G, file: &GameFile, map: &obsp::Map) -> Vec<Model> {
    let mut models = game.models_on(map, file);
    models.extend_from_slice(file.models());
    // If there are too many models, movers are left out, so that the map can still be played.
    let room = MAX_MODELS.saturating_sub(models.len());
    models.extend(game.brush_models(map).into_iter().take(room));
    let is_thrown = |model: &Model| file.weapons().thrown_with(model.name()).is_some();
    // `check` refuses a thrown model that is kinematic.
    let flies = |model: &Model| is_thrown(model) && !model.is_kinematic();
    let marked = |model: Model| if flies(&model) { model.as_missile() } else { model };
    models.into_iter().map(marked).collect()
}

/// The sets of movement parameters of a match: those of the file, and those of its game.
pub(crate) fn all_movements<G: Game>(
    game: &G,
    file: &GameFile,
    map: &obsp::Map,
) -> Result<MovementSets, GameDataError> {
    let own = game.movements_on(map, *file.data().movement());
    Ok(file.data().with_movements(&own)?.movement_sets().clone())
}

/// Checks the names of models in the file against the models of the match.
pub(crate) fn check(file: &GameFile, models: &[Model]) -> Result<(), SetupError> {
    let refused = |fault: String| Err(SetupError::Game(format!("game.toml: {fault}")));
    let names = || models.iter().map(Model::name);
    for model in models {
        let name = model.name();
        if names().filter(|other| *other == name).count() > 1 {
            let fault = format!("there are two models {name}; choose another name");
            return refused(file.fault_of_model(name, fault));
        }
    }
    let known = || names().collect::<Vec<_>>().join(", ");
    for (class, description) in file.classes() {
        let Some(model) = &description.model else { continue };
        let class: &str = class.borrow();
        if class == "prop" {
            let fault = "the server has a class prop already; choose another name".into();
            return refused(file.fault_of_class(class, fault));
        }
        if !names().any(|name| name == model) {
            let fault = format!(
                "classes.{class} has the model {model}, which does not exist; there are {}",
                known()
            );
            return refused(file.fault_of_class(class, fault));
        }
    }
    if let Some(model) = file.weapons().missing_model(names()) {
        let fault = format!(
            "a weapon throws the model {model}, which does not exist; there are {}",
            known()
        );
        return refused(file.fault_of_weapon(model, fault));
    }
    if let Some(model) = file.weapons().kinematic_model(models) {
        let fault = format!(
            "a weapon throws the model {model}, whose bodies are kinematic; give it another model"
        );
        return refused(file.fault_of_weapon(model, fault));
    }
    Ok(())
}

/// Checks that `map` was compiled for players of the size that the file asks for.
pub(crate) fn check_size(file: &GameFile, map: &obsp::Map) -> Result<(), SetupError> {
    let Some(asked) = file.size() else { return Ok(()) };
    let compiled = PlayerSize::among(map.sizes());
    if compiled == Some(*asked) {
        return Ok(());
    }
    let compiled = compiled.map_or("others".to_owned(), |size| format!("players {size}"));
    Err(SetupError::Game(format!(
        "game.toml asks for players {asked}, but the map was compiled for {compiled}: compile the \
         map with `mapc compile {}.map --game game.toml`, or leave width, height and \
         crouched_height out of [player]",
        map.name()
    )))
}

/// Spawns the bodies of the map's entities whose class has a model.
pub(crate) fn spawn_classes(world: &mut World, file: &GameFile) {
    let map = Arc::clone(world.map());
    for entity in map.entities() {
        let class = file.classes().get(entity.classname());
        if let Some(model) = class.and_then(|class| class.model.as_ref()) {
            world.place_drawn(entity, model);
        }
    }
}
