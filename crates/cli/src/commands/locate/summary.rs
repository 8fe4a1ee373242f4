//! The end of a run over many photos: how many of what, and what to do with them.

use crate::verbosity;
use locdiff::Answer;
use locdiff::get::{Installed, Published};
use locdiff_base::counted;

const GEOCLIP: &str = "geoclip";

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

    /// Says, once a run, what helps if the bundled model can tell few of many photos.
    pub(super) fn hint_at_geoclip(&self) {
        const MANY: usize = 10;
        let photos = self.answered + self.cannot_tell + self.already_tagged;
        if photos < MANY || 2 * self.cannot_tell <= photos {
            return;
        }
        let is_here =
            Installed::data_folder().is_some_and(|home| Installed::models_folder(&home).join(GEOCLIP).is_dir());
        let megabytes =
            |name: &str| Published::all().iter().find(|one| one.name == name).map_or(0, |one| one.download_mb);
        let needs = Published::all().iter().find(|one| one.name == GEOCLIP).map_or(&[][..], |one| one.needs);
        let gigabytes = f64::from(megabytes(GEOCLIP) + needs.iter().map(|name| megabytes(name)).sum::<u32>()) / 1e3;
        let how = if is_here {
            format!("add --model {GEOCLIP}")
        } else {
            format!(
                "fetch it with `locdiff get {GEOCLIP}` (about {gigabytes:.1} GB to download), then add --model {GEOCLIP}"
            )
        };
        verbosity::note(&format!("the bundled model knows street views best; GeoCLIP knows photos of any kind: {how}"));
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
                "{with_time} photos say when they were taken, and {already_tagged} where: `locdiff album` places the others by them, too"
            ));
        }
    }
}
