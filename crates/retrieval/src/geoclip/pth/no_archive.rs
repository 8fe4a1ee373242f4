//! In a browser no weights are imported: the crate `zip` asks JavaScript for random numbers there, which the build does not offer.

use std::marker::PhantomData;

/// A zip archive that cannot be opened.
pub(crate) struct Archive<'a>(PhantomData<&'a [u8]>);

const REASON: &str = "a browser cannot unpack it; use the program";

impl<'a> Archive<'a> {
    pub(crate) fn open(_: &'a [u8]) -> Result<Self, String> {
        Err(REASON.to_owned())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::empty()
    }

    pub(crate) fn stored(&mut self, _: &str) -> Result<Vec<u8>, String> {
        Err(REASON.to_owned())
    }

    pub(crate) fn unpacked(&mut self, _: &str) -> Result<Vec<u8>, String> {
        Err(REASON.to_owned())
    }
}
