//! Losses: over a quadrature grid ([`Quadrature`]), and value by value ([`crate::ops::point_loss`]).

mod quadrature;

pub use quadrature::Quadrature;
