//! The workspace's own source read as tokens: which file refers to which, and what messages say.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::{collections::BTreeMap, collections::BTreeSet, fs, path::Path, path::PathBuf};
use syn::UseTree;

/// A crate of the workspace.
pub(crate) struct Crate {
    /// Its folder's name.
    pub(crate) name: String,
    /// The folders' names of the crates of ours that it needs, tests aside.
    pub(crate) needs: Vec<String>,
    pub(crate) files: Vec<File>,
    /// The file of each module, inline modules too.
    modules: BTreeMap<Vec<String>, usize>,
}

/// A source file without its tests.
#[derive(Default)]
pub(crate) struct File {
    /// From the crate's `src`.
    pub(crate) path: PathBuf,
    /// String literals outside documentation.
    pub(crate) strings: Vec<String>,
    /// Names that `use` brings in, by module, with their path from the crate's root.
    imports: BTreeMap<(Vec<String>, String), Vec<String>>,
    /// Paths with a star behind them.
    stars: Vec<Vec<String>>,
    /// Names of public types, traits and free functions.
    pub(crate) public: BTreeSet<String>,
    /// Names of items.
    items: BTreeSet<String>,
    /// Paths from the crate's root that the code refers to.
    paths: Vec<Vec<String>>,
    /// Modules that exist in tests only.
    test_modules: BTreeSet<String>,
}

