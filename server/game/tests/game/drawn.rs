//! Small maps, as text.

use std::sync::Arc;

use glam::DVec3;
use obsp::{CompileOptions, Source, Spaces, compile};

/// The map of these brushes and entities, compiled for the sizes of players in `spaces`.
pub(crate) fn map(spaces: &Spaces, brushes: &str, entities: &str) -> Arc<obsp::Map> {
    let text = format!("{{\n\"classname\" \"worldspawn\"\n{brushes}}}\n{entities}");
    let source = Source::from_text("drawn", text);
    let compiled = compile(&source, spaces, &CompileOptions::default(), &mut |_, _, _| ());
    Arc::new(compiled.expect("the map compiles").map)
}

/// A brush in the shape of a box.
pub(crate) fn brush(min: DVec3, max: DVec3) -> String {
    let ([x0, y0, z0], [x1, y1, z1]) = (min.to_array(), max.to_array());
    format!(
        "{{\n\
        ( {x0} {y0} {z1} ) ( {x0} {y1} {z1} ) ( {x1} {y0} {z1} ) stone 0 0 0 1 1\n\
        ( {x0} {y0} {z0} ) ( {x1} {y0} {z0} ) ( {x0} {y1} {z0} ) stone 0 0 0 1 1\n\
        ( {x1} {y0} {z0} ) ( {x1} {y0} {z1} ) ( {x1} {y1} {z0} ) stone 0 0 0 1 1\n\
        ( {x0} {y0} {z0} ) ( {x0} {y1} {z0} ) ( {x0} {y0} {z1} ) stone 0 0 0 1 1\n\
        ( {x0} {y1} {z0} ) ( {x1} {y1} {z0} ) ( {x0} {y1} {z1} ) stone 0 0 0 1 1\n\
        ( {x0} {y0} {z0} ) ( {x0} {y0} {z1} ) ( {x1} {y0} {z0} ) stone 0 0 0 1 1\n}}\n"
    )
}
