//! All tests of this crate in one program: linking one for each file takes longer than compiling them.
mod answer;
mod cuda;
mod diffusion;
mod folder;
mod map_factors;
mod places;
mod predictor;
mod quadrature;
mod train;