/// All crates below `root/crates`.
pub(crate) fn crates(root: &Path) -> Vec<Crate> {
    let mut found: Vec<Crate> = fs::read_dir(root.join("crates"))
        .expect("crates")
        .map(|entry| entry.expect("a folder").path())
        .filter(|folder| folder.join("Cargo.toml").exists())
        .map(|folder| Crate::read(&folder))
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// All files below a folder, with an ending.
pub(crate) fn files_below(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let has_ending = |path: &PathBuf| path.extension().is_some_and(|ending| endings.iter().any(|e| ending == *e));
    let mut found: Vec<PathBuf> = paths_below(folder).into_iter().filter(has_ending).map(|p| folder.join(p)).collect();
    found.retain(|path| path.is_file());
    found.sort();
    found
}

/// All files and folders below a folder that git would keep, from there.
pub(crate) fn paths_below(folder: &Path) -> Vec<PathBuf> {
    fn collect(folder: &Path, root: &Path, found: &mut Vec<PathBuf>) {
        for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path()) {
            if [".git", "target", "node_modules", "__pycache__"].iter().any(|name| path.ends_with(name)) {
                continue;
            }
            found.push(path.strip_prefix(root).expect("inside").to_owned());
            if path.is_dir() && !path.is_symlink() {
                collect(&path, root, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(folder, folder, &mut found);
    found
}

/// The lines of a file before its tests.
pub(crate) fn lines_without_tests(path: &Path) -> usize {
    let text = fs::read_to_string(path).expect("a source file");
    text.lines().take_while(|line| *line != "#[cfg(test)]").count()
}

impl Crate {
    fn read(folder: &Path) -> Self {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let source = folder.join("src");
        let mut files = Vec::new();
        for path in files_below(&source, &["rs"]) {
            let text = fs::read_to_string(&path).expect("a source file");
            let tokens: TokenStream = text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let mut file = File { path: path.strip_prefix(&source).expect("inside").into(), ..File::default() };
            let module = module_of(&file.path);
            // Names of modules are known only when all files are read: see `resolve`.
            scan(&mut file, tokens, &module, true);
            files.push(file);
        }
        let in_tests: Vec<Vec<String>> = files
            .iter()
            .flat_map(|f| f.test_modules.iter().map(|m| [module_of(&f.path), vec![m.clone()]].concat()))
            .collect();
        files.retain(|file| !in_tests.contains(&module_of(&file.path)));
        let modules = files.iter().enumerate().map(|(k, file)| (module_of(&file.path), k)).collect();
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        Self { name, needs: needs(&manifest), files, modules }
    }

    /// For each file the files that it refers to. The crate's error does not count: everything returns it, so whatever its
    /// messages name would make a circle.
    pub(crate) fn references(&self) -> Vec<BTreeSet<usize>> {
        let of = |(k, file): (usize, &File)| {
            let found = file.paths.iter().filter_map(|path| self.resolve(path, 0));
            found.filter(|other| *other != k && !self.files[*other].path.ends_with("error.rs")).collect()
        };
        self.files.iter().enumerate().map(of).collect()
    }

    /// Groups of files that refer to each other, directly or through others.
    pub(crate) fn circles(&self) -> Vec<Vec<PathBuf>> {
        let mut reach = self.references();
        loop {
            let before: usize = reach.iter().map(BTreeSet::len).sum();
            for k in 0..reach.len() {
                let further: BTreeSet<usize> = reach[k].iter().flat_map(|other| reach[*other].clone()).collect();
                reach[k].extend(further);
            }
            if before == reach.iter().map(BTreeSet::len).sum::<usize>() {
                break;
            }
        }
        let both = |a: usize, b: usize| reach[a].contains(&b) && reach[b].contains(&a);
        let circle = |k: usize| (0..reach.len()).filter(|&other| both(k, other)).collect::<Vec<_>>();
        let all: BTreeSet<Vec<usize>> = (0..self.files.len()).map(circle).filter(|c| c.len() > 1).collect();
        all.iter().map(|circle| circle.iter().map(|k| self.files[*k].path.clone()).collect()).collect()
    }

    /// The file that defines what a path from the crate's root means; none if it is not of this crate.
    fn resolve(&self, path: &[String], depth: usize) -> Option<usize> {
        let mut module = Vec::new();
        for (k, segment) in path.iter().enumerate() {
            let below = [&module[..], std::slice::from_ref(segment)].concat();
            if self.modules.contains_key(&below) {
                module = below;
                continue;
            }
            let here = *self.modules.get(&module)?;
            if depth < 8
                && let Some(target) = self.files[here].imports.get(&(module.clone(), segment.clone()))
                && target != path
            {
                return self.resolve(&[target, &path[k + 1..]].concat(), depth + 1);
            }
            let starred = self.files[here].stars.iter().filter_map(|star| self.modules.get(star));
            let defined = starred.copied().find(|other| self.files[*other].items.contains(segment));
            // What the root neither has nor brings in is another crate's.
            let own = self.files[here].items.contains(segment);
            return defined.or((own || !module.is_empty()).then_some(here));
        }
        self.modules.get(&module).copied()
    }
}

/// The crates of ours in a manifest's dependencies.
fn needs(manifest: &str) -> Vec<String> {
    let mut wanted = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            wanted = line.ends_with("dependencies]") && !line.contains("dev-");
        } else if wanted && line.starts_with("locdiff") {
            let name = line.split(['.', ' ', '=']).next().expect("a name");
            found.push(name.strip_prefix("locdiff-").unwrap_or(name).to_owned());
        }
    }
    found
}

/// The module that a file below `src` holds.
fn module_of(path: &Path) -> Vec<String> {
    let mut parts: Vec<String> =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod" || (parts.len() == 1 && (last == "lib" || last == "main"))) {
        parts.pop();
    }
    parts
}

/// Reads tokens into the file's lists; `is_module` for those of a module itself, not of what is inside its items.
fn scan(file: &mut File, tokens: TokenStream, module: &[String], is_module: bool) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut k = 0;
    let mut exported = false;
    while k < tokens.len() {
        match &tokens[k] {
            TokenTree::Punct(p) if p.as_char() == '#' => {
                let (next, in_tests) = attribute(file, &tokens, k);
                k = next;
                if in_tests {
                    k = item_end(file, &tokens, k);
                }
                continue;
            }
            TokenTree::Ident(word) if word == "use" => {
                let end = (k..tokens.len()).find(|&e| is(&tokens, e, ';')).unwrap_or(tokens.len());
                let tree: TokenStream = tokens[k + 1..end].iter().cloned().collect();
                if let Ok(tree) = syn::parse2(tree) {
                    import(file, &tree, module, &[], exported);
                }
                exported = false;
                k = end;
            }
            TokenTree::Ident(word) if word == "mod" => {
                if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
                    (tokens.get(k + 1), tokens.get(k + 2))
                {
                    file.items.insert(name.to_string());
                    scan(file, body.stream(), &[module, &[name.to_string()]].concat(), true);
                    k += 2;
                }
            }
            TokenTree::Ident(word) => {
                exported = word == "pub";
                if exported && is_module {
                    file.public.extend(public_name(&tokens[k + 1..]));
                }
                if ITEMS.iter().any(|kind| word == kind)
                    && let Some(TokenTree::Ident(name)) = tokens.get(k + 1)
                {
                    file.items.insert(name.to_string());
                }
                let mut path = vec![word.to_string()];
                while is(&tokens, k + 1, ':')
                    && is(&tokens, k + 2, ':')
                    && let Some(TokenTree::Ident(next)) = tokens.get(k + 3)
                {
                    path.push(next.to_string());
                    k += 3;
                }
                if path.len() > 1 {
                    file.paths.extend(absolute(&path, module));
                }
            }
            TokenTree::Group(group) => {
                let restriction = exported && group.delimiter() == Delimiter::Parenthesis;
                scan(file, group.stream(), module, false);
                exported = restriction; // `pub(crate)`
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.starts_with(['"', 'r']) {
                    file.strings.push(text);
                }
            }
            TokenTree::Punct(_) => {}
        }
        k += 1;
    }
}

