//! Round trips of `.obsp` files, and the answers to damaged and hostile ones.

use proptest::prelude::*;

use super::*;
use crate::body::Sphere;
use crate::geometry::{Aabb, ConvexSolid, Plane};
use crate::map::liquid::{Liquid, LiquidKind, MAX_LIQUIDS};
use crate::{CompileOptions, Source, Spaces, Trace, compile};
use glam::{DVec3, Vec3};

/// A block of 64 units with a corner cut off, a trigger and a spawn point.
fn small_world() -> Map {
    let block = "{
        ( 0 0 64 ) ( 0 1 64 ) ( 1 0 64 ) top 0 0 0 1 1
        ( 0 0 0 ) ( 1 0 0 ) ( 0 1 0 ) bottom 0 0 0 1 1
        ( 64 0 0 ) ( 64 0 1 ) ( 64 1 0 ) east 0 0 0 1 1
        ( 0 0 0 ) ( 0 1 0 ) ( 0 0 1 ) west 0 0 0 1 1
        ( 0 64 0 ) ( 1 64 0 ) ( 0 64 1 ) north 0 0 0 1 1
        ( 0 0 0 ) ( 0 0 1 ) ( 1 0 0 ) south 0 0 0 1 1
        ( 64 48 0 ) ( 48 64 1 ) ( 48 64 0 ) corner 0 0 0 1 1
        }";
    let text = format!(
        "{{\n\"classname\" \"worldspawn\"\n{block}\n}}
        {{\n\"classname\" \"trigger_push\"\n{block}\n}}
        {{\n\"classname\" \"info_player_start\"\n\"origin\" \"1 2 3\"\n}}"
    );
    compile(
        &Source::from_text("small", text),
        &Spaces::default(),
        &CompileOptions { strict: true, ..CompileOptions::default() },
        &mut |_, _, _| (),
    )
    .unwrap_or_else(|error| panic!("{error}"))
    .map
}

/// A file with this body and the right hash, as an attacker would send it.
fn file(body: &[u8]) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
    bytes.extend_from_slice(&hash(body));
    bytes.extend_from_slice(body);
    bytes
}

#[test]
fn a_world_comes_back_as_it_was() {
    let map = small_world();
    let bytes = map.to_bytes();
    let again = Map::from_bytes(&bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.to_bytes(), bytes);
    assert_eq!(again.hash(), map.hash());
    assert_eq!(again.name(), "small");
    assert_eq!(again.sizes(), map.sizes());
    assert_eq!(again.parts.onion, map.parts.onion);
    assert_eq!(again.shift_tree(), map.shift_tree());
    assert_eq!(again.polygons(), map.polygons());
    assert_eq!(again.solids(), map.solids());
    assert_eq!(again.entities(), map.entities());
    assert_eq!(again.entities()[1].solids().len(), 1);
    assert_eq!(file(&bytes[BODY_AT..]), bytes);
}

#[test]
fn a_file_is_saved_whole_and_loaded() {
    let map = small_world();
    let folder = std::env::temp_dir().join(format!("obsp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the test's folder can be made");
    let path = folder.join("small.obsp");
    map.save(&path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Map::load(&path).unwrap_or_else(|e| panic!("{e}")).hash(), map.hash());
    let left: Vec<_> = std::fs::read_dir(&folder).expect("the folder exists").collect();
    assert_eq!(left.len(), 1, "{left:?}");
    std::fs::write(&path, b"OBSP").expect("the test can write to its folder");
    assert!(Map::load(&path).is_err_and(|e| e.to_string().contains("small.obsp")));
    std::fs::remove_dir_all(&folder).expect("the test can remove its folder");
    assert!(matches!(Map::load(&path), Err(LoadMapError::Read { .. })));
    assert!(map.save(&path).is_err_and(|e| e.path == path));
}

/// The small world with water that a block of lava reaches into.
fn wet_world() -> Map {
    let cube = |low: f64, high: f64| {
        ConvexSolid::from_box(&Aabb { min: DVec3::splat(low), max: DVec3::splat(high) })
            .expect("a cube")
    };
    let liquids = vec![
        Liquid::new(LiquidKind::Lava, cube(-100.0, -50.0)),
        Liquid::new(LiquidKind::Water, cube(-50.0, 0.0)),
    ];
    Map::new(small_world().parts, liquids)
}

#[test]
fn liquids_follow_the_body_and_come_back_as_they_were() {
    let (dry, wet) = (small_world(), wet_world());
    let (body, bytes) = (dry.to_bytes(), wet.to_bytes());
    // The body of a map with liquids is that of the same map without them.
    let content = &bytes[BODY_AT..];
    let section = content.strip_prefix(&body[BODY_AT..]).expect("the same body");
    assert_eq!(&section[..8], b"LIQD\x01\0\0\0");
    assert_eq!(section[8..12], (section.len() as u32 - 12).to_le_bytes());
    assert_ne!(dry.hash(), wet.hash(), "clients predict swimming");
    let again = Map::from_bytes(&bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.to_bytes(), bytes);
    assert_eq!((again.hash(), again.liquids()), (wet.hash(), wet.liquids()));
    let at = |x: f64| again.liquid_at(DVec3::splat(x));
    assert_eq!(at(-25.0), Some(LiquidKind::Water));
    assert_eq!(at(-50.0), Some(LiquidKind::Lava), "a common point");
    assert_eq!(at(-75.0), Some(LiquidKind::Lava));
    assert_eq!([at(-100.1), at(0.1), at(f64::NAN), at(f64::INFINITY)], [None; 4]);
    let mut touched = Vec::new();
    again.liquids_touching(&Aabb::around([DVec3::splat(-40.0)]), |index| touched.push(index));
    assert_eq!(touched, [1]);
    assert_eq!(dry.liquid_at(DVec3::splat(-25.0)), None);
}

/// A section with this tag, version and content.
fn section(tag: &[u8; 4], version: u32, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_le_bytes();
    [&tag[..], &version.to_le_bytes(), &length, content].concat()
}

/// A file of the small world, followed by `sections`.
fn followed_by(sections: &[Vec<u8>]) -> Vec<u8> {
    let body = small_world().to_bytes().split_off(BODY_AT);
    file(&[body, sections.concat()].concat())
}

#[test]
fn unknown_sections_are_skipped_and_kept() {
    for sections in [
        vec![section(b"AAAA", 7, b"anything")],
        vec![section(b"LIQD", 2, &[255; 40]), section(b"ZZZZ", 0, b"")],
    ] {
        let bytes = followed_by(&sections);
        let map = Map::from_bytes(&bytes).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(map.to_bytes(), bytes);
        assert!(map.liquids().is_empty());
    }
    let unordered = [section(b"BBBB", 1, b""), section(b"AAAA", 1, b"")];
    assert!(matches!(Map::from_bytes(&followed_by(&unordered)), Err(FormatError::Form)));
    let twice = [section(b"AAAA", 1, b""), section(b"AAAA", 1, b"")];
    assert!(matches!(Map::from_bytes(&followed_by(&twice)), Err(FormatError::Form)));
    let lower = [section(b"liqd", 1, b"")];
    assert!(matches!(Map::from_bytes(&followed_by(&lower)), Err(FormatError::Trailing(12))));
    let mut long = section(b"AAAA", 1, b"123");
    long[8] += 1;
    assert!(matches!(Map::from_bytes(&followed_by(&[long])), Err(FormatError::Trailing(15))));
}

#[test]
fn damaged_liquids_are_refused() {
    let content = |bytes: &[u8]| Map::from_bytes(&followed_by(&[section(b"LIQD", 1, bytes)]));
    let wet = wet_world().to_bytes();
    let whole = wet[small_world().to_bytes().len() + 12..].to_vec();
    assert_eq!(content(&whole).expect("whole").liquids(), wet_world().liquids());
    for length in 0..whole.len() {
        assert!(content(&whole[..length]).is_err(), "cut to {length}");
        let claim = [&whole[..length], &[253], &[255; 8], &whole[length + 1..]].concat();
        assert!(content(&claim).is_err(), "a claim at {length}");
    }
    assert!(matches!(content(&[0]), Err(FormatError::Form)), "an empty list");
    assert!(matches!(content(&[&whole[..], &[0]].concat()), Err(FormatError::Trailing(1))));
    let mut kind = whole.clone();
    assert_eq!(kind[1], LiquidKind::Lava.code());
    kind[1] = LiquidKind::ALL.len() as u8;
    assert!(matches!(content(&kind), Err(FormatError::Liquid(0))));
}

#[test]
fn damage_is_noticed() {
    let bytes = small_world().to_bytes();
    for length in 0..bytes.len() {
        assert!(Map::from_bytes(&bytes[..length]).is_err(), "cut to {length}");
    }
    let altered = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        Map::from_bytes(&bytes).expect_err("altered")
    };
    assert!(matches!(altered(0), FormatError::Magic));
    assert!(matches!(altered(MAGIC.len()), FormatError::Version(v) if v == VERSION ^ 1));
    assert!(matches!(altered(HASH_AT), FormatError::Damaged));
    assert!(matches!(altered(BODY_AT), FormatError::Damaged));
    assert!(matches!(altered(bytes.len() - 1), FormatError::Damaged));
}

#[test]
fn lengths_beyond_the_input_are_rejected() {
    let bytes = small_world().to_bytes();
    let body = &bytes[BODY_AT..];
    let longer = [body, &[0]].concat();
    assert!(matches!(Map::from_bytes(&file(&longer)), Err(FormatError::Trailing(1))));
    for length in 0..body.len() {
        assert!(Map::from_bytes(&file(&body[..length])).is_err(), "cut to {length}");
    }
    let long_zero = [&[251, 5, 0], &body[1..]].concat();
    assert!(matches!(Map::from_bytes(&file(&long_zero)), Err(FormatError::Form)));
    // Each byte is replaced by a length that claims 2^64 - 1 items.
    for at in 0..body.len() {
        let claim = [&body[..at], &[253], &[255; 8], &body[at + 1..]].concat();
        if let Ok(map) = Map::from_bytes(&file(&claim)) {
            panic!("accepted at {at}: {map:?}");
        }
    }
}

/// A cone with this number of faces; the last is its base.
fn cone(faces: u32) -> ConvexSolid {
    let side = |i: u32| {
        let (s, c) = (std::f64::consts::TAU * f64::from(i) / f64::from(faces - 1)).sin_cos();
        let normal = DVec3::new(c, s, 1.0).normalize();
        Plane { normal, distance: normal.dot(DVec3::Z * 900.0) }
    };
    let floor = Plane { normal: DVec3::NEG_Z, distance: 0.0 };
    let planes: Vec<Plane> = (1..faces).map(side).chain([floor]).collect();
    let solid = ConvexSolid::from_planes(&planes).expect("a cone");
    assert_eq!(solid.faces().len(), faces as usize);
    solid
}

#[test]
fn capacities_hold_what_they_say_and_no_more() {
    let with = |faces| {
        let mut map = small_world();
        map.parts.solids.push(cone(faces));
        Map::from_bytes(&Map::new(map.parts, Vec::new()).to_bytes())
    };
    assert!(with(MAX_FACES as u32).is_ok());
    let beyond = with(MAX_FACES as u32 + 1);
    assert!(matches!(beyond, Err(FormatError::Solid(1))), "{beyond:?}");
    let with = |count| {
        let liquid = wet_world().liquids()[0].clone();
        Map::from_bytes(&Map::new(small_world().parts, vec![liquid; count]).to_bytes())
    };
    assert_eq!(with(MAX_LIQUIDS).expect("as many as said").liquids().len(), MAX_LIQUIDS);
    assert!(matches!(with(MAX_LIQUIDS + 1), Err(FormatError::Liquids(_))));
    let long = vec![0; MAX_BYTES + 1];
    assert!(matches!(Map::from_bytes(&long), Err(FormatError::TooLarge)));
    assert!(matches!(Map::from_bytes(&long[1..]), Err(FormatError::Magic)));
}

proptest! {
    /// An attacker can give any body its right hash. A map that is accepted must
    /// answer every query without a panic.
    #[test]
    fn hostile_bodies_are_rejected_or_answer_queries(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let bytes = wet_world().to_bytes();
        let mut body = bytes[BODY_AT..].to_vec();
        for (index, value) in changes {
            let at = index.index(body.len());
            body[at] = value;
        }
        if let Some(cut) = cut {
            body.truncate(cut.index(body.len()));
        }
        let Ok(map) = Map::from_bytes(&file(&body)) else { return Ok(()) };
        let ball = Sphere::new(8.0).expect("in range");
        let corners = [Vec3::ZERO, Vec3::splat(64.0), Vec3::new(-300.0, 20.0, 32.0), Vec3::MAX];
        for start in corners {
            for end in corners {
                for (size, _) in map.parts.spaces.iter() {
                    if let Trace::Hit(hit) = map.find_first_transition(size, start, end) {
                        prop_assert!((0.0..=1.0).contains(&hit.time));
                        prop_assert!(!map.is_solid(size, hit.end));
                    }
                }
                if let Trace::Hit(hit) = map.cast(&ball, start, end) {
                    prop_assert!((0.0..=1.0).contains(&hit.time));
                    prop_assert!(hit.end == start || !map.overlaps(&ball, hit.end));
                }
            }
        }
        map.solids_touching(&map.bounds(), |_| ());
        map.liquids_touching(&map.bounds(), |_| ());
        let _ = corners.map(|corner| map.liquid_at(corner.as_dvec3()));
        prop_assert_eq!(map.to_bytes(), file(&body));
    }

    #[test]
    fn random_bytes_are_rejected(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Map::from_bytes(&noise).is_err());
        // With the right hash the bytes are accepted only if they are a valid body.
        if let Ok(map) = Map::from_bytes(&file(&noise)) {
            prop_assert_eq!(map.to_bytes(), file(&noise));
        }
    }
}
