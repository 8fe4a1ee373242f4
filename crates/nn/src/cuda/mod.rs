//! The one CUDA module: the driver, `cuBLASLt`, NVRTC and nvJPEG, all loaded at run time, behind a safe interface.
//! What the rest of the crate may rely on:
//! - a [`Buffer`] is alive while any view, any queued operation or any recorded [`Graph`] uses it;
//! - operations run in the order they were given, on one stream; side lanes ([`Context::enter_lane`]) start after
//!   everything given before and are joined before anything that reads their results;
//! - views were made by safe code from exclusive or shared borrows, so a kernel's outputs never overlap its inputs unless
//!   the operation says so.
#![allow(unsafe_code)] // reason: foreign calls; each unsafe block has its SAFETY note

mod buffer;
mod context;
mod gemm;
mod launch;
mod nvjpeg;
mod photos;
mod products;
mod queues;
mod transfer;

pub(crate) use buffer::Buffer;
pub(crate) use context::{Context, Graph, LANES};
pub(crate) use nvjpeg::Decoder;
pub(crate) use photos::{Call, Photos};
pub(crate) use queues::ask_for_queues;
pub(crate) use transfer::{Inbox, Outbox};

use crate::NnError;
use cudarc::driver::DriverError;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Turns a library's error into ours.
fn failed<E: std::fmt::Debug>(what: &'static str) -> impl Fn(E) -> NnError {
    move |error| NnError::Cuda { what, detail: format!("{error:?}") }
}

/// Locks even if another thread panicked meanwhile: no value here is ever left half written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn event_failed() -> impl Fn(DriverError) -> NnError {
    failed("waiting for an event")
}
