//! The end of a run over many photos: how many of what, and what to do with them.

use crate::verbosity;
use locdiff::{Answer, Located, get::Published};
use locdiff_base::counted;

/// How many photos of each kind there were; each is of one.
#[derive(Debug, Default)]
pub(super) struct Summary {
    answered: usize,
    cannot_tell: usize,
    already_tagged: usize,
    pub(super) unreadable: usize,
    with_time: usize,
    ignored_text: Vec<String>,
}

impl Summary {
    pub(super) fn add(&mut self, answer: &Answer, located: &Located) {
        self.with_time += usize::from(located.has_time);
        self.ignored_text.extend_from_slice(&located.ignored_text);
        *match (answer.gps, answer.can_tell) {
            (Some(_), _) => &mut self.already_tagged,
            (None, true) => &mut self.answered,
            (None, false) => &mut self.cannot_tell,
        } += 1;
    }

    /// Says which lines that were to be ignored no photo has.
    pub(super) fn tell_unread(&self, ignored: &[String]) {
        for line in ignored.iter().filter(|line| !self.ignored_text.contains(line)) {
            verbosity::note(&format!("--ignore-text \"{line}\" changes nothing: no photo has this line"));
        }
    }

    /// Says, once a run, what helps if the bundled model can tell few of ten photos or more.
    pub(super) fn hint_at_geoclip(&self) {
        let photos = self.answered + self.cannot_tell + self.already_tagged;
        if photos >= 10 && 2 * self.cannot_tell > photos {
            let fetch = Published::missing_gb("geoclip").map_or(String::new(), |size| {
                format!("download it with `locdiff get geoclip` (about {size:.1} GB to download), then ")
            });
            verbosity::note(&format!(
                "the bundled model is made for street views, GeoCLIP for photos of any kind: {fetch}add --model geoclip"
            ));
        }
    }

    /// Says it on standard error, with a hint at albums where they help.
    pub(super) fn tell(&self) {
        let Self { answered, cannot_tell, already_tagged, unreadable, with_time, .. } = *self;
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
