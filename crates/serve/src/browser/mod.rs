//! LocDiff in a browser: the routes of its server inside a WebAssembly module, which a worker of the page calls (`npm/core.js`).
//!
//! The interface is a handful of functions, so that no tool has to write glue: [`input`] makes room for what comes, [`open`] and
//! [`ask`] take it, [`output`] and [`output_len`] say where the reply lies until the next call. One thread calls them all.
#![allow(unsafe_code)] // reason: names of exported functions must be what they are called; there is no unsafe block

#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
mod fused;

use crate::Offline;
use locdiff::Locator;
use std::cell::RefCell;

/// Photos of more megapixels are refused: their pixels alone would take a third of a gigabyte.
const MAX_MEGAPIXELS: u32 = 100;

/// What lies between two calls.
#[derive(Default)]
struct Session {
    offline: Option<Offline>,
    inputs: Vec<Vec<u8>>,
    /// The type of the reply, and the reply.
    outputs: [Vec<u8>; 2],
}

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
}

/// Room for `len` bytes of the next call, in the order of its arguments.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub(crate) extern "C" fn input(len: usize) -> *mut u8 {
    SESSION.with_borrow_mut(|session| {
        session.inputs.push(vec![0; len]);
        session.inputs.last_mut().map_or(std::ptr::null_mut(), Vec::as_mut_ptr)
    })
}

/// Opens the model: `encoder.json`, the encoder's weights, `config.json`, the model's weights, `calibration.json`. Returns 200, or 422 with
/// why not as the reply.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub(crate) extern "C" fn open() -> u32 {
    SESSION.with_borrow_mut(|session| {
        let inputs = std::mem::take(&mut session.inputs);
        let opened = match &inputs[..] {
            [encoder, encoder_weights, config, weights, calibration] => {
                let model = [&config[..], weights, calibration];
                let opened = Locator::from_memory("the bundled", [encoder, encoder_weights], model);
                opened.map_err(|error| error.to_string())
            }
            _ => Err(format!("a model has 5 files, not {}", inputs.len())),
        };
        let (status, reply) = match opened {
            Ok(locator) => {
                session.offline = Some(Offline::new(locator, MAX_MEGAPIXELS));
                (200, String::new())
            }
            Err(reason) => (422, reason),
        };
        session.outputs = [b"text/plain".to_vec(), reply.into_bytes()];
        status
    })
}

/// Asks: the path, the query, the type of the body (empty for none) and the body. Returns the status.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub(crate) extern "C" fn ask() -> u32 {
    SESSION.with_borrow_mut(|session| {
        let inputs: Result<[Vec<u8>; 4], _> = std::mem::take(&mut session.inputs).try_into();
        let (Some(offline), Ok([path, query, content_type, body])) = (&session.offline, inputs) else { return 500 };
        let [path, query, content_type] = [&path, &query, &content_type].map(|text| String::from_utf8_lossy(text));
        let given = Some(&*content_type).filter(|given| !given.is_empty());
        let reply = offline.answer(&path, &query, given, body);
        session.outputs = [reply.content_type.as_bytes().to_vec(), reply.body];
        u32::from(reply.status)
    })
}

/// Where the reply's type (0) or the reply (1) lies.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub(crate) extern "C" fn output(which: usize) -> *const u8 {
    SESSION.with_borrow(|session| session.outputs.get(which).map_or(std::ptr::null(), Vec::as_ptr))
}

/// How long it is.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub(crate) extern "C" fn output_len(which: usize) -> usize {
    SESSION.with_borrow(|session| session.outputs.get(which).map_or(0, Vec::len))
}

/// Whether sums of products are rounded once, as on other machines: then embeddings are the same bits.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub(crate) extern "C" fn is_fused() -> u32 {
    let [a, b, c] = std::hint::black_box([1.0 + f32::EPSILON, 1.0 - f32::EPSILON, -1.0]);
    #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
    return u32::from(fused::fmaf(a, b, c) != 0.0);
    #[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
    return u32::from((a, b, c) == (b, a, c));
    #[cfg(not(target_arch = "wasm32"))]
    u32::from(a.mul_add(b, c) != 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(bytes: &[u8]) {
        input(bytes.len());
        SESSION.with_borrow_mut(|session| session.inputs.last_mut().unwrap().copy_from_slice(bytes));
    }

    fn reply(which: usize) -> Vec<u8> {
        assert_eq!(SESSION.with_borrow(|session| session.outputs[which].as_ptr()), output(which));
        let reply = SESSION.with_borrow(|session| session.outputs[which].clone());
        assert_eq!(reply.len(), output_len(which));
        reply
    }

    #[test]
    fn a_photo_is_answered_as_the_server_answers_it() {
        assert_eq!(ask(), 500); // nothing is open yet
        put(b"x");
        assert_eq!((open(), reply(1)), (422, b"a model has 5 files, not 1".to_vec()));
        let model = locdiff_bundled_model::model();
        let (encoder, encoder_weights) = locdiff_bundled_encoder::encoder();
        for file in [encoder, encoder_weights, model.config, model.weights, model.calibration] {
            put(file);
        }
        assert_eq!(open(), 200);
        let photo = include_bytes!("../../../../fixtures/vision/china.jpg");
        for part in [&b"/v1/locate"[..], b"name=a.jpg", b"image/jpeg", photo] {
            put(part);
        }
        assert_eq!((ask(), reply(0)), (200, b"application/json".to_vec()));
        let expected = Offline::new(Locator::bundled().unwrap(), 100);
        assert_eq!(reply(1), expected.answer("/v1/locate", "name=a.jpg", None, photo.to_vec()).body);
        for part in [&b"/v1/locate"[..], b"", b"", b"no photo"] {
            put(part);
        }
        assert_eq!((ask(), reply(0)), (415, b"application/problem+json".to_vec()));
        assert_eq!((is_fused(), output(2), output_len(2)), (1, std::ptr::null(), 0));
    }
}
