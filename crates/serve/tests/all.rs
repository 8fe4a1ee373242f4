//! All tests of this crate in one program: linking one for each file took longer than compiling them.
mod answers;
mod common;
mod hosts;
mod limits;
mod load;
mod local_page;
mod trip;
