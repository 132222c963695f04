//! The sets of movement parameters of a match: how players usually move, and how a game lets single
//! players move for a while.

use thiserror::Error;

use super::parameters::{MovementError, MovementParameters};
use crate::state::{MAX_MOVEMENT_SETS, MovementId};

/// Maximum length of the name of a set, in bytes.
const MAX_NAME: usize = 32;

/// The sets of movement parameters of a match. Players move by the usual set, unless the game has
/// given them another set, such as one with twice the speed.
///
/// ```
/// use obsp_sim::{MovementParameters, MovementSets};
///
/// let usual = MovementParameters::default();
/// let haste = MovementParameters { run_speed: 2.0 * usual.run_speed, ..usual };
/// let sets = MovementSets::from(usual).with("haste", haste)?;
/// let id = sets.find("haste").expect("it was added");
/// assert_eq!(sets.get(id).run_speed, 640.0);
/// assert_eq!(sets.find("slow"), None);
/// # Ok::<(), obsp_sim::MovementSetError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MovementSets {
    usual: MovementParameters,
    others: Vec<(String, MovementParameters)>,
}

/// The reason why a set of movement parameters cannot be added.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MovementSetError {
    /// A parameter is out of its range.
    #[error("the movement {name}: {error}")]
    Parameters {
        /// The name of the set.
        name: String,
        /// The parameter.
        error: MovementError,
    },
    /// There are too many sets.
    #[error(
        "the movement {name} is one too many: a match has at most {} besides the usual one",
        MAX_MOVEMENT_SETS - 1
    )]
    TooMany {
        /// The name of the set.
        name: String,
    },
    /// Two sets have the same name.
    #[error("there are two sets of movement parameters with the name {name}")]
    Twice {
        /// The name.
        name: String,
    },
    /// The name is empty or too long.
    #[error("a movement has a name of {bytes} bytes; names have 1 to {MAX_NAME} bytes")]
    Name {
        /// The length of the name.
        bytes: usize,
    },
}

impl From<MovementParameters> for MovementSets {
    fn from(usual: MovementParameters) -> Self {
        Self { usual, others: Vec::new() }
    }
}

impl MovementSets {
    /// Adds a set, or replaces the set of this name.
    ///
    /// # Errors
    /// [`MovementSetError`] if a parameter is out of its range, the name is empty or too long, or
    /// there are [`MAX_MOVEMENT_SETS`] already.
    pub fn with(
        mut self,
        name: &str,
        parameters: MovementParameters,
    ) -> Result<Self, MovementSetError> {
        let named = || name.to_owned();
        if name.is_empty() || name.len() > MAX_NAME {
            return Err(MovementSetError::Name { bytes: name.len() });
        }
        parameters
            .check()
            .map_err(|error| MovementSetError::Parameters { name: named(), error })?;
        match self.others.iter().position(|(known, _)| known == name) {
            Some(index) => self.others[index].1 = parameters,
            None if self.others.len() + 1 < MAX_MOVEMENT_SETS => {
                self.others.push((named(), parameters));
            }
            None => return Err(MovementSetError::TooMany { name: named() }),
        }
        Ok(self)
    }

    /// The sets with these numbers, in the order of [`MovementParameters::RANGES`]. `usual` has the
    /// numbers of the usual set, and `others` has the name and the numbers of each other set.
    ///
    /// # Errors
    /// As [`MovementSets::with`], or two sets have one name.
    pub fn from_numbers(
        usual: [f64; MovementParameters::COUNT],
        others: &[(String, [f64; MovementParameters::COUNT])],
    ) -> Result<Self, MovementSetError> {
        let checked = |name: &str, numbers| {
            let name = name.to_owned();
            MovementParameters::from_array(numbers)
                .map_err(|error| MovementSetError::Parameters { name, error })
        };
        let mut sets = Self::from(checked("of all players", usual)?);
        for (name, numbers) in others {
            if sets.find(name).is_some() {
                return Err(MovementSetError::Twice { name: name.clone() });
            }
            sets = sets.with(name, checked(name, *numbers)?)?;
        }
        Ok(sets)
    }

    /// The numbers of the sets besides the usual one, as for [`MovementSets::from_numbers`].
    pub fn numbers_of_others(&self) -> Vec<(String, [f64; MovementParameters::COUNT])> {
        self.others.iter().map(|(name, set)| (name.clone(), set.to_array())).collect()
    }

    /// The parameters by which players usually move.
    pub fn usual(&self) -> &MovementParameters {
        &self.usual
    }

    /// These sets with other usual parameters.
    #[must_use]
    pub(crate) fn with_usual(self, usual: MovementParameters) -> Self {
        Self { usual, ..self }
    }

    /// The set of this name.
    pub fn find(&self, name: &str) -> Option<MovementId> {
        let index = self.others.iter().position(|(known, _)| known == name)?;
        MovementId::from_index(index + 1)
    }

    /// A set by its number; the usual one if there is no such set.
    pub fn get(&self, id: MovementId) -> &MovementParameters {
        let other = id.index().checked_sub(1).and_then(|index| self.others.get(index));
        other.map_or(&self.usual, |(_, parameters)| parameters)
    }

    /// The height in units of the highest step that any set has.
    pub fn highest_step(&self) -> f64 {
        let others = self.others.iter().map(|(_, parameters)| parameters.step_height);
        others.fold(self.usual.step_height, f64::max)
    }

    /// Whether there is a set of this number.
    pub fn has(&self, id: MovementId) -> bool {
        id.index() <= self.others.len()
    }

    /// Checks the usual parameters. The others were checked when they were added.
    pub(crate) fn check(&self) -> Result<(), MovementError> {
        self.usual.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_set_too_many_and_wrong_sets_are_refused() {
        let usual = MovementParameters::default();
        let mut sets = MovementSets::from(usual);
        for index in 1..MAX_MOVEMENT_SETS {
            let parameters = MovementParameters { run_speed: index as f64, ..usual };
            sets = sets.with(&format!("set {index}"), parameters).expect("there is room");
        }
        let refused = |name: &str, parameters| sets.clone().with(name, parameters).unwrap_err();
        assert_eq!(refused("more", usual), MovementSetError::TooMany { name: "more".into() });
        assert_eq!(refused("", usual), MovementSetError::Name { bytes: 0 });
        assert_eq!(refused(&"x".repeat(33), usual), MovementSetError::Name { bytes: 33 });
        let wrong = MovementParameters { gravity: f64::NAN, ..usual };
        assert!(refused("set 3", wrong).to_string().starts_with("the movement set 3: gravity is"));
        // A set of a known name is replaced, and keeps its number.
        let again = MovementParameters { run_speed: 77.0, ..usual };
        let replaced = sets.clone().with("set 3", again).expect("the name is known");
        let id = replaced.find("set 3").expect("it is there");
        assert_eq!((id.index(), replaced.get(id).run_speed), (3, 77.0));
        let last = MovementId::from_index(MAX_MOVEMENT_SETS - 1).expect("a number of the wire");
        assert_eq!(sets.get(last).run_speed, 15.0);
        assert_eq!(MovementId::from_index(MAX_MOVEMENT_SETS), None);
        assert_eq!(MovementSets::from(usual).get(last), &usual, "the usual set stands in");
        let climber = MovementParameters { step_height: 40.0, ..usual };
        assert_eq!(sets.highest_step(), usual.step_height);
        assert_eq!(replaced.with("set 2", climber).expect("known").highest_step(), 40.0);
        assert!(sets.has(last) && !MovementSets::from(usual).has(last));
    }
}
