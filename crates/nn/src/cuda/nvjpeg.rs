//! The library nvJPEG, found when the first batch of photos comes: nothing of it is needed to build or to start. All its foreign
//! calls stand here.

use super::lock;
use crate::pictures::Plane;
use libloading::Library as Dynamic;
use std::ffi::{OsStr, c_int, c_uint, c_void};
use std::{env, ptr::null_mut, sync::Arc, sync::Mutex, sync::OnceLock};

/// `0` leaves the library alone.
const VARIABLE: &str = "LOCDIFF_NVJPEG";
const NAMES: [&str; 4] = [
    "libnvjpeg.so.13",
    "libnvjpeg.so.12",
    "/usr/local/cuda/lib64/libnvjpeg.so.13",
    "/usr/local/cuda/lib64/libnvjpeg.so.12",
];
/// The constants of `nvjpeg.h` that are used: the decoder beside the multiprocessors, and planes as they are coded.
const BACKEND_HARDWARE: c_int = 3;
const OUTPUT_YUV: c_int = 1;

/// An object of the library's.
type Object = *mut c_void;

/// `nvjpegImage_t`: addresses on the device, and bytes from row to row.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Image {
    pub(super) planes: [u64; 4],
    pub(super) pitches: [usize; 4],
}

macro_rules! library {
    ($($field:ident = $name:literal($($arg:ty),*);)*) => {
        struct Library {
            $($field: unsafe extern "C" fn($($arg),*) -> c_int,)*
            /// The functions above are its own: it stays loaded.
            _file: Dynamic,
        }

        impl Library {
            fn load(name: &OsStr) -> Option<Self> {
                // SAFETY: nvJPEG's initialisers set up tables of its own and have no demands.
                let file = unsafe { Dynamic::new(name) }.ok()?;
                // SAFETY: each type is that of the declaration in nvjpeg.h, which is the same in all versions that have it.
                $(let $field = *unsafe { file.get(concat!($name, "\0").as_bytes()) }.ok()?;)*
                Some(Self { $($field,)* _file: file })
            }
        }
    };
}

// The functions that are used, by their types in `nvjpeg.h` of CUDA 12 and 13.
library! {
    create = "nvjpegCreateEx"(c_int, *const c_void, *const c_void, c_uint, *mut Object);
    destroy = "nvjpegDestroy"(Object);
    state_create = "nvjpegJpegStateCreate"(Object, *mut Object);
    state_destroy = "nvjpegJpegStateDestroy"(Object);
    stream_create = "nvjpegJpegStreamCreate"(Object, *mut Object);
    stream_destroy = "nvjpegJpegStreamDestroy"(Object);
    parse_header = "nvjpegJpegStreamParseHeader"(Object, *const u8, usize, Object);
    supported = "nvjpegDecodeBatchedSupported"(Object, Object, *mut c_int);
    info = "nvjpegGetImageInfo"(Object, *const u8, usize, *mut c_int, *mut c_int, *mut c_int, *mut c_int);
    initialize = "nvjpegDecodeBatchedInitialize"(Object, Object, c_int, c_int, c_int);
    decode = "nvjpegDecodeBatched"(Object, Object, *const *const u8, *const usize, *const Image, Object);
}

/// The library, where it is there and wanted; looked for once.
fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let is_off = || env::var(VARIABLE).is_ok_and(|text| text == "0");
    let find = || if is_off() { None } else { NAMES.iter().find_map(|name| Library::load(name.as_ref())) };
    LIBRARY.get_or_init(find).as_ref()
}

/// A decoder of the device that is bound to the thread.
pub(crate) struct Decoder {
    library: &'static Library,
    handle: Object,
    /// Objects for heads, of which nobody uses one.
    heads: Mutex<Vec<Head>>,
}

/// An object for a file's head.
struct Head(Object);

// SAFETY: it has no thread affinity, and one thread at a time uses it.
unsafe impl Send for Head {}

// SAFETY: the handle has no thread affinity, and the library lets threads share it as long as each has states of its own.
unsafe impl Send for Decoder {}
// SAFETY: the same.
unsafe impl Sync for Decoder {}

