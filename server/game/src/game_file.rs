//! The file `game.toml` beside a map, in which a designer sets numbers without code. Each table has
//! a module of its own with its keys, their defaults and their ranges.

mod actions;
mod binary;
pub(crate) mod hints;
mod items;
mod model_places;
mod number;
mod player;
mod raw_weapon;
mod weapons;

use std::collections::BTreeMap;
use std::sync::Arc;

use obsp::PlayerSize;
use obsp::entity_class::EntityClasses;
use obsp::model::Model;
use obsp_proto::game_data::{GameData, GameDataError};
use obsp_proto::schema::Hint;
use obsp_sim::MovementParameters;
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use model_places::ModelPlaces;

pub(crate) use actions::ActionChange;

pub use items::ItemRules;
pub use obsp_proto::game_data::{GameFileError, MAX_GAME_FILE};
pub use player::PlayerParameters;
pub use weapons::{Blast, Ray, Thrown, Weapon, WeaponKey, WeaponKind, Weapons};

/// The name of the file, in the folder of the map.
pub const GAME_FILE: &str = "game.toml";

/// The content of a `game.toml`. Every key may be left out.
///
/// ```
/// let file = obsp_game::GameFile::parse("[movement]\ngravity = 400\njump_speed = 300.0")?;
/// assert_eq!(file.movement().gravity, 400.0);
/// assert_eq!(file.movement().run_speed, 320.0, "the default");
/// # Ok::<(), obsp_game::GameFileError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct GameFile {
    data: GameData,
    classes: Arc<EntityClasses>,
    player: PlayerParameters,
    items: ItemRules,
    size: Option<PlayerSize>,
    weapons: Arc<Weapons>,
    actions: Arc<[ActionChange]>,
    hints: Arc<BTreeMap<String, Hint>>,
    places: Arc<ModelPlaces>,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGameFile {
    #[serde(default)]
    classes: EntityClasses,
    player: Option<player::RawPlayer>,
    #[serde(default)]
    items: ItemRules,
    #[serde(default)]
    actions: BTreeMap<String, Spanned<actions::RawAction>>,
    #[serde(default)]
    hints: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    weapons: BTreeMap<String, Spanned<raw_weapon::RawWeapon>>,
    /// [`GameData`] reads these five tables, on servers and in clients.
    #[serde(rename = "bodies")]
    _bodies: Option<IgnoredAny>,
    #[serde(rename = "movement")]
    _movement: Option<IgnoredAny>,
    #[serde(rename = "movements")]
    _movements: Option<IgnoredAny>,
    #[serde(rename = "models")]
    _models: Option<IgnoredAny>,
    #[serde(rename = "materials")]
    _materials: Option<IgnoredAny>,
}

impl GameFile {
    /// Reads the text of a `game.toml` without models.
    ///
    /// # Errors
    /// [`GameFileError`], with the place in the text if it is not TOML, a key is unknown, or a
    /// number is out of its range. A text longer than [`MAX_GAME_FILE`] is an error, too.
    pub fn parse(text: &str) -> Result<Self, GameFileError> {
        Self::read(text, &mut |_| Err("there is no folder to read it from".into()))
    }

