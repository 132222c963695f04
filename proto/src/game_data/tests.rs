use super::*;

const CUBE: &str = include_str!("../../../maps/models/crate.obj");
const STAR: &str = include_str!("../../../maps/models/star.obj");
const FILE: &str = "[movement]\ngravity = 400\n[models]\nslab = 'own/slab.obj'\nblock = 'b.obj'\n";

fn arena() -> Map {
    Map::from_bytes(include_bytes!("../../../maps/arena.obsp")).unwrap()
}

fn of_file() -> GameData {
    GameData::read(FILE, &mut |_, _| Ok(CUBE.to_owned())).unwrap()
}

#[test]
fn a_client_reads_what_the_server_has_read() {
    let own = Model::from_obj("comet", STAR).unwrap();
    let all: Vec<Model> = shipped().into_iter().chain([own]).collect();
    let server = of_file().with_models(&all).unwrap();
    let client = GameData::from_bytes(server.bytes()).unwrap();
    assert_eq!((&client, client.hash()), (&server, server.hash()));
    let names: Vec<&str> = client.models().iter().map(Model::name).collect();
    assert_eq!(names, ["block", "slab", "comet"]);
    assert_eq!(client.text(), FILE);
    assert_eq!(client.movement().gravity, 400.0);
    let names = ["comet", "crate", "slab"].map(String::from);
    let models = client.models_of(&Schema::of_models(names).unwrap(), &arena()).unwrap();
    assert_eq!(models[0].source(), STAR);
    assert!(models[1].is_shipped() && !models[2].is_shipped());
    let unknown =
        client.models_of(&Schema::of_models(["gem".into()]).unwrap(), &arena()).unwrap_err();
    assert!(unknown.to_string().contains("gem"), "{unknown}");
}

#[test]
fn nothing_of_its_own_is_no_bytes() {
    let data = GameData::default().with_models(&shipped()).unwrap();
    assert_eq!((data.bytes().len(), data.hash()), (0, None));
    assert_eq!(GameData::from_bytes(&[]), Ok(GameData::default()));
    assert_eq!(GameData::parse(""), Ok(GameData::default()));
}

#[test]
fn a_model_under_a_shipped_name_is_sent() {
    let own = Model::from_obj("crate", STAR).unwrap();
    let data = GameData::default().with_models(&[own]).unwrap();
    let client = GameData::from_bytes(data.bytes()).unwrap();
    let models = client.models_of(&Schema::of_models(["crate".into()]).unwrap(), &arena()).unwrap();
    assert_eq!(models[0].source(), STAR);
}

/// Materials come from the file. A game may make missiles of a model of the file, or of one that
/// ships.
#[test]
fn materials_and_kinds_of_bodies_reach_clients() {
    let text = format!(
        "{FILE}[materials.slab]\nfriction = 0.05\nrestitution = 0.9\nangular_damping = 0.0\n"
    );
    let file = GameData::read(&text, &mut |_, _| Ok(CUBE.to_owned())).unwrap();
    let slab = |data: &GameData| {
        data.models_of(&Schema::of_models(["slab".into()]).unwrap(), &arena()).unwrap()
    };
    let material = Material::new(0.05, 0.9).unwrap().with_angular_damping(0.0).unwrap();
    assert_eq!(slab(&file)[0].material(), material);
    let star = shipped().pop().unwrap();
    let thrown = [slab(&file)[0].clone(), star].map(Model::as_missile);
    let client = GameData::from_bytes(file.with_models(&thrown).unwrap().bytes()).unwrap();
    let models = client.models_of(
        &Schema::of_models(["slab", "star", "block"].map(String::from)).unwrap(),
        &arena(),
    );
    let models = models.unwrap();
    assert_eq!([0, 1, 2].map(|index| models[index].is_missile()), [true, true, false]);
    assert!(models[0].is_same(&thrown[0]) && !models[0].is_same(&slab(&file)[0]));
    let driven = format!("{FILE}[materials.slab]\nkinematic = true\n");
    let driven = GameData::read(&driven, &mut |_, _| Ok(CUBE.to_owned())).unwrap();
    let client = GameData::from_bytes(driven.bytes()).unwrap();
    assert!(slab(&client)[0].is_kinematic() && !slab(&file)[0].is_kinematic());
    assert_eq!(slab(&client)[0].material(), Material::USUAL);
    let flies = format!("{FILE}[materials.slab]\nmissile = true\nkinematic = false\n");
    let flies = GameData::read(&flies, &mut |_, _| Ok(CUBE.to_owned())).unwrap();
    let client = GameData::from_bytes(flies.bytes()).unwrap();
    assert!(slab(&client)[0].is_missile() && !slab(&file)[0].is_missile());
    for (table, expected) in [
        (
            "[materials.slab]\nmissile = true\nkinematic = true",
            "line 6, column 1: materials.slab: a kinematic body cannot be a missile",
        ),
        ("[materials.slab]\nkinematic = 1", "line 7, column 13: invalid type: integer `1`"),
        ("[materials.slab]\nfriction = 3", "line 7, column 12: friction is 3, not between 0 and 2"),
        (
            "[materials.slab]\nangular_damping = 100.1",
            "line 7, column 19: angular_damping is 100.1, not between 0 and 100",
        ),
        (
            "[materials.slab]\ndensity = 0",
            "line 7, column 11: density is 0, not between 0.00002 and 0.2",
        ),
        (
            "[materials.slab]\ngravity_scale = -11",
            "line 7, column 17: gravity_scale is -11, not between -10 and 10",
        ),
        (
            "[materials.slab]\nlinear_damping = nan",
            "line 7, column 18: linear_damping is NaN, not between 0 and 100",
        ),
        ("[bodies]\ngravity = 4001", "line 7, column 11: gravity is 4001, not between 0 and 4000"),
        ("[bodies]\nmass = 1", "line 7, column 1: unknown field `mass`"),
        ("[materials.slab]\nbounce = 1", "line 7, column 1: unknown field `bounce`"),
        ("[materials.gem]\n", "line 6, column 1: materials.gem: there is no gem in [models]"),
    ] {
        let refused = GameData::read(&format!("{FILE}{table}"), &mut |_, _| Ok(CUBE.to_owned()));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.starts_with(expected), "{refused} instead of {expected}");
    }
}

