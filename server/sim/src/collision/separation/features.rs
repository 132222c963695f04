use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

/// Maximum number of pairs of vertices. A simplex that does not contain the origin has no more.
const MAX: usize = 3;

/// Up to three pairs of vertices, one of each part, by index: the simplex
/// between which the parts are closest. The next search starts there.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(from = "ArrayVec<[u16; 2], MAX>", into = "ArrayVec<[u16; 2], MAX>")]
pub(crate) struct Features {
    pairs: [[u16; 2]; MAX],
    len: u16,
}

impl Features {
    /// No features are known.
    pub(crate) const NONE: Self = Self { pairs: [[0; 2]; MAX], len: 0 };

    /// The features of these pairs. Pairs after the third are left out.
    pub(super) fn new(pairs: impl IntoIterator<Item = [u16; 2]>) -> Self {
        let mut features = Self::NONE;
        for (place, pair) in features.pairs.iter_mut().zip(pairs) {
            *place = pair;
            features.len += 1;
        }
        features
    }

    pub(crate) fn pairs(&self) -> &[[u16; 2]] {
        &self.pairs[..usize::from(self.len)]
    }

    /// These features with the two parts exchanged.
    pub(crate) fn reversed(self) -> Self {
        Self { pairs: self.pairs.map(|[a, b]| [b, a]), ..self }
    }

    /// Whether the two parts were closest between a vertex of one and a face of the other, or
    /// nothing is known of them.
    pub(crate) fn may_be_at_face(&self) -> bool {
        let pairs = self.pairs();
        let one_vertex = |side: usize| pairs.iter().all(|pair| pair[side] == pairs[0][side]);
        pairs.is_empty() || pairs.len() == MAX && (one_vertex(0) || one_vertex(1))
    }
}

impl From<ArrayVec<[u16; 2], MAX>> for Features {
    fn from(pairs: ArrayVec<[u16; 2], MAX>) -> Self {
        Self::new(pairs)
    }
}

impl From<Features> for ArrayVec<[u16; 2], MAX> {
    fn from(features: Features) -> Self {
        features.pairs().iter().copied().collect()
    }
}
