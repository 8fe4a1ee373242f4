//! The `locdiff` command.
fn main() {}
