//! The end of a product.

use crate::Gelu;

/// What happens to the sums of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// They are stored.
    Store,
    /// They are added to what the output holds.
    Add,
    /// They are activated and stored.
    Activate(Gelu),
}