/// The name of the public type, trait or free function that these tokens begin.
fn public_name(tokens: &[TokenTree]) -> Option<String> {
    const KINDS: [&str; 6] = ["struct", "enum", "trait", "type", "union", "fn"];
    let words: Vec<String> = tokens.iter().take(5).map(ToString::to_string).collect();
    let kind = words.iter().position(|word| KINDS.contains(&&**word))?;
    let is_item = words[..kind].iter().all(|word| ["const", "unsafe", "async", "extern"].contains(&&**word));
    words.get(kind + 1).filter(|_| is_item).cloned()
}

/// Words before the name of an item.
const ITEMS: [&str; 9] = ["struct", "enum", "trait", "fn", "const", "static", "type", "union", "macro_rules"];

fn is(tokens: &[TokenTree], k: usize, sign: char) -> bool {
    matches!(tokens.get(k), Some(TokenTree::Punct(p)) if p.as_char() == sign)
}

/// Passes over an attribute; its strings count unless it is documentation. Says whether what follows is for tests.
fn attribute(file: &mut File, tokens: &[TokenTree], k: usize) -> (usize, bool) {
    let body = if is(tokens, k + 1, '!') { k + 2 } else { k + 1 };
    let Some(TokenTree::Group(group)) = tokens.get(body) else { return (k + 1, false) };
    let text = group.stream().to_string();
    if !text.starts_with("doc") {
        scan(file, group.stream(), &[], false);
    }
    let text = text.replace(' ', "");
    (body + 1, text == "cfg(test)" || text.starts_with("cfg(all(test"))
}

/// Passes over the item after `#[cfg(test)]`, and remembers it if it is a module of its own file.
fn item_end(file: &mut File, tokens: &[TokenTree], start: usize) -> usize {
    for k in start..tokens.len() {
        match &tokens[k] {
            TokenTree::Punct(p) if p.as_char() == ';' => {
                if let (Some(TokenTree::Ident(word)), Some(TokenTree::Ident(name))) =
                    (tokens.get(k.wrapping_sub(2)), tokens.get(k - 1))
                    && word == "mod"
                {
                    file.test_modules.insert(name.to_string());
                }
                return k + 1;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return k + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Reads a `use` tree. What a module passes on from the modules below it is no reference of its own.
fn import(file: &mut File, tree: &UseTree, module: &[String], path: &[String], exported: bool) {
    let below = |name: &dyn ToString| [path, &[name.to_string()]].concat();
    let (path, alias) = match tree {
        UseTree::Path(tree) => return import(file, &tree.tree, module, &below(&tree.ident), exported),
        UseTree::Group(group) => return group.items.iter().for_each(|tree| import(file, tree, module, path, exported)),
        UseTree::Glob(_) => (path.to_vec(), None),
        UseTree::Name(tree) if tree.ident == "self" => (path.to_vec(), path.last().cloned()),
        UseTree::Name(tree) => (below(&tree.ident), Some(tree.ident.to_string())),
        UseTree::Rename(tree) => (below(&tree.ident), Some(tree.rename.to_string())),
    };
    let Some(full) = absolute(&path, module) else { return };
    if !exported || !full.starts_with(module) {
        file.paths.push(full.clone());
    }
    match alias {
        Some(name) => drop(file.imports.insert((module.to_vec(), name), full)),
        None => file.stars.push(full),
    }
}

/// A path from the crate's root. One that starts with a plain name is taken to start in the module itself; that there is
/// no such module or item tells another crate's later.
fn absolute(path: &[String], module: &[String]) -> Option<Vec<String>> {
    let ups = path.iter().take_while(|word| *word == "super").count();
    let (kept, skipped) = match path.first()?.as_str() {
        "crate" => (0, 1),
        "self" => (module.len(), 1),
        _ => (module.len().saturating_sub(ups), ups),
    };
    Some([&module[..kept], &path[skipped..]].concat())
}
