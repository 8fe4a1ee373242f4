//! The library libheif, found when the first such photo is opened: nothing of it is needed to build or to start. All foreign
//! calls stand here.
#![allow(unsafe_code)] // reason: foreign calls; each unsafe block has its SAFETY note

use libloading::Library as Dynamic;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::{env, path::Path, ptr::null, ptr::null_mut, sync::OnceLock};

const VARIABLE: &str = "LOCDIFF_LIBHEIF";
/// The constants of `heif.h` that are used.
const COLORSPACE_RGB: c_int = 1;
const CHROMA_INTERLEAVED_RGB: c_int = 10;
const CHANNEL_INTERLEAVED: c_int = 10;
const END_OF_DATA: c_int = 100;
const UNSUPPORTED_CODEC: c_int = 3000;
const PLUGIN_ERROR: c_int = 11;
/// Profiles longer than this are left out: they are none.
const MOST_PROFILE: usize = 64 << 20;

pub(super) enum Failure {
    NoCodec,
    Cut,
    Other(String),
}

/// An opaque object of the library's.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct HeifError {
    code: c_int,
    subcode: c_int,
    message: *const c_char,
}

/// The beginning of `heif_decoding_options`, which the library allocates; what follows is never touched.
#[repr(C)]
struct DecodingOptions {
    version: u8,
    ignore_transformations: u8,
    callbacks: [*const c_void; 3],
    user_data: *mut c_void,
    convert_hdr_to_8bit: u8,
}

/// The functions that are used, by their types in `heif.h` of version 1.6 and later.
pub(super) struct Library {
    context_alloc: unsafe extern "C" fn() -> *mut Opaque,
    context_free: unsafe extern "C" fn(*mut Opaque),
    set_threads: Option<unsafe extern "C" fn(*mut Opaque, c_int)>,
    version: unsafe extern "C" fn() -> u32,
    read: unsafe extern "C" fn(*mut Opaque, *const c_void, usize, *const c_void) -> HeifError,
    primary: unsafe extern "C" fn(*mut Opaque, *mut *mut Opaque) -> HeifError,
    handle_release: unsafe extern "C" fn(*const Opaque),
    width: unsafe extern "C" fn(*const Opaque) -> c_int,
    height: unsafe extern "C" fn(*const Opaque) -> c_int,
    coded_width: unsafe extern "C" fn(*const Opaque) -> c_int,
    coded_height: unsafe extern "C" fn(*const Opaque) -> c_int,
    profile_size: unsafe extern "C" fn(*const Opaque) -> usize,
    profile: unsafe extern "C" fn(*const Opaque, *mut c_void) -> HeifError,
    options_alloc: unsafe extern "C" fn() -> *mut DecodingOptions,
    options_free: unsafe extern "C" fn(*mut DecodingOptions),
    decode: unsafe extern "C" fn(*const Opaque, *mut *mut Opaque, c_int, c_int, *const DecodingOptions) -> HeifError,
    image_width: unsafe extern "C" fn(*const Opaque, c_int) -> c_int,
    image_height: unsafe extern "C" fn(*const Opaque, c_int) -> c_int,
    plane: unsafe extern "C" fn(*const Opaque, c_int, *mut c_int) -> *const u8,
    image_release: unsafe extern "C" fn(*const Opaque),
    /// The functions above are its own: it stays loaded.
    _file: Dynamic,
}

/// The library, or why there is none; looked for once.
pub(super) fn library() -> &'static std::result::Result<Library, String> {
    static LIBRARY: OnceLock<std::result::Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        if let Some(named) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
            let reason = |error| format!("{VARIABLE} = {}: {error}", Path::new(&named).display());
            return Library::load(&named).map_err(reason);
        }
        let names: &[&str] = if cfg!(windows) {
            &["heif.dll", "libheif.dll"]
        } else if cfg!(target_os = "macos") {
            &["libheif.1.dylib", "/opt/homebrew/lib/libheif.1.dylib", "/usr/local/lib/libheif.1.dylib"]
        } else {
            &["libheif.so.1"]
        };
        let mut tried = names.iter().map(|name| Library::load(name.as_ref()));
        let first = tried.next().expect("there is a name");
        tried.fold(first, std::result::Result::or)
    })
}

