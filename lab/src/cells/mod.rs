//! Classification into cells: PlaNet, smooth labels (PIGEON), CPlaNet's combination, the hierarchy of ISNs.

mod classifier;
mod partition;

pub(crate) use classifier::CellClassifier;
pub(crate) use partition::Partition;

/// How cells become an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellScheme {
    /// One partition, each photo's own cell as its label (PlaNet).
    Hard,
    /// One partition, labels that fall off with the distance to the cells' centres (PIGEON).
    Smooth,
    /// Several partitions in random frames, whose probabilities are added where cells overlap (CPlaNet).
    Combined,
    /// Three nested partitions, whose probabilities are multiplied along the hierarchy (ISNs).
    Hierarchy,
}

/// Cells of a single partition; validation chooses half and twice as many, and so on.
const CELLS: usize = 512;
/// Partitions of the combination, and the cells of each.
const COMBINED: (usize, usize) = (5, 256);
/// Cells of the nested partitions.
const NESTED: [usize; 3] = [64, 256, 1024];
/// The middle of the widths of smooth labels, each 2.5 times the last, among which validation chooses; PIGEON's is 75 km.
const LABEL_WIDTH_KM: f64 = 187.5;
/// Widths of the kernel that gathers the probability of neighbouring cells; validation chooses.
const WINDOWS_KM: [f64; 5] = [0.0, 100.0, 250.0, 500.0, 1000.0];
