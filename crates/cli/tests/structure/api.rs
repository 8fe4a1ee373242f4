//! The public API of the library `locdiff` as a list, compared with `crates/locdiff/api.txt`.
//!
//! After a change that is meant: `LOCDIFF_UPDATE=1 cargo test -p locdiff-cli --test all structure::api`, then read the diff.

use super::{common, sources::files_below};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::{fs, path::Path};
use syn::{Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

/// At most this many names are exported.
const MOST_NAMES: usize = 75;

/// Everything public of the workspace, by name: names are unique (see `names.rs`).
#[derive(Default)]
struct Index {
    items: BTreeMap<String, String>,
    /// Lines of methods and trait implementations, by the name of the type.
    members: BTreeMap<String, BTreeSet<String>>,
    documented: BTreeSet<String>,
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Tokens on one line, with the spaces that rustfmt would leave.
fn line(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let pairs = [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" ;", ";"),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" :", ":"),
        (" !", "!"),
        ("[ ", "["),
        (" ]", "]"),
        ("->", " -> "),
        ("  ->  ", " -> "),
        ("' ", "'"),
        ("  ", " "),
    ];
    pairs.iter().fold(text, |text, (from, to)| text.replace(from, to)).trim().to_owned()
}

impl Index {
    fn read(crates: &Path) -> Self {
        let mut index = Self::default();
        for path in files_below(crates, &["rs"]) {
            if path
                .components()
                .any(|part| ["tests", "examples", "benches"].iter().any(|name| part.as_os_str() == *name))
            {
                continue;
            }
            let file = syn::parse_file(&fs::read_to_string(&path).unwrap())
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            index.add(file.items);
        }
        index
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of item")]
    fn add(&mut self, items: Vec<Item>) {
        for item in items {
            match item {
                Item::Struct(mut item) if is_public(&item.vis) => {
                    self.note(&item.ident, &item.attrs);
                    let private = item.fields.iter().any(|field| !is_public(&field.vis));
                    let fields: Vec<String> = item
                        .fields
                        .iter()
                        .filter(|field| is_public(&field.vis))
                        .map(|field| {
                            field
                                .ident
                                .as_ref()
                                .map_or_else(|| line(&field.ty), |name| format!("{name}: {}", line(&field.ty)))
                        })
                        .collect();
                    let open = non_exhaustive(&item.attrs);
                    item.attrs.clear();
                    item.fields = Fields::Unit;
                    item.semi_token = None;
                    let fields =
                        fields.into_iter().chain(private.then(|| "..".to_owned())).collect::<Vec<_>>().join(", ");
                    let head = line(&item);
                    let text = format!("{open}{} {{ {fields} }}", head.trim_end_matches(';'));
                    self.items.insert(item.ident.to_string(), text);
                }
                Item::Enum(item) if is_public(&item.vis) => {
                    self.note(&item.ident, &item.attrs);
                    let variants: Vec<String> = item
                        .variants
                        .iter()
                        .map(|variant| {
                            let mut variant = variant.clone();
                            variant.attrs.clear();
                            for field in &mut variant.fields {
                                field.attrs.clear();
                            }
                            line(&variant)
                        })
                        .collect();
                    let text = format!(
                        "{}pub enum {}{} {{ {} }}",
                        non_exhaustive(&item.attrs),
                        item.ident,
                        line(&item.generics),
                        variants.join(", ")
                    );
                    self.items.insert(item.ident.to_string(), text);
                }
                Item::Trait(item) if is_public(&item.vis) => {
                    self.note(&item.ident, &item.attrs);
                    for member in &item.items {
                        if let TraitItem::Fn(function) = member {
                            self.members.entry(item.ident.to_string()).or_default().insert(line(&function.sig));
                        }
                    }
                    self.items
                        .insert(item.ident.to_string(), format!("pub trait {}{}", item.ident, line(&item.generics)));
                }
                Item::Fn(item) if is_public(&item.vis) => {
                    self.note(&item.sig.ident, &item.attrs);
                    self.items.insert(item.sig.ident.to_string(), format!("pub {}", line(&item.sig)));
                }
                Item::Type(mut item) if is_public(&item.vis) => {
                    self.note(&item.ident, &item.attrs);
                    item.attrs.clear();
                    self.items.insert(item.ident.to_string(), line(&item));
                }
                Item::Const(item) if is_public(&item.vis) => {
                    self.note(&item.ident, &item.attrs);
                    self.items.insert(item.ident.to_string(), format!("pub const {}: {}", item.ident, line(&item.ty)));
                }
                Item::Impl(item) => {
                    let syn::Type::Path(own) = &*item.self_ty else { continue };
                    let Some(own) = own.path.segments.last().map(|segment| segment.ident.to_string()) else { continue };
                    let members = self.members.entry(own).or_default();
                    if let Some((path, _)) = &item.trait_ {
                        members.insert(format!("impl {}", line(path)));
                        continue;
                    }
                    for member in &item.items {
                        if let ImplItem::Fn(function) = member
                            && is_public(&function.vis)
                        {
                            members.insert(format!("pub {}", line(&function.sig)));
                        }
                    }
                }
                // Enums of names, made by a macro of `base`.
                Item::Macro(item) if item.mac.path.is_ident("named") => {
                    let text = line(&item.mac.tokens);
                    if let Some(name) = text.split("pub enum ").nth(1).and_then(|rest| rest.split([':', ' ']).next()) {
                        self.documented.insert(name.to_owned());
                        self.items.insert(name.to_owned(), format!("pub enum {name}"));
                    }
                }
                Item::Mod(item) if !item.attrs.iter().any(|attribute| line(attribute).contains("test")) => {
                    self.add(item.content.map(|(_, items)| items).unwrap_or_default());
                }
                _ => {}
            }
        }
    }

    /// Remembers whether an item has documentation.
    fn note(&mut self, name: &syn::Ident, attributes: &[syn::Attribute]) {
        if attributes.iter().any(|attribute| attribute.path().is_ident("doc")) {
            self.documented.insert(name.to_string());
        }
    }
}

fn non_exhaustive(attributes: &[syn::Attribute]) -> &'static str {
    if attributes.iter().any(|attribute| attribute.path().is_ident("non_exhaustive")) {
        "#[non_exhaustive] "
    } else {
        ""
    }
}

