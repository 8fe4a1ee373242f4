//! Tests of `answer`.
mod calibration;
mod gallery;
mod places;
