//! The source, sorted into the brushes of the static world and the entities.

use glam::DVec3;

use super::brush;
use super::contents::{Contents, Flow, contents};
use super::error::{BrushFault, BrushWarning, CompileError, Unsupported};
use super::game_form::{FORM_KEY, GameForm, RecognisedForm, is_worldspawn};
use super::liquids::LiquidBrush;
use super::options::CompileOptions;
use super::source::{OmittedLayers, Source};
use super::textures;
use crate::geometry::ConvexSolid;
use crate::map::MapEntity;

/// The class of a volume in which liquids flow. A designer may also draw such a volume.
const CURRENT: &str = "trigger_current";

/// The key `speed`, in units per second, of a current for which the map gives only a direction.
/// Quake II adds 400 to the wished speed of players in a current, and swimming halves that speed.
const CURRENT_SPEED: &str = "200";

/// The solids and entities of a map.
#[derive(Default)]
pub(super) struct ParsedMap {
    pub(super) statics: Vec<StaticBrush>,
    pub(super) liquids: Vec<LiquidBrush>,
    pub(super) entities: Vec<MapEntity>,
    /// Lines of the entities' opening braces.
    pub(super) entity_lines: Vec<u64>,
    pub(super) occupants: Vec<Occupant>,
    pub(super) warnings: Vec<BrushWarning>,
    pub(super) form: RecognisedForm,
    pub(super) omitted: Option<OmittedLayers>,
    pub(super) unsupported: Vec<Unsupported>,
    /// The number of brushes in the source, plus the solids that stand for curves.
    pub(super) brushes: usize,
}

/// A brush of the static world.
pub(super) struct StaticBrush {
    pub(super) line: u64,
    /// Whether the brush is solid for boxes and bodies, but not for the bare point.
    pub(super) clip: bool,
    pub(super) solid: ConvexSolid,
    /// The names of the textures on the faces of `solid`.
    pub(super) textures: Vec<String>,
}

/// A point entity, at which a player may be.
pub(super) struct Occupant {
    pub(super) classname: String,
    /// Line of the entity's opening brace.
    pub(super) line: u64,
    pub(super) origin: DVec3,
}

