//! The end of a run over many photos: how many of what, and what to do with them.

use crate::verbosity;
use locdiff::{Answer, get::Published};
use locdiff_base::counted;

/// How many photos of each kind there were; each is of one.
#[derive(Debug, Default)]
pub(super) struct Summary {
    answered: usize,
    cannot_tell: usize,
    already_tagged: usize,
    pub(super) unreadable: usize,
    with_time: usize,
}

impl Summary {
    pub(super) fn add(&mut self, answer: &Answer, has_time: bool) {
        self.with_time += usize::from(has_time);
        *match (answer.gps, answer.can_tell) {
            (Some(_), _) => &mut self.already_tagged,
            (None, true) => &mut self.answered,
            (None, false) => &mut self.cannot_tell,
        } += 1;
    }

    /// Says, once a run, what helps if the bundled model can tell few of ten photos or more.
    pub(super) fn hint_at_geoclip(&self) {
        let photos = self.answered + self.cannot_tell + self.already_tagged;
        if photos >= 10 && 2 * self.cannot_tell > photos {
            let fetch = Published::missing_gb("geoclip").map_or(String::new(), |size| {
                format!("fetch it with `locdiff get geoclip` (about {size:.1} GB to download), then ")
            });
            verbosity::note(&format!(
                "the bundled model knows street views best; GeoCLIP knows photos of any kind: {fetch}add --model geoclip"
            ));
        }
    }

    /// Says it on standard error, with a hint at albums where they help.
    pub(super) fn tell(&self) {
        let Self { answered, cannot_tell, already_tagged, unreadable, with_time } = *self;
        let photos = counted(answered + cannot_tell + already_tagged + unreadable, "photo");
        verbosity::note(&format!(
            "{photos}: {answered} answered, {cannot_tell} can't tell, {already_tagged} already tagged, {unreadable} unreadable"
        ));
        if with_time > 1 && already_tagged > 0 && answered + cannot_tell > 0 {
            verbosity::note(&format!(
                "{with_time} photos have a time, and {already_tagged} a location: `locdiff album` uses these to locate the others"
            ));
        }
    }
}
