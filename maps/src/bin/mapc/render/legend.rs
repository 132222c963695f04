//! The legend: name and size of the map, heights, scale, and the kinds of entities.

use glam::DVec2;
use obsp::{Map, Size};

use super::canvas::{Canvas, Colour, LINE};
use super::entities::EntityKind;
use super::ground::{self, NARROW, SOLID};
use super::survey::Survey;
use super::view::View;

const INK: Colour = [24, 24, 28];
const QUIET: Colour = [110, 110, 110];

/// Size of the bar of heights, in pixels.
const BAR: DVec2 = DVec2::new(22.0, 160.0);

/// Side of a sample of a colour, in pixels.
const SAMPLE: f64 = 14.0;

/// A column of text.
struct Column<'a> {
    canvas: &'a mut Canvas,
    at: DVec2,
}

impl Column<'_> {
    fn line(&mut self, text: &str, colour: Colour) {
        self.canvas.text(self.at, text, colour);
        self.at.y += LINE;
    }

    fn sample(&mut self, text: &str, paint: impl Fn(&mut Canvas, DVec2)) {
        paint(self.canvas, self.at + DVec2::new(SAMPLE * 0.5 + 2.0, 8.0));
        self.canvas.text(self.at + DVec2::new(SAMPLE + 12.0, 0.0), text, INK);
        self.at.y += LINE + 2.0;
    }

    fn gap(&mut self) {
        self.at.y += LINE * 0.6;
    }
}

pub(super) fn paint(
    canvas: &mut Canvas,
    view: &View,
    survey: &Survey,
    map: &Map,
    space: Option<&Size>,
    cut: Option<f64>,
    counts: &[(EntityKind, usize)],
) {
    let at = DVec2::new(view.legend_left(), view.map_corner().y);
    let mut column = Column { canvas, at };
    column.line(map.name(), INK);
    let extent = map.bounds().max - map.bounds().min;
    column.line(&format!("{} x {} x {} units", extent.x, extent.y, extent.z), QUIET);
    column.line(
        &match cut {
            Some(cut) => format!("cut open at height {cut}"),
            None => "from above, without roofs".into(),
        },
        QUIET,
    );
    column.gap();
    scale(&mut column, view);
    heights(&mut column, survey);
    let patch = |colour: Colour, alpha: f64| {
        move |canvas: &mut Canvas, centre: DVec2| {
            let half = DVec2::splat(SAMPLE * 0.5);
            canvas.rectangle(centre - half, centre + half, colour, alpha);
        }
    };
    column.sample("solid", patch(SOLID, 1.0));
    if let Some(size) = space {
        let full = size.half_extents * 2.0;
        column.sample(&format!("no room for {}", size.name), patch(NARROW, 0.6));
        column.line(&format!("   {} x {} x {} units", full.x, full.y, full.z), QUIET);
        column.line(
            if cut.is_some() { "   with its centre here" } else { "   on this floor" },
            QUIET,
        );
    }
    column.gap();
    for &(kind, count) in counts {
        column.sample(&format!("{count} {}", kind.name(count)), |canvas, centre| {
            kind.sample(canvas, centre, SAMPLE * 0.5);
        });
    }
}

fn scale(column: &mut Column<'_>, view: &View) {
    let units = view.round_distance(ground::GRID);
    let (from, length) = (column.at + DVec2::new(0.0, 8.0), view.pixels(units));
    let to = from + DVec2::new(length, 0.0);
    column.canvas.line(from, to, 2.0, INK);
    for end in [from, to] {
        column.canvas.line(end - DVec2::new(0.0, 5.0), end + DVec2::new(0.0, 5.0), 2.0, INK);
    }
    let label = to + DVec2::new(10.0, -8.0);
    column.canvas.text(label, &format!("{units} units"), INK);
    column.at.y += LINE;
    column.line("north, +y, is up", QUIET);
    column.gap();
}

fn heights(column: &mut Column<'_>, survey: &Survey) {
    if survey.lowest > survey.highest {
        column.line("no floor is visible", QUIET);
        return;
    }
    column.line("height of the floor", INK);
    let (low, high) = (survey.lowest, survey.highest);
    let top = column.at;
    for i in 0..BAR.y as u32 {
        let share = 1.0 - f64::from(i) / BAR.y;
        let colour = ground::tint(low + (high - low) * share, low, high);
        let y = top.y + f64::from(i);
        column.canvas.rectangle(
            DVec2::new(top.x, y),
            DVec2::new(top.x + BAR.x, y + 1.0),
            colour,
            1.0,
        );
    }
    let bar = [top, top + DVec2::new(BAR.x, 0.0), top + BAR, top + DVec2::new(0.0, BAR.y)];
    column.canvas.outline(&bar, 1.0, QUIET);
    for i in 0..=4 {
        let share = f64::from(i) / 4.0;
        let height = (low + (high - low) * share).round();
        let y = top.y + BAR.y * (1.0 - share);
        column.canvas.text(DVec2::new(top.x + BAR.x + 8.0, y - 8.0), &format!("{height}"), INK);
    }
    column.at.y += BAR.y + LINE;
}
