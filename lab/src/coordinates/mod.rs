//! Places generated in coordinate space: diffusion and flow matching in R³, Riemannian flow matching on the sphere
//! (Dufour et al., "Around the World in 80 Timesteps").

mod generator;
mod likelihood;
mod path;

pub(crate) use generator::fit;
pub use path::CoordinatePath;
