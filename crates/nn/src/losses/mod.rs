//! Losses: over a quadrature grid ([`Quadrature`]), and value by value ([`crate::ops::point_loss`]).

mod grid;
mod quadrature;

pub use grid::QuadratureGrid;
pub use quadrature::Quadrature;