    /// Reads the text of a `game.toml`. `model` returns the text of a model by its path from the
    /// folder of the map.
    ///
    /// ```
    /// use obsp_game::GameFile;
    ///
    /// let text = "[models]\npin = 'models/pin.obj'\n[classes.item_pin]\nmodel = 'pin'";
    /// let load = |path: &str| std::fs::read_to_string(format!("../examples/{path}"));
    /// let file = GameFile::read(text, &mut |path| load(path).map_err(|error| error.to_string()))?;
    /// assert_eq!(file.models()[0].name(), "pin");
    /// assert_eq!(file.classes()["item_pin"].model.as_deref(), Some("pin"));
    /// # Ok::<(), obsp_game::GameFileError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`GameFile::parse`]. It is also an error if a model cannot be read, or if the
    /// models take more than [`MAX_GAME_DATA`](obsp_proto::game_data::MAX_GAME_DATA).
    pub fn read(
        text: &str,
        model: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Self, GameFileError> {
        Self::of(GameData::read(text, &mut |_, path| model(path))?)
    }

    /// Reads the parts of a file that clients do not need.
    fn of(data: GameData) -> Result<Self, GameFileError> {
        let text = data.text();
        let raw: RawGameFile =
            toml::from_str(text).map_err(|error| GameFileError::of(text, &error))?;
        let player = raw.player.map(|player| player.parameters(text)).transpose()?;
        Ok(Self {
            classes: Arc::new(raw.classes),
            player: player.unwrap_or_default(),
            items: raw.items,
            size: PlayerSize::parse(text)?,
            weapons: Arc::new(Weapons::read(raw.weapons, data.models(), text)?),
            actions: ActionChange::read(raw.actions, text)?.into(),
            hints: Arc::new(hints::read(raw.hints, text)?),
            places: Arc::new(ModelPlaces::read(text)),
            data,
        })
    }

    /// The text of the file; empty if there is none.
    pub fn text(&self) -> &str {
        self.data.text()
    }

    /// The text of the file and the texts of its models, for [`GameFile::from_bundle`]. Empty if
    /// there is no file.
    pub fn bundle(&self) -> &[u8] {
        self.data.bytes()
    }

    /// Reads a bundle, which may come from anyone.
    ///
    /// ```
    /// use obsp_game::GameFile;
    ///
    /// let file = GameFile::parse("[player]\nhealth = 300")?;
    /// let again = GameFile::from_bundle(file.bundle())?;
    /// assert_eq!(again.player().health, 300);
    /// assert_eq!(again.hash(), file.hash());
    /// assert!(GameFile::from_bundle(b"\xff").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The bytes are not a bundle, or [`GameFile::read`] refuses the content.
    pub fn from_bundle(bundle: &[u8]) -> Result<Self, GameDataError> {
        let data = GameData::from_bytes(bundle)?;
        let mut models = data.models().iter();
        let read = GameData::read(data.text(), &mut |name, _| match models.next() {
            Some(model) if model.name() == name => Ok(model.source().to_owned()),
            _ => Err(format!(
                "the next model of the bundle is not {name}; the bundle must have the models \
                 that its game.toml names, in their order"
            )),
        });
        if read? != data {
            return Err(GameDataError::OtherText);
        }
        Ok(Self::of(data)?)
    }

    /// The BLAKE3 hash of the bundle; zeros if there is no file.
    pub fn hash(&self) -> [u8; 32] {
        self.data.hash().map_or([0; 32], |hash| hash.0)
    }

    /// The part of the file that clients need.
    pub fn data(&self) -> &GameData {
        &self.data
    }

    /// The models of the file, in the order of their names, without the game's own models.
    pub fn models(&self) -> &[Model] {
        self.data.models()
    }

    /// The classes of the map's entities that the file describes.
    pub fn classes(&self) -> &EntityClasses {
        &self.classes
    }

    /// The numbers by which players on foot move. Clients predict with the same numbers.
    pub fn movement(&self) -> &MovementParameters {
        self.data.movement()
    }

    /// The numbers of a player in the arena game.
    pub fn player(&self) -> &PlayerParameters {
        &self.player
    }

    /// The rules of items in the arena game.
    pub fn items(&self) -> ItemRules {
        self.items
    }

    /// The size of players that the file asks for, if any. Players have the size that the map was
    /// compiled for, and [`Match::with_file`](crate::Match::with_file) refuses a map with another
    /// size.
    pub fn size(&self) -> Option<&PlayerSize> {
        self.size.as_ref()
    }

    /// The weapons of the arena game.
    pub fn weapons(&self) -> &Arc<Weapons> {
        &self.weapons
    }

    /// The actions of the file, in the order of their names.
    pub(crate) fn actions(&self) -> &[ActionChange] {
        &self.actions
    }

    /// The hints of the file, by the names of values.
    pub(crate) fn hints(&self) -> &BTreeMap<String, Hint> {
        &self.hints
    }

    /// The message about a fault of one of the file's models, with its place in the file.
    pub(crate) fn fault_of_model(&self, name: &str, message: String) -> String {
        self.fault(self.places.of_model(name), message)
    }

    /// The message about a fault of a class's model, with its place in the file.
    pub(crate) fn fault_of_class(&self, class: &str, message: String) -> String {
        self.fault(self.places.of_class(class), message)
    }

    /// The message about a fault of the model that a weapon throws, with its place in the file.
    pub(crate) fn fault_of_weapon(&self, thrown: &str, message: String) -> String {
        self.fault(self.places.of_weapon(thrown), message)
    }

    fn fault(&self, at: Option<usize>, message: String) -> String {
        match at {
            Some(at) => GameFileError::at(self.text(), at, message).to_string(),
            None => message,
        }
    }
}

impl PartialEq for GameFile {
    /// Compares the bundles, because everything else follows from them.
    fn eq(&self, other: &Self) -> bool {
        self.bundle() == other.bundle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        GameFile::parse(text).unwrap_err().to_string()
    }

