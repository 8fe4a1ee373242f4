//! Where the files about a photo go: the folders that were given, and what lies below them.

use std::{collections::HashSet, fs, iter, path::Component, path::Path, path::PathBuf};

#[derive(Debug, Default)]
pub(crate) struct Tree {
    roots: Vec<PathBuf>,
    /// Copies of this run: photos of one name get numbers.
    copies: HashSet<PathBuf>,
}

impl Tree {
    /// Of what was given: folders, and lists (`@list.txt`, `.csv`), whose own folder counts; other files have none.
    pub(crate) fn of(given: &[PathBuf]) -> Self {
        let mut this = Self::default();
        for path in given {
            let listed = path.to_str().and_then(|text| text.strip_prefix('@')).map(Path::new);
            let is_table = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
            let root = match listed.or(Some(path.as_path()).filter(|_| is_table && !path.is_dir())) {
                Some(list) => list.parent(),
                None => Some(path.as_path()).filter(|path| path.is_dir()),
            };
            let is_new = |root: &&Path| !this.roots.iter().any(|known| known == root);
            this.roots.extend(root.filter(is_new).map(Path::to_owned));
        }
        this
    }

    /// A file's name in a copy of what was given: as seen from the folder, under that folder's name where several were given. A number
    /// tells files of one name apart.
    pub(crate) fn name(&mut self, file: &Path) -> Option<PathBuf> {
        let below = self.roots.iter().filter_map(|root| Some((root, plain(file.strip_prefix(root).ok()?)?)));
        let name = match below.min_by_key(|(root, _)| root.components().count()) {
            Some((root, below)) if self.roots.len() > 1 => Path::new(root.file_name().unwrap_or_default()).join(below),
            Some((_, below)) => below.to_owned(),
            None => file.file_name().map(PathBuf::from)?,
        };
        let numbered = (2..).map(|number| {
            let mut other = name.file_stem().unwrap_or_default().to_owned();
            other.push(format!("-{number}"));
            if let Some(end) = name.extension() {
                other.push(".");
                other.push(end);
            }
            name.with_file_name(other)
        });
        iter::once(name.clone()).chain(numbered).find(|name| self.copies.insert(name.clone()))
    }

    /// The link on the way from a folder that was given to a photo below it: what lies behind it is somewhere else.
    pub(crate) fn link_above(&self, photo: &Path) -> Option<PathBuf> {
        let root =
            self.roots.iter().filter(|root| photo.starts_with(root)).min_by_key(|root| root.components().count())?;
        let above = photo.ancestors().skip(1).take_while(|folder| folder.starts_with(root) && folder != root);
        let mut links = above.filter(|folder| fs::symlink_metadata(folder).is_ok_and(|there| there.is_symlink()));
        links.next().map(Path::to_owned)
    }

    /// The folder whose journal notes what is written beside a photo: the one that was given and truly holds it, else its own.
    pub(crate) fn home(&self, photo: &Path) -> PathBuf {
        let own = photo.parent().unwrap_or(Path::new("")).to_owned();
        let true_path = |path: &Path| fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path });
        let Ok(here) = true_path(&own) else { return own };
        let holds = |root: &&PathBuf| true_path(root).is_ok_and(|root| here.starts_with(root));
        self.roots.iter().filter(holds).min_by_key(|root| root.components().count()).cloned().unwrap_or(own)
    }
}

fn plain(path: &Path) -> Option<&Path> {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && path.file_name().is_some()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_kept_and_nothing_leaves_them() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::create_dir_all(a.join("sub")).unwrap();
        fs::create_dir_all(&b).unwrap();
        let mut one = Tree::of(std::slice::from_ref(&a));
        let mut name = |file: &Path| one.name(file).unwrap();
        assert_eq!(name(&a.join("sub/x.jpg")), Path::new("sub/x.jpg"));
        assert_eq!(name(&a.join("sub/x.jpg")), Path::new("sub/x-2.jpg"));
        assert_eq!(name(&a.join("../b/y.jpg")), Path::new("y.jpg"), "no name leads out of the copy");
        assert_eq!(name(&b.join("y.jpg")), Path::new("y-2.jpg"));
        let mut two = Tree::of(&[a.clone(), a.join("sub"), b.join("list.csv"), a.join("z.jpg")]);
        assert_eq!(two.name(&a.join("sub/x.jpg")).unwrap(), Path::new("a/sub/x.jpg"));
        assert_eq!(two.name(&b.join("x.jpg")).unwrap(), Path::new("b/x.jpg"));
        assert_eq!((two.home(&a.join("sub/x.jpg")), two.home(&b.join("x.jpg"))), (a.clone(), b.clone()));
        assert_eq!(Tree::of(&[a.join("sub/x.jpg")]).home(&a.join("sub/x.jpg")), a.join("sub"));
    }
}