impl Library {
    pub(super) fn version(&self) -> String {
        // SAFETY: the type is that of heif.h, and it needs nothing.
        let [major, minor, patch, _] = unsafe { (self.version)() }.to_be_bytes();
        format!("{major}.{minor}.{patch}")
    }

    fn load(name: &std::ffi::OsStr) -> std::result::Result<Self, String> {
        let line = |error: libloading::Error| error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        // SAFETY: libheif's initialisers set up tables of its own and have no demands.
        let file = unsafe { Dynamic::new(name) }.map_err(line)?;
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type is that of the declaration in heif.h, which is the same in all versions that have it.
                *unsafe { file.get(concat!($name, "\0").as_bytes()) }.map_err(line)?
            };
        }
        // Since 1.13 it loads the decoders that are files of their own.
        // SAFETY: the type is that of heif.h.
        if let Ok(init) = unsafe { file.get::<unsafe extern "C" fn(*mut c_void) -> HeifError>(b"heif_init\0") } {
            // SAFETY: no parameters are allowed, and it is called once, before all else.
            unsafe { init(null_mut()) };
        }
        // SAFETY: the type is that of heif.h; absent before 1.13.
        let set_threads = unsafe { file.get(b"heif_context_set_max_decoding_threads\0") }.ok().map(|found| *found);
        Ok(Self {
            context_alloc: function!("heif_context_alloc"),
            context_free: function!("heif_context_free"),
            set_threads,
            version: function!("heif_get_version_number"),
            read: function!("heif_context_read_from_memory_without_copy"),
            primary: function!("heif_context_get_primary_image_handle"),
            handle_release: function!("heif_image_handle_release"),
            width: function!("heif_image_handle_get_width"),
            height: function!("heif_image_handle_get_height"),
            coded_width: function!("heif_image_handle_get_ispe_width"),
            coded_height: function!("heif_image_handle_get_ispe_height"),
            profile_size: function!("heif_image_handle_get_raw_color_profile_size"),
            profile: function!("heif_image_handle_get_raw_color_profile"),
            options_alloc: function!("heif_decoding_options_alloc"),
            options_free: function!("heif_decoding_options_free"),
            decode: function!("heif_decode_image"),
            image_width: function!("heif_image_get_width"),
            image_height: function!("heif_image_get_height"),
            plane: function!("heif_image_get_plane_readonly"),
            image_release: function!("heif_image_release"),
            _file: file,
        })
    }
}

/// The main picture of a file. It holds the file's bytes as long as it lives, for the library reads them in place.
pub(super) struct Picture<'a> {
    library: &'a Library,
    context: *mut Opaque,
    handle: *mut Opaque,
    _contents: &'a [u8],
}

impl<'a> Picture<'a> {
    pub(super) fn open(library: &'a Library, contents: &'a [u8]) -> std::result::Result<Self, Failure> {
        // SAFETY: without demands; a null is looked for.
        let context = unsafe { (library.context_alloc)() };
        if context.is_null() {
            return Err(Failure::Other("libheif has no memory left".to_owned()));
        }
        // From here on dropping it frees the context.
        let mut picture = Self { library, context, handle: null_mut(), _contents: contents };
        if let Some(set_threads) = library.set_threads {
            // SAFETY: the context is alive. Photos are decoded in parallel already: none of its own threads.
            unsafe { set_threads(context, 0) };
        }
        // SAFETY: the context is alive, and `contents` outlives it: the struct borrows them.
        check(unsafe { (library.read)(context, contents.as_ptr().cast(), contents.len(), null()) })?;
        // SAFETY: the context is alive and the target is a pointer of ours.
        check(unsafe { (library.primary)(context, &raw mut picture.handle) })?;
        if picture.handle.is_null() {
            return Err(Failure::Other("it has no main picture".to_owned()));
        }
        Ok(picture)
    }

    /// Width and height of the picture as it is shown.
    pub(super) fn size(&self) -> (u32, u32) {
        // SAFETY: the handle is alive.
        let (width, height) = unsafe { ((self.library.width)(self.handle), (self.library.height)(self.handle)) };
        (width.max(0).cast_unsigned(), height.max(0).cast_unsigned())
    }

    /// Width and height of what is coded, before crops and turns.
    pub(super) fn coded_size(&self) -> (u32, u32) {
        let library = self.library;
        // SAFETY: the handle is alive.
        let (width, height) = unsafe { ((library.coded_width)(self.handle), (library.coded_height)(self.handle)) };
        (width.max(0).cast_unsigned(), height.max(0).cast_unsigned())
    }

