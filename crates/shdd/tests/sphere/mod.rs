//! Tests of `sphere`.
mod harmonics;
mod scipy;
