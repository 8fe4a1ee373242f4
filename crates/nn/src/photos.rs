//! Photos on their way into a network on CUDA: JPEG files decoded by the device (nvJPEG, if it is installed and the device
//! has such decoders), resized and normalised there, or pixels that the host made, while the network works on others.
#![cfg_attr(not(feature = "cuda"), allow(dead_code))] // reason: without CUDA nothing reads them

pub use crate::pictures::{Jpeg, MOST_BYTES, Picture, SideTaps, TakenJpeg};

use crate::{Device, Result, View, bf16::Bf16Tensor, cuda, error::check_shape, kernel_source::Kernels};
use std::sync::Arc;

/// What a program calls before all else, so that photos are decoded at full rate while a network runs on CUDA: asks CUDA
/// for more queues (`CUDA_DEVICE_MAX_CONNECTIONS=32`, unless it is set). Does nothing if other threads run already; CUDA
/// must not have been started.
///
/// ```standalone_crate
/// locdiff_nn::photos::ask_for_queues();
/// # #[cfg(all(target_os = "linux", feature = "cuda"))]
/// assert!(std::env::var_os("CUDA_DEVICE_MAX_CONNECTIONS").is_some());
/// ```
pub fn ask_for_queues() {
    cuda::ask_for_queues();
}

/// A device's decoder of JPEG files.
#[derive(Clone)]
pub struct JpegDecoder(Arc<cuda::Decoder>);

impl JpegDecoder {
    /// `None` where the device has none or nvJPEG is not installed (`LOCDIFF_NVJPEG=0`: not wanted).
    pub fn open(device: &Device) -> Option<Self> {
        device.with_kernels("photos::JpegDecoder", Kernels::Photos).ok()?.decoder().map(Self)
    }

    /// The file for [`DevicePhotos::reserve`], into pictures of `side` pixels, or back where it is not taken.
    pub fn take(&self, jpeg: Jpeg, side: usize) -> std::result::Result<TakenJpeg, Vec<u8>> {
        let taken = jpeg.is_sound(side) && jpeg.bytes(side) <= MOST_BYTES && self.0.takes(&jpeg.file, &jpeg.planes());
        if taken { Ok(TakenJpeg(Box::new(jpeg))) } else { Err(jpeg.file) }
    }
}

/// A way into a network's pixels, of `side × side` RGB values a picture.
pub struct DevicePhotos {
    side: usize,
    ways: cuda::Photos,
}

impl DevicePhotos {
    /// `normal` gives each byte's value, colour by colour; files are decoded by `decoder`.
    pub fn new(device: &Device, side: usize, normal: &[[f32; 256]; 3], decoder: Option<&JpegDecoder>) -> Result<Self> {
        let context = device.with_kernels("photos::Photos", Kernels::Photos)?;
        Ok(Self { side, ways: cuda::Photos::new(context, side, normal, decoder.map(|decoder| &decoder.0))? })
    }

    /// Finds room for pictures that become rows `first` and on; waits where several calls are under way.
    /// Fails for pictures that do not fit.
    pub fn reserve(&mut self, first: usize, pictures: Vec<Picture>) -> Result<Call> {
        let values = 3 * self.side * self.side;
        let fits = pictures.iter().all(|picture| match picture {
            Picture::Pixels(pixels) => pixels.len() == values,
            Picture::Jpeg(jpeg) => jpeg.is_sound(self.side),
        });
        check_shape(fits, "photos::Photos", || format!("{} pictures of other sizes", pictures.len()))?;
        let rows = first + pictures.len();
        Ok(Call { rows, call: self.ways.reserve(first, pictures)? })
    }

    /// The pictures of a call that could not be decoded.
    pub fn give_back(&mut self, call: Call) -> Vec<Picture> {
        self.ways.give_back(call.call)
    }

    /// Replaces rows of `to` by the pictures of a call that was decoded, in the order of what is given to the device.
    /// Fails if there are too few rows.
    pub fn launch(&mut self, to: &mut Bf16Tensor, call: Call) -> Result<()> {
        let to = to.view();
        let fits = to.cols == 3 * self.side * self.side && call.rows <= to.rows;
        check_shape(fits, "photos::Photos", || format!("{} pictures for {} rows", call.rows, to.rows))?;
        self.ways.launch(&to, call.call)
    }
}

/// Pictures with a place on the device, to be decoded and launched.
pub struct Call {
    rows: usize,
    call: cuda::Call,
}

impl Call {
    /// Decodes what is a file: several calls at once, each on a thread of its own, as the decoder makes the caller wait.
    /// False if a file is refused: then the call is to be given back.
    pub fn decode(&mut self) -> Result<bool> {
        self.call.decode()
    }
}

/// A way from the device for what comes of batch after batch: values travel while it works on.
pub struct Outbox(cuda::Outbox);

impl Outbox {
    /// For up to `len` values at a time.
    pub fn new(device: &Device, len: usize) -> Result<Self> {
        Ok(Self(cuda::Outbox::new(device.with_kernels("photos::Outbox", Kernels::Photos)?, &[len])?))
    }

    /// Takes values that lie in a row, after everything given to the device so far; returns at once.
    pub fn take(&mut self, from: View<'_>) -> Result<()> {
        self.0.copy(&[from])
    }

    /// What was taken last, and whatever lies behind it; waits for it.
    pub fn read(&mut self) -> Result<Vec<f32>> {
        Ok(self.0.read()?.concat())
    }
}