    pub(super) fn profile(&self) -> Option<Vec<u8>> {
        // SAFETY: the handle is alive.
        let size = unsafe { (self.library.profile_size)(self.handle) };
        if size == 0 || size > MOST_PROFILE {
            return None;
        }
        let mut profile = vec![0; size];
        // SAFETY: there is room for as many bytes as the library said.
        check(unsafe { (self.library.profile)(self.handle, profile.as_mut_ptr().cast()) }).ok()?;
        Some(profile)
    }

    /// Width, height and RGB bytes, upright: crops, turns and mirrors of the file are applied by the library.
    pub(super) fn decode(self) -> std::result::Result<(u32, u32, Vec<u8>), Failure> {
        let library = self.library;
        // SAFETY: without demands; a null is allowed where options are taken.
        let options = unsafe { (library.options_alloc)() };
        if !options.is_null() {
            // SAFETY: the library allocated it, and from its second version on it has this field.
            unsafe {
                if (*options).version >= 2 {
                    (*options).convert_hdr_to_8bit = 1;
                }
            }
        }
        let mut image = null_mut();
        // SAFETY: the handle and the options are alive, the target is a pointer of ours.
        let error =
            unsafe { (library.decode)(self.handle, &raw mut image, COLORSPACE_RGB, CHROMA_INTERLEAVED_RGB, options) };
        if !options.is_null() {
            // SAFETY: it is alive and not used again.
            unsafe { (library.options_free)(options) };
        }
        check(error)?;
        let image = Image { library, image };
        image.rgb()
    }
}

impl Drop for Picture<'_> {
    fn drop(&mut self) {
        // SAFETY: both are alive or null, and not used again; the handle goes first.
        unsafe {
            if !self.handle.is_null() {
                (self.library.handle_release)(self.handle);
            }
            (self.library.context_free)(self.context);
        }
    }
}

struct Image<'a> {
    library: &'a Library,
    image: *mut Opaque,
}

impl Image<'_> {
    fn rgb(&self) -> std::result::Result<(u32, u32, Vec<u8>), Failure> {
        let damaged = || Failure::Other("libheif gave no pixels".to_owned());
        let library = self.library;
        if self.image.is_null() {
            return Err(damaged());
        }
        let mut stride = 0;
        // SAFETY: the image is alive, the target is a number of ours.
        let (width, height, plane) = unsafe {
            let size = |of: unsafe extern "C" fn(*const Opaque, c_int) -> c_int| of(self.image, CHANNEL_INTERLEAVED);
            let plane = (library.plane)(self.image, CHANNEL_INTERLEAVED, &raw mut stride);
            (size(library.image_width), size(library.image_height), plane)
        };
        let (Ok(width), Ok(height), Ok(stride)) =
            (u32::try_from(width), u32::try_from(height), usize::try_from(stride))
        else {
            return Err(damaged());
        };
        let row = 3 * width as usize;
        if plane.is_null() || row == 0 || height == 0 || stride < row {
            return Err(damaged());
        }
        let mut rgb = Vec::with_capacity(row * height as usize);
        for y in 0..height as usize {
            // SAFETY: the plane has `height` rows of `stride` bytes, and a row of pixels is no longer than that.
            rgb.extend_from_slice(unsafe { std::slice::from_raw_parts(plane.add(y * stride), row) });
        }
        Ok((width, height, rgb))
    }
}

impl Drop for Image<'_> {
    fn drop(&mut self) {
        if !self.image.is_null() {
            // SAFETY: it is alive and not used again.
            unsafe { (self.library.image_release)(self.image) };
        }
    }
}

fn check(error: HeifError) -> std::result::Result<(), Failure> {
    if error.code == 0 {
        return Ok(());
    }
    if error.subcode == UNSUPPORTED_CODEC || error.code == PLUGIN_ERROR {
        return Err(Failure::NoCodec);
    }
    if error.subcode == END_OF_DATA {
        return Err(Failure::Cut);
    }
    if error.message.is_null() {
        return Err(Failure::Other("libheif refuses it".to_owned()));
    }
    // SAFETY: the library promises a C string that lives longer than this.
    let words = unsafe { CStr::from_ptr(error.message) }.to_string_lossy();
    Err(Failure::Other(words.split_whitespace().collect::<Vec<_>>().join(" ")))
}