/// The names that a file exports: those of `pub use` and of public items, with those of public modules.
fn exported(file: &Path, prefix: &str, found: &mut BTreeMap<String, String>) {
    fn leaves(tree: &UseTree, found: &mut Vec<(String, String)>) {
        match tree {
            UseTree::Path(path) => leaves(&path.tree, found),
            UseTree::Name(name) => found.push((name.ident.to_string(), name.ident.to_string())),
            UseTree::Rename(name) => found.push((name.rename.to_string(), name.ident.to_string())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, found)),
            UseTree::Glob(_) => panic!("the library exports names, not everything of a module"),
        }
    }
    let text = fs::read_to_string(file).unwrap();
    for item in syn::parse_file(&text).unwrap().items {
        let mut names = Vec::new();
        match item {
            Item::Use(item) if is_public(&item.vis) => leaves(&item.tree, &mut names),
            Item::Mod(item) if is_public(&item.vis) => {
                let name = item.ident.to_string();
                let folder = file.parent().unwrap();
                let nested = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
                let nested = nested.iter().find(|path| path.exists()).expect("a module's file");
                if !item.attrs.iter().any(|attribute| line(attribute).contains("fuzzing")) {
                    exported(nested, &format!("{prefix}{name}::"), found);
                }
            }
            Item::Struct(item) if is_public(&item.vis) => names.push((item.ident.to_string(), item.ident.to_string())),
            Item::Enum(item) if is_public(&item.vis) => names.push((item.ident.to_string(), item.ident.to_string())),
            Item::Fn(item) if is_public(&item.vis) => {
                names.push((item.sig.ident.to_string(), item.sig.ident.to_string()));
            }
            Item::Const(item) if is_public(&item.vis) => names.push((item.ident.to_string(), item.ident.to_string())),
            _ => {}
        }
        found.extend(names.into_iter().map(|(shown, own)| (format!("{prefix}{shown}"), own)));
    }
}

#[test]
fn the_public_api_is_the_one_that_is_listed() {
    let root = common::root();
    let index = Index::read(&root.join("crates"));
    let mut names = BTreeMap::new();
    exported(&root.join("crates/locdiff/src/lib.rs"), "locdiff::", &mut names);
    assert!(names.len() <= MOST_NAMES, "{} names, at most {MOST_NAMES}", names.len());
    let mut list = String::new();
    let mut undocumented = Vec::new();
    for (path, name) in &names {
        let item = index.items.get(name).unwrap_or_else(|| panic!("{path}: no public item of this name"));
        list += &format!("{path}\n    {item}\n");
        for member in index.members.get(name).into_iter().flatten() {
            list += &format!("    {member}\n");
        }
        if !index.documented.contains(name) {
            undocumented.push(path);
        }
    }
    assert!(undocumented.is_empty(), "without documentation: {undocumented:?}");
    let file = root.join("crates/locdiff/api.txt");
    if std::env::var_os("LOCDIFF_UPDATE").is_some() {
        fs::write(&file, &list).unwrap();
    }
    let held = fs::read_to_string(&file).unwrap_or_default();
    let differs = held.lines().zip(list.lines()).find(|(held, now)| held != now);
    assert!(held == list, "crates/locdiff/api.txt is not the API; the first difference: {differs:?}");
}
