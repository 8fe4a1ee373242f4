//! LocDiff diffusion.
