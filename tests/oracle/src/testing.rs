//! Maps for tests, each built by one expression.

/// The text of a map with these brushes, which are given as the lines of their faces.
pub(crate) fn map(brushes: &[&str]) -> String {
    let mut text = "{\n\"classname\" \"worldspawn\"\n".to_owned();
    for brush in brushes {
        text += &format!("{{\n{brush}}}\n");
    }
    text + "}\n"
}

/// The faces of a box along the axes.
pub(crate) fn cuboid(min: [i64; 3], max: [i64; 3]) -> String {
    let ([a, b, c], [x, y, z]) = (min, max);
    format!(
        "( {a} {b} {z} ) ( {a} {y} {z} ) ( {x} {y} {z} ) t\n\
         ( {x} {y} {c} ) ( {a} {y} {c} ) ( {a} {b} {c} ) t\n\
         ( {a} {b} {c} ) ( {a} {b} {z} ) ( {x} {b} {z} ) t\n\
         ( {x} {y} {z} ) ( {a} {y} {z} ) ( {a} {y} {c} ) t\n\
         ( {a} {y} {z} ) ( {a} {b} {z} ) ( {a} {b} {c} ) t\n\
         ( {x} {b} {c} ) ( {x} {b} {z} ) ( {x} {y} {z} ) t\n"
    )
}