    /// The example of `GAME_TOML.md` has every key, with its default value.
    #[test]
    fn the_example_of_the_guide_is_what_is_usual() {
        let page = include_str!("../GAME_TOML.md");
        let (_, rest) = page.split_once("```toml\n[movement]").expect("the page shows an example");
        let (example, _) = rest.split_once("```").expect("it ends");
        let pin = include_str!("../../examples/models/pin.obj");
        let file = GameFile::read(&format!("[movement]{example}"), &mut |_| Ok(pin.to_owned()));
        let (file, usual) = (file.expect("the example can be read"), GameFile::default());
        assert_eq!(file.movement(), usual.movement());
        assert_eq!(file.data().body_gravity(), usual.data().body_gravity());
        assert_eq!((file.player(), file.weapons()), (usual.player(), usual.weapons()));
        assert_eq!(file.items(), usual.items());
        assert_eq!(file.size(), Some(&PlayerSize::default()));
        assert_eq!(file.models()[0].name(), "pin");
        assert_eq!(file.models()[0].material(), obsp::model::Material::USUAL);
        assert_eq!(file.classes()["item_pin"].model.as_deref(), Some("pin"));
        for key in [
            "friction = 0.6",
            "kinematic = false",
            "missile = false",
            "restitution",
            "angular_damping = 0.4",
            "linear_damping = 0.0",
            "gravity_scale = 1.0",
            "density = 0.002",
            "[bodies]",
            "step_height",
            "respawn_seconds",
            "crouched_height",
            "[items]",
            "ammunition",
            "reach",
            "lift",
            "blast_player_speed",
        ] {
            assert!(example.contains(key), "{key}");
        }
    }

    #[test]
    fn a_weapon_takes_the_place_of_that_of_its_key() {
        let text = "[weapons.railgun]\nkind = 'ray'\ndamage = 80\nrefire_seconds = 1.5\n\
                    [weapons.mortar]\nkind = 'grenade'\nkey = 'rocket'\nmodel = 'star'\n\
                    [weapons.grenade]\nblast_radius = 300\n";
        let file = GameFile::parse(text).unwrap();
        let weapon = |key| file.weapons().of_key(key);
        let ray = WeaponKind::Ray(Ray { damage: 80, ..Ray::default() });
        assert_eq!(weapon(WeaponKey::Fire), &Weapon { refire_seconds: 1.5, kind: ray });
        let mortar = Thrown { model: "star".into(), ..Thrown::grenade() };
        assert_eq!(weapon(WeaponKey::Rocket).kind, WeaponKind::Grenade(mortar));
        let wide = file.weapons().thrown_with("grenade").unwrap();
        assert_eq!((wide.blast.radius, wide.blast.damage), (300.0, 90.0));
        assert_eq!(file.weapons().thrown_with("rocket"), None);
    }

    #[test]
    fn weapons_and_players_that_cannot_be_are_told_with_their_place() {
        for (text, expected) in [
            ("[player]\nhealth = 0", "line 2, column 10: health is 0, not between 1 and 10000"),
            ("[player]\nhealth = 1.5", "line 2, column 10: health is 1.5, not a whole number"),
            ("[player]\nhealht = 1", "line 2, column 1: unknown field `healht`"),
            ("[player]\nheight = 9", "line 2, column 10: height is 9, not between 16 and 96"),
            ("[weapons.ray]\nspeed = 1", "line 2, column 9: a ray has no speed"),
            ("[weapons.ray]\nmodel = 'x'", "line 2, column 9: a ray has no model"),
            ("[weapons.rocket]\nlift = 1", "line 2, column 8: a rocket has no lift"),
            ("[weapons.rocket]\nspeed = 9e9", "line 2, column 9: speed is 9000000000, not between"),
            ("[weapons.rocket]\nspede = 9", "line 2, column 1: unknown field `spede`"),
            ("[weapons.laser]\nreach = 9", "weapons.laser needs a kind"),
            ("[weapons.ray]\nkind = 'laser'", "line 2, column 8: unknown variant `laser`"),
            (
                "[weapons.a]\nkind = 'ray'\n[weapons.ray]",
                "weapons.a and weapons.ray have the same key",
            ),
            ("[weapons.grenade]\nmodel = 'rocket'", "two weapons throw the model rocket"),
        ] {
            let found = refused(text);
            assert!(found.contains(expected), "{found} instead of {expected}");
            assert!(found.starts_with("line "), "{found}");
        }
    }