impl Decoder {
    /// `None` where the library or the device has no such decoder.
    pub(super) fn open() -> Option<Arc<Self>> {
        let library = library()?;
        let mut handle = null_mut();
        // SAFETY: no allocators are allowed; the target is a pointer of ours.
        let status = unsafe { (library.create)(BACKEND_HARDWARE, null_mut(), null_mut(), 0, &raw mut handle) };
        (status == 0 && !handle.is_null()).then(|| Arc::new(Self { library, handle, heads: Mutex::default() }))
    }

    fn head(&self) -> Option<Head> {
        let idle = lock(&self.heads).pop();
        idle.or_else(|| {
            let mut head = null_mut();
            // SAFETY: the handle is alive, the target is a pointer of ours.
            let status = unsafe { (self.library.stream_create)(self.handle, &raw mut head) };
            (status == 0 && !head.is_null()).then_some(Head(head))
        })
    }

    /// Whether it takes the file, as its head says, and decodes it to these planes.
    pub(crate) fn takes(&self, file: &[u8], planes: &[Plane]) -> bool {
        let Some(Head(head)) = self.head() else { return false };
        let (library, handle, data, length) = (self.library, self.handle, file.as_ptr(), file.len());
        let (mut refused, mut count, mut sampling, mut widths, mut heights) = (1, 0, 0, [0; 4], [0; 4]);
        // SAFETY: the objects are alive, the targets are numbers of ours, four for the components; the file outlives the calls, which
        // keep nothing but numbers of its head.
        let status = unsafe {
            let (widths, heights) = (widths.as_mut_ptr(), heights.as_mut_ptr());
            (library.parse_header)(handle, data, length, head)
                | (library.supported)(handle, head, &raw mut refused)
                | (library.info)(handle, data, length, &raw mut count, &raw mut sampling, widths, heights)
        };
        lock(&self.heads).push(Head(head));
        let sizes = planes.iter().map(|plane| (plane.width as c_int, plane.height as c_int));
        let planes_fit = sizes.eq(widths.into_iter().zip(heights).take(planes.len()));
        status | refused == 0 && count == planes.len() as c_int && planes_fit
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: they are alive and not used again; states hold the decoder, and the handle goes last.
        unsafe {
            for Head(head) in lock(&self.heads).drain(..) {
                (self.library.stream_destroy)(head);
            }
            (self.library.destroy)(self.handle);
        }
    }
}

/// What a decoder needs for the files that are under way together.
pub(super) struct State {
    decoder: Arc<Decoder>,
    object: Object,
    /// Files it is made for.
    batch: usize,
}

// SAFETY: it has no thread affinity, and one thread at a time uses it.
unsafe impl Send for State {}

impl State {
    pub(super) fn new(decoder: &Arc<Decoder>) -> Option<Self> {
        let mut state = null_mut();
        // SAFETY: the handle is alive, the target is a pointer of ours.
        let status = unsafe { (decoder.library.state_create)(decoder.handle, &raw mut state) };
        (status == 0 && !state.is_null()).then(|| Self { decoder: Arc::clone(decoder), object: state, batch: 0 })
    }

    /// Gives the files to the device in the order of `stream`; false where the library refuses one of them.
    ///
    /// # Safety
    /// `stream` is a stream of the device that is bound to the thread, the files live until it has come so far, and so do the planes of
    /// `images`, which have room for each file's; and so far has it come with what the state was given before.
    pub(super) unsafe fn decode(&mut self, files: &[&[u8]], images: &[Image], stream: *mut c_void) -> bool {
        assert!(files.len() == images.len());
        let (library, handle) = (self.decoder.library, self.decoder.handle);
        if self.batch != files.len() {
            // SAFETY: the objects are alive, and nothing of the state's is under way.
            if unsafe { (library.initialize)(handle, self.object, files.len() as c_int, 1, OUTPUT_YUV) } != 0 {
                return false;
            }
            self.batch = files.len();
        }
        let (data, lengths): (Vec<_>, Vec<_>) = files.iter().map(|file| (file.as_ptr(), file.len())).unzip();
        // SAFETY: as many files, lengths and images as the state was told of; the rest is the caller's word.
        let status =
            unsafe { (library.decode)(handle, self.object, data.as_ptr(), lengths.as_ptr(), images.as_ptr(), stream) };
        if status != 0 {
            self.batch = 0;
        }
        status == 0
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: it is alive and not used again.
        unsafe { (self.decoder.library.state_destroy)(self.object) };
    }
}