/// If all numbers have their defaults, they are left out of the data.
#[test]
fn gravity_and_mass_reach_clients() {
    let read = |more: &str| {
        let text = format!("{FILE}{more}");
        GameData::read(&text, &mut |_, _| Ok(CUBE.to_owned())).unwrap()
    };
    let floats = "[materials.slab]\ndensity = 0.0001\ngravity_scale = -0.1\nlinear_damping = 2\n";
    let file = read(&format!("{floats}[bodies]\ngravity = 300\n"));
    let client = GameData::from_bytes(file.bytes()).unwrap();
    assert_eq!((client.body_gravity(), read("").body_gravity()), (300.0, 800.0));
    assert!(file.models().len() > 1, "the file has other models");
    for (told, known) in client.models().iter().zip(file.models()) {
        assert_eq!(told.material(), known.material(), "{}", known.name());
    }
    let slab = client.models().iter().find(|model| model.name() == "slab").unwrap().material();
    assert_eq!((slab.density(), slab.gravity_scale()), (0.0001, -0.1));
    assert_eq!(slab.linear_damping(), 2.0);
    for length in 1..file.bytes().len() {
        // Cut data are valid only if they end just before these numbers.
        let cut = GameData::from_bytes(&file.bytes()[..length]);
        assert!(cut.is_err() || cut.unwrap().body_gravity() == 800.0, "{length} bytes");
    }
    let usual = read("[bodies]\ngravity = 800\n[materials.slab]\ndensity = 0.002\n");
    let (_, used): (Encoded, usize) =
        bincode::decode_from_slice(usual.bytes(), bincode::config::standard()).unwrap();
    assert_eq!(used, usual.bytes().len());
    let whole = |materials: Vec<[f64; 3]>, body_gravity: f64| {
        let more = Dynamics { body_gravity, materials };
        let more = bincode::encode_to_vec(more, bincode::config::standard()).unwrap();
        GameData::from_bytes(&[usual.bytes(), &more].concat())
    };
    let count = usual.models().len();
    assert!(whole(vec![[0.0, 1.0, 0.002]; count], 300.0).is_ok());
    assert!(whole(vec![[0.0, 1.0, 0.002]; count + 1], 300.0).is_err());
    assert!(whole(vec![[0.0, 1.0, 0.002]; count], f64::NAN).is_err());
    assert!(whole(vec![[0.0, 1.0, 0.0]; count], 300.0).is_err());
}

/// Data may come from anyone.
#[test]
fn damaged_data_are_refused() {
    let whole = of_file().bytes().to_vec();
    for length in 1..whole.len() {
        assert!(GameData::from_bytes(&whole[..length]).is_err(), "{length} bytes");
    }
    assert!(GameData::from_bytes(&[&whole[..], b"\0"].concat()).is_err());
    assert!(GameData::from_bytes(&vec![0; MAX_GAME_DATA + 1]).is_err());
    let of_kind = |kind: u8, text: &str, gravity: f64, friction: f64, models: &[(&str, &str)]| {
        let model = |(name, text): &(&str, &str)| EncodedModel {
            name: (*name).to_owned(),
            friction,
            restitution: 0.2,
            angular_damping: 0.4,
            kind,
            text: (*text).to_owned(),
        };
        let models = models.iter().map(model).collect();
        let movement = MovementParameters { gravity, ..MovementParameters::default() }.to_array();
        let encoded = Encoded { text: text.to_owned(), movement, movements: Vec::new(), models };
        let bytes = bincode::encode_to_vec(encoded, bincode::config::standard()).unwrap();
        GameData::from_bytes(&bytes).map(drop).map_err(|error| error.to_string())
    };
    let of = |text: &str, gravity: f64, friction: f64, models: &[_]| {
        of_kind(0, text, gravity, friction, models)
    };
    for kind in 0..=255 {
        let read = of_kind(kind, "", 800.0, 0.6, &[("block", CUBE)]);
        let refused = format!("model block: {kind} is not a kind of body");
        assert_eq!(read, if kind < 3 { Ok(()) } else { Err(refused) });
    }
    let encoded = |text: &str, gravity: f64, models: &[_]| of(text, gravity, 0.6, models);
    for friction in [-0.1, 2.1, f64::NAN] {
        let refused = of("", 800.0, friction, &[("block", CUBE)]).unwrap_err();
        assert!(refused.contains("friction is"), "{refused}");
    }
    assert_eq!(encoded(FILE, 400.0, &[("block", CUBE)]), Ok(()));
    assert!(encoded("", 800.0, &[("block", "v 0 0 0\n")]).unwrap_err().contains("block"));
    for gravity in [5000.0, -1.0, f64::NAN] {
        assert!(encoded("", gravity, &[]).unwrap_err().contains("gravity is"));
    }
    assert!(encoded(&"#".repeat(MAX_GAME_FILE + 1), 800.0, &[]).unwrap_err().contains("too long"));
    assert!(encoded("", 800.0, &vec![("block", CUBE); 129]).unwrap_err().contains("too many"));
}