    /// A weapon cannot throw a model whose bodies are kinematic.
    #[test]
    fn a_kinematic_model_comes_along_in_the_bundle_and_is_no_missile() {
        let cube = include_str!("../../../maps/models/crate.obj");
        let read = |text: &str| GameFile::read(text, &mut |_| Ok(cube.to_owned()));
        let lift = "[models]\nlift = 'lift.obj'\n[materials.lift]\nkinematic = true\n";
        let file = read(lift).unwrap();
        for again in [
            GameFile::from_bundle(file.bundle()).unwrap(),
            GameFile::from_binary(file.bundle(), &file.to_binary()).unwrap(),
        ] {
            assert!(again.models()[0].is_kinematic());
            assert_eq!(again, file);
        }
        let thrown = read(&format!("{lift}[weapons.rocket]\nmodel = 'lift'")).unwrap_err();
        let expected = "line 5, column 1: weapons.rocket throws the model lift, whose bodies are \
                        kinematic; give it another, or leave out materials.lift.kinematic";
        assert_eq!(thrown.to_string(), expected);
        let text = "[models]\nlift = 'lift.obj'\n[weapons.rocket]\nmodel = 'lift'\n";
        let flies = read(text).unwrap();
        assert!(GameFile::from_binary(file.bundle(), &flies.to_binary()).is_err());
    }

    #[test]
    fn models_and_classes_come_along_in_the_bundle() {
        let cube = include_str!("../../../maps/models/crate.obj");
        let text = "[models]\nslab = 'own/slab.obj'\nblock = 'block.obj'\n\
                    [classes.item_block]\nmodel = 'block'\n";
        let mut paths = Vec::new();
        let file = GameFile::read(text, &mut |path| {
            paths.push(path.to_owned());
            Ok(cube.to_owned())
        });
        let file = file.unwrap();
        assert_eq!(paths, ["block.obj", "own/slab.obj"]);
        assert_eq!(file.classes()["item_block"].model.as_deref(), Some("block"));
        let again = GameFile::from_bundle(file.bundle()).unwrap();
        assert_eq!((&again, again.hash()), (&file, file.hash()));
        let names: Vec<&str> = again.models().iter().map(Model::name).collect();
        assert_eq!(names, ["block", "slab"]);
        // No bundle contains the models that a game adds by itself.
        let gem = Model::from_obj("gem", cube).unwrap();
        let with_gem = file.data().with_models(&[gem]).unwrap();
        let refused = GameFile::from_bundle(with_gem.bytes()).unwrap_err().to_string();
        assert!(refused.contains("contradict the game.toml"), "{refused}");
        assert!(GameFile::from_bundle(b"\xff").is_err());
    }

    #[test]
    fn models_and_classes_that_cannot_be_are_told_with_their_place() {
        let of = |text: &str| {
            let refused = GameFile::read(text, &mut |_| Ok("v 0 0 0\n".to_owned()));
            refused.unwrap_err().to_string()
        };
        for (text, expected) in [
            ("[models]\na = '../a.obj'", "line 2, column 5: ../a.obj is not within the folder"),
            ("[models]\na = '/a.obj'", "line 2, column 5: /a.obj is not within the folder"),
            ("[models]\na = 'a.obj'", "line 2, column 5: a.obj: model a.obj:1:1: "),
            ("[models]\na = 5", "line 2, column 5: "),
            ("[classes.gem]\ncolour = [1, 2, 3]", "line 2, column 1: unknown field `colour`"),
        ] {
            let found = of(text);
            assert!(found.starts_with(expected), "{found} instead of {expected}");
        }
        let lost = GameFile::read("[models]\na = 'a.obj'", &mut |_| Err("no such file".into()));
        assert_eq!(lost.unwrap_err().to_string(), "line 2, column 5: a.obj: no such file");
    }

    #[test]
    fn a_file_that_is_too_long_is_refused() {
        let longest = "#".repeat(MAX_GAME_FILE);
        let file = GameFile::parse(&longest).unwrap();
        assert_eq!((file.text(), file.hash() == [0; 32]), (&*longest, false));
        assert_eq!(GameFile::default().hash(), [0; 32]);
        assert!(
            refused(&(longest + "#")).starts_with("line 1, column 1: the file has 65537 bytes")
        );
    }

    #[test]
    fn a_fault_is_told_with_its_place() {
        let unknown = refused("[movement]\ngravity = 1\nrunspeed = 3\n");
        assert!(unknown.starts_with("line 3, column 1: ") && unknown.contains("run_speed"));
        assert!(refused("[weapon]\n").starts_with("line 1, column "), "{}", refused("[weapon]"));
        let range = refused("\n[movement]\nstep_height =  65");
        assert_eq!(range, "line 3, column 16: step_height is 65, not between 0 and 64");
        assert!(refused("[movement]\ngravity = nan").contains("not between"));
        assert!(refused("[movement]\ngravity = 'high'").starts_with("line 2, column 11: "));
        assert!(refused("[movement").starts_with("line 1, column "));
    }
}