impl ParsedMap {
    pub(super) fn read(source: &Source, options: &CompileOptions) -> Result<Self, CompileError> {
        let map = source.parse(options.curves)?;
        let mut parsed = Self { form: map.form, omitted: map.omitted, ..Self::default() };
        let form = parsed.form.form;
        let counted = |lines: &[u64], fault: fn(usize) -> BrushFault| {
            lines.first().map(|&line| (line, fault(lines.len())))
        };
        let left_out = counted(&map.left_out, BrushFault::Curves);
        let unreadable = counted(&map.unreadable, BrushFault::UnreadableCurves);
        for (line, fault) in left_out.into_iter().chain(unreadable) {
            parsed.warn(source, options, line, fault)?;
        }
        let mut currents = Vec::new();
        for entity in map.entities {
            let (mut own, mut origin) = (Vec::new(), None);
            for brush in &entity.brushes {
                parsed.brushes += 1;
                let solid = match brush::solid(brush) {
                    Ok((solid, redundant)) => {
                        if let Some(face) = redundant {
                            let fault = BrushFault::Redundant(face);
                            parsed.warn(source, options, brush.line, fault)?;
                        }
                        solid
                    }
                    Err(reason) => {
                        let fault = BrushFault::LeftOut(reason);
                        parsed.warn(source, options, brush.line, fault)?;
                        continue;
                    }
                };
                let (contents, unsupported) = contents(form, &entity, brush);
                Unsupported::count(&mut parsed.unsupported, unsupported);
                match contents {
                    Contents::Solid | Contents::Clip => {
                        if let Some(reason) = brush::too_thin(&solid) {
                            let fault = BrushFault::LeftOut(reason);
                            parsed.warn(source, options, brush.line, fault)?;
                            continue;
                        }
                        let clip = contents == Contents::Clip;
                        let textures = textures::of_faces(&solid, brush);
                        let line = brush.line;
                        parsed.statics.push(StaticBrush { line, clip, solid, textures });
                    }
                    Contents::Liquid(kind) | Contents::Current(kind, _)
                        if brush::too_thin(&solid).is_none() =>
                    {
                        if let Contents::Current(_, flow) = contents {
                            currents.push((brush.line, flow, solid.clone()));
                        }
                        parsed.liquids.push(LiquidBrush { line: brush.line, kind, solid });
                    }
                    // Nobody would feel a thinner liquid.
                    Contents::Liquid(_) | Contents::Current(..) | Contents::Passable => (),
                    Contents::Origin => origin = Some(solid.bounds().centre()),
                    Contents::Entity => own.push(solid),
                }
            }
            let point = entity.brushes.is_empty();
            let (line, mut entity) = (entity.line, MapEntity { pairs: entity.pairs, solids: own });
            if let Some(DVec3 { x, y, z }) = origin {
                // As in Quake II and its successors, the middle of the brush becomes the key.
                entity.pairs.push(("origin".to_owned(), format!("{x} {y} {z}")));
            }
            let classname = entity.classname();
            if let Some(origin) = entity.origin()
                && point
                && !is_worldspawn(classname)
            {
                parsed.occupants.push(Occupant { classname: classname.to_owned(), line, origin });
            }
            parsed.entities.push(entity);
            parsed.entity_lines.push(line);
        }
        for (line, flow, solid) in currents {
            parsed.add_current(line, flow, &solid);
        }
        parsed.tell_form();
        if parsed.statics.is_empty() {
            return Err(parsed.nothing_solid(source));
        }
        Ok(parsed)
    }

    /// The error of a map in which no brush is solid.
    pub(super) fn nothing_solid(&self, source: &Source) -> CompileError {
        let mut entities = self.entities.iter().zip(&self.entity_lines);
        let drawn = entities.find(|(entity, _)| !entity.solids.is_empty());
        CompileError::NothingSolid {
            path: source.path().to_owned(),
            brushes: self.brushes,
            entity: drawn.map(|(entity, &line)| (line, entity.classname().to_owned())),
            left_out: self.warnings.first().cloned().map(Box::new),
            omitted: self.omitted.as_ref().map(|all| all.line),
        }
    }

    /// Adds an entity for each direction in which the liquid of a brush flows.
    fn add_current(&mut self, line: u64, flow: Flow, solid: &ConvexSolid) {
        for angle in flow.angles() {
            let pairs = [("classname", CURRENT), ("angle", angle), ("speed", CURRENT_SPEED)];
            let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
            self.entities.push(MapEntity { pairs, solids: vec![solid.clone()] });
            self.entity_lines.push(line);
        }
    }

    /// Writes the game form into the key of worldspawn. A map of Quake's form that lacks the key
    /// does not get it.
    fn tell_form(&mut self) {
        let world = self.entities.iter().position(|e| is_worldspawn(e.classname()));
        let Some(world) = self.entities.get_mut(world.unwrap_or(0)) else { return };
        let form = self.form.form;
        if form != GameForm::Quake || world.get(FORM_KEY).is_some() {
            world.pairs.retain(|(key, _)| key != FORM_KEY);
            world.pairs.push((FORM_KEY.to_owned(), form.name().to_owned()));
        }
    }

    /// Adds a warning about a brush, or fails with it if `options` are strict.
    fn warn(
        &mut self,
        source: &Source,
        options: &CompileOptions,
        line: u64,
        fault: BrushFault,
    ) -> Result<(), CompileError> {
        let warning = BrushWarning { path: source.path().to_owned(), line, fault };
        if options.strict {
            return Err(CompileError::Brush(warning));
        }
        self.warnings.push(warning);
        Ok(())
    }
}
