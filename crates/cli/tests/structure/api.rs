//! The public API of the library `locdiff` as a list, compared with `crates/locdiff/api.txt`.
//!
//! After a change that is meant: `LOCDIFF_UPDATE=1 cargo test -p locdiff-cli --test all structure::api`, then read the diff.

use super::{common, sources::files_below};
use quote::ToTokens;
use std::{collections::BTreeMap, collections::BTreeSet, fs, path::Component, path::Path};
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

/// At most this many names are exported.
const MOST_NAMES: usize = 75;

/// Everything public of the workspace, by name: names are unique (see `names.rs`).
#[derive(Default)]
struct Index {
    items: BTreeMap<String, String>,
    /// Lines of methods and trait implementations, by the name of the type.
    members: BTreeMap<String, BTreeSet<String>>,
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// What stands in tokens, and what takes its place, in turns.
const SPACES: [&str; 38] = [
    " :: ", "::", ":: ", "::", " < ", "<", "< ", "<", " >", ">", " ,", ",", " ;", ";", "& ", "&", " (", "(", "( ", "(",
    " )", ")", " :", ":", " !", "!", "[ ", "[", " ]", "]", "->", " -> ", "  ->  ", " -> ", "' ", "'", "  ", " ",
];

/// Tokens on one line, with the spaces that rustfmt would leave.
fn line(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let (pairs, _) = SPACES.as_chunks::<2>();
    pairs.iter().fold(text, |text, [from, to]| text.replace(from, to)).trim().to_owned()
}

/// The name of a public item that can be exported, and its attributes, which are taken off.
fn public(item: &mut Item) -> Option<(String, Vec<Attribute>)> {
    let (visibility, name, attributes) = match item {
        Item::Struct(item) => (&item.vis, &item.ident, &mut item.attrs),
        Item::Enum(item) => (&item.vis, &item.ident, &mut item.attrs),
        Item::Trait(item) => (&item.vis, &item.ident, &mut item.attrs),
        Item::Fn(item) => (&item.vis, &item.sig.ident, &mut item.attrs),
        Item::Type(item) => (&item.vis, &item.ident, &mut item.attrs),
        Item::Const(item) => (&item.vis, &item.ident, &mut item.attrs),
        _ => return None,
    };
    is_public(visibility).then(|| (name.to_string(), std::mem::take(attributes)))
}

impl Index {
    fn read(crates: &Path) -> Self {
        let mut index = Self::default();
        for path in files_below(crates, &["rs"]) {
            let is_apart =
                |part: Component| ["tests", "examples", "benches"].iter().any(|name| part.as_os_str() == *name);
            if !path.components().any(is_apart) {
                let file = syn::parse_file(&fs::read_to_string(&path).unwrap());
                index.add(file.unwrap_or_else(|e| panic!("{}: {e}", path.display())).items);
            }
        }
        index
    }

    fn add(&mut self, items: Vec<Item>) {
        for mut item in items {
            if let Some((name, attributes)) = public(&mut item) {
                self.add_public(name, &attributes, item);
                continue;
            }
            match item {
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

    fn add_public(&mut self, name: String, attributes: &[Attribute], item: Item) {
        let has = |attribute: &str| attributes.iter().any(|one| one.path().is_ident(attribute));
        let open = if has("non_exhaustive") { "#[non_exhaustive] " } else { "" };
        let text = match item {
            Item::Struct(mut item) => {
                let shown = |field: &syn::Field| match &field.ident {
                    Some(name) => format!("{name}: {}", line(&field.ty)),
                    None => line(&field.ty),
                };
                let (public, private): (Vec<_>, Vec<_>) = item.fields.iter().partition(|field| is_public(&field.vis));
                let rest = (!private.is_empty()).then(|| "..".to_owned());
                let fields: Vec<String> = public.into_iter().map(shown).chain(rest).collect();
                (item.fields, item.semi_token) = (Fields::Unit, None);
                format!("{open}{} {{ {} }}", line(&item).trim_end_matches(';'), fields.join(", "))
            }
            Item::Enum(item) => {
                let shown = |mut variant: syn::Variant| {
                    variant.attrs.clear();
                    variant.fields.iter_mut().for_each(|field| field.attrs.clear());
                    line(&variant)
                };
                let variants: Vec<String> = item.variants.into_iter().map(shown).collect();
                format!("{open}pub enum {name}{} {{ {} }}", line(&item.generics), variants.join(", "))
            }
            Item::Trait(item) => {
                for member in &item.items {
                    if let TraitItem::Fn(function) = member {
                        self.members.entry(name.clone()).or_default().insert(line(&function.sig));
                    }
                }
                format!("pub trait {name}{}", line(&item.generics))
            }
            Item::Fn(item) => format!("pub {}", line(&item.sig)),
            Item::Const(item) => format!("pub const {name}: {}", line(&item.ty)),
            other => line(&other),
        };
        self.items.insert(name, text);
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
    for mut item in syn::parse_file(&text).unwrap().items {
        let mut names: Vec<_> = public(&mut item).into_iter().map(|(name, _)| (name.clone(), name)).collect();
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
    for (path, name) in &names {
        let item = index.items.get(name).unwrap_or_else(|| panic!("{path}: no public item of this name"));
        list += &format!("{path}\n    {item}\n");
        for member in index.members.get(name).into_iter().flatten() {
            list += &format!("    {member}\n");
        }
    }
    let file = root.join("crates/locdiff/api.txt");
    if std::env::var_os("LOCDIFF_UPDATE").is_some() {
        fs::write(&file, &list).unwrap();
    }
    let held = fs::read_to_string(&file).unwrap_or_default();
    let differs = held.lines().zip(list.lines()).find(|(held, now)| held != now);
    assert!(held == list, "crates/locdiff/api.txt is not the API; the first difference: {differs:?}");
}
