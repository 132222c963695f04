//! Quake III: the surface parameters of shaders in the game's `common.shader`, and the effect of
//! each parameter on contents in the list of the game's compiler.

use super::Content;
use crate::map_text::Brush;

/// Shaders with the parameters that affect contents. A shader that is not listed is solid.
const SHADERS: &str = "
    areaportal: nonsolid areaportal
    clip: nonsolid playerclip
    playerclip: nonsolid playerclip
    clipplayer: playerclip
    metalclip: nonsolid playerclip
    nowalljumpclip: nonsolid playerclip
    ladder: nonsolid playerclip
    ladderclip: nonsolid playerclip
    clusterportal: nonsolid clusterportal
    donotenter: nonsolid donotenter
    hint: nonsolid
    hintlocal: nonsolid
    hintskip: nonsolid
    skip: nonsolid
    antiportal: nonsolid
    nodraw: nonsolid
    nodrawnonsolid: nonsolid
    nodrop: nonsolid nodrop
    origin: nonsolid origin
    botclip: nonsolid botclip
    monsterclip: nonsolid monsterclip
    clipmonster: nonsolid monsterclip
    lightgrid: nonsolid
    watercaulk: nonsolid water
    slimecaulk: nonsolid slime
    lavacaulk: nonsolid lava
    nodrawwater: water
    water: water
    slime: slime
    lava: lava
    fog: fog
    alpha_100: nonsolid
    alpha_75: nonsolid
    alpha_50: nonsolid
    alpha_25: nonsolid
    alpha_0: nonsolid
";

fn parameters(shader: &str) -> Vec<&'static str> {
    let shader = shader.to_ascii_lowercase().replace('\\', "/");
    let path: Vec<&str> = shader.split('/').skip_while(|part| *part == "textures").collect();
    match path.as_slice() {
        ["liquids", _, ..] => vec!["water"],
        ["sfx", rest @ ..] if rest.join("/").contains("fog") => vec!["fog"],
        ["common", name] | [name] => {
            let line = SHADERS.lines().find_map(|line| {
                let (shader, parameters) = line.trim().split_once(": ")?;
                (shader == *name).then_some(parameters)
            });
            line.map(|parameters| parameters.split(' ').collect()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The content of a brush, which has the parameters of all its faces. Liquids and fogs take
/// precedence over clips, and clips over the other parameters, each of which makes the brush not
/// solid.
pub(super) fn content(brush: &Brush) -> Content {
    let all: Vec<&str> = brush.faces.iter().flat_map(|face| parameters(&face.texture)).collect();
    let any = |wanted: &[&str]| wanted.iter().any(|parameter| all.contains(parameter));
    if any(&["origin", "water", "slime", "lava", "fog"]) {
        Content::Nothing
    } else if any(&["playerclip"]) {
        Content::Clip
    } else if all.is_empty() {
        Content::Solid
    } else {
        Content::Nothing
    }
}
