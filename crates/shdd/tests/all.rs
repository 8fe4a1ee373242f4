//! All tests of this crate in one program: linking one for each file takes longer than compiling them.
mod common;
mod decode;
mod density;
mod sphere;
