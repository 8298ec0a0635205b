//! The modules of the engine stand on each other in the order of `docs/decisions/layout.md`; a module uses only those before it.
//!
//! The sources are parsed: modules are followed from `lib.rs`, what is compiled for tests only is left out (tests build their examples
//! from text), and every path counts, however it is written: `crate::a::b`, `use crate::{a, b}`, `super::super::a`, inside of macros too.

use proc_macro2::Ident;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

fn engine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The order that the decision states: its first indented line.
fn order() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/decisions/layout.md");
    let page = fs::read_to_string(page).expect("the decision");
    let line = page.lines().find(|l| l.starts_with("    ")).expect("the order, indented");
    line.split_whitespace().map(str::to_string).collect()
}

#[test]
fn a_module_uses_only_modules_before_it() {
    let order = order();
    let mut uses = Uses::default();
    uses.file(&engine().join("lib.rs"), &[]);
    let mut modules: Vec<&str> =
        uses.modules.iter().filter(|m| m.len() == 1).map(|m| m[0].as_str()).collect();
    modules.sort_unstable();
    let mut stated: Vec<&str> = order.iter().map(String::as_str).collect();
    stated.sort_unstable();
    assert_eq!(modules, stated, "the modules of lib.rs and of docs/decisions/layout.md");
    assert!(uses.files > 100, "only {} files were found", uses.files);
    let wrong = uses.against(&order);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lines of a function above which it is cut into named passes, or says why not (`In one piece: …` in its comment), and how many
/// may say so.
const LONGEST: usize = 100;
const WHOLE: usize = 5;
/// Names that a user of the engine meets; methods, and the prelude, which repeats names, are not counted.
const NAMES: usize = 400;

#[test]
fn long_functions_are_cut_into_named_passes_or_say_why_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Lengths::default();
    for part in ["specht/src", "specht-cli/src", "specht-py/src", "specht-web/src"] {
        let part = root.join(part);
        if part.exists() {
            found.folder(&part);
        }
    }
    assert!(found.count > 3000, "only {} functions were found", found.count);
    assert!(found.long.is_empty(), "{}", found.long.join("\n"));
    assert!(found.whole.len() <= WHOLE, "{}", found.whole.join("\n"));
}

#[test]
fn a_user_can_learn_the_names_of_the_engine() {
    let mut names = Names::default();
    names.module(&engine().join("lib.rs"));
    assert!(names.list.len() > 100, "only {} names were found", names.list.len());
    assert!(names.list.len() <= NAMES, "{} public names:\n{}", names.list.len(), names.list.join("\n"));
}

/// Functions by their length.
#[derive(Default)]
struct Lengths {
    count: usize,
    /// Above [`LONGEST`], without and with a reason.
    long: Vec<String>,
    whole: Vec<String>,
    path: String,
}

impl Lengths {
    /// Every file of a folder, those for tests left out.
    fn folder(&mut self, folder: &Path) {
        let list = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut list: Vec<PathBuf> = list.filter_map(|e| Some(e.ok()?.path())).collect();
        list.sort();
        for path in list {
            if path.is_dir() {
                self.folder(&path);
            } else if path.extension().is_some_and(|e| e == "rs")
                && path.file_stem().is_some_and(|s| s != "tests")
            {
                let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                self.path = path.display().to_string();
                self.visit_file(
                    &syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display())),
                );
            }
        }
    }

    fn function(&mut self, name: &Ident, attributes: &[syn::Attribute], block: &syn::Block) {
        self.count += 1;
        let lines = block.brace_token.span.close().end().line + 1 - name.span().start().line;
        if lines > LONGEST {
            let whole = attributes.iter().any(|a| match &a.meta {
                syn::Meta::NameValue(m) => matches!(&m.value, syn::Expr::Lit(l)
                    if matches!(&l.lit, syn::Lit::Str(s) if s.value().trim().starts_with("In one piece: "))),
                _ => false,
            });
            let list = if whole { &mut self.whole } else { &mut self.long };
            list.push(format!("{}: {name} has {lines} lines", self.path));
        }
    }
}

impl<'a> Visit<'a> for Lengths {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        if !for_tests(&item.attrs) {
            self.function(&item.sig.ident, &item.attrs, &item.block);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if !for_tests(&item.attrs) {
            self.function(&item.sig.ident, &item.attrs, &item.block);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
}

/// What a user of the engine can name: public items of public modules, and what modules re-export.
#[derive(Default)]
struct Names {
    list: Vec<String>,
}

impl Names {
    fn module(&mut self, path: &Path) {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let file = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let beside = path.parent().unwrap_or(Path::new("."));
        let folder = if ["mod", "lib"].contains(&stem.as_str()) { beside.into() } else { beside.join(stem) };
        self.items(&file.items, &folder, &path.display().to_string());
    }

    fn items(&mut self, items: &[syn::Item], folder: &Path, place: &str) {
        let public = |v: &syn::Visibility| matches!(v, syn::Visibility::Public(_));
        for item in items {
            let name = match item {
                syn::Item::Fn(i) if public(&i.vis) => &i.sig.ident,
                syn::Item::Struct(i) if public(&i.vis) => &i.ident,
                syn::Item::Enum(i) if public(&i.vis) => &i.ident,
                syn::Item::Trait(i) if public(&i.vis) => &i.ident,
                syn::Item::Type(i) if public(&i.vis) => &i.ident,
                syn::Item::Const(i) if public(&i.vis) => &i.ident,
                syn::Item::Static(i) if public(&i.vis) => &i.ident,
                syn::Item::Use(i) if public(&i.vis) => {
                    let mut list = Vec::new();
                    leaves(&i.tree, &mut Vec::new(), &mut list);
                    self.list.extend(list.into_iter().map(|(_, name)| format!("{place}: {name}")));
                    continue;
                }
                syn::Item::Mod(m) if public(&m.vis) && !hidden(&m.attrs) && m.ident != "prelude" => {
                    match &m.content {
                        Some((_, items)) => self.items(items, &folder.join(m.ident.to_string()), place),
                        None => {
                            let name = m.ident.to_string();
                            let [flat, deep] =
                                [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
                            self.module(if flat.exists() { &flat } else { &deep });
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            self.list.push(format!("{place}: {name}"));
        }
    }
}

/// Whether something is left out of the documentation or compiled for tests or measurements only.
fn hidden(attributes: &[syn::Attribute]) -> bool {
    for_tests(attributes)
        || attributes.iter().any(|a| match &a.meta {
            syn::Meta::List(list) => {
                let words = list.tokens.to_string();
                (a.path().is_ident("doc") && words == "hidden")
                    || (a.path().is_ident("cfg") && words.contains("feature"))
            }
            _ => false,
        })
}

/// What the files use: (module, top-level module used, where).
#[derive(Default)]
struct Uses {
    edges: Vec<(String, String, String)>,
    modules: Vec<Vec<String>>,
    /// Names that lib.rs re-exports, with the module they come from.
    exported: BTreeMap<String, String>,
    files: usize,
    /// The file and the module that are being read.
    path: String,
    at: Vec<String>,
}

impl Uses {
    /// Read a file and the files of its modules.
    fn file(&mut self, path: &Path, module: &[String]) {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let file = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        self.files += 1;
        let name = path.strip_prefix(engine()).unwrap_or(path).display().to_string();
        // modules of `a/mod.rs` and `lib.rs` lie beside it, those of `a.rs` in `a/`
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let beside = path.parent().unwrap_or(Path::new("."));
        let folder = if ["mod", "lib"].contains(&stem.as_str()) { beside.into() } else { beside.join(stem) };
        self.text(&name, &file, module);
        for child in declared(&file.items) {
            let [flat, deep] = [folder.join(format!("{child}.rs")), folder.join(&child).join("mod.rs")];
            let path = if flat.exists() { flat } else { deep };
            let mut inner = module.to_vec();
            inner.push(child);
            self.modules.push(inner.clone());
            self.file(&path, &inner);
        }
    }

    /// Read the paths of one file.
    fn text(&mut self, name: &str, file: &syn::File, module: &[String]) {
        (self.path, self.at) = (name.to_string(), module.to_vec());
        if module.is_empty() {
            self.exports(&file.items);
        }
        self.visit_file(file);
    }

    fn exports(&mut self, items: &[syn::Item]) {
        for item in items {
            if let syn::Item::Use(item) = item {
                let mut list = Vec::new();
                leaves(&item.tree, &mut Vec::new(), &mut list);
                for (path, name) in list {
                    let path: Vec<String> =
                        path.into_iter().filter(|p| p != "crate" && p != "self").collect();
                    if path.len() > 1 {
                        self.exported.insert(name, path[0].clone());
                    }
                }
            }
        }
    }

    /// A path as it is written, in the module that is being read.
    fn see(&mut self, path: &[String]) {
        let Some(own) = self.at.first().cloned() else { return };
        let mut rest = path;
        let mut base = match path.first().map(String::as_str) {
            Some("crate") => {
                rest = &rest[1..];
                Vec::new()
            }
            Some("super" | "self") => self.at.clone(),
            _ => return,
        };
        while let Some("super" | "self") = rest.first().map(String::as_str) {
            if rest[0] == "super" {
                base.pop();
            }
            rest = &rest[1..];
        }
        if let Some(top) = base.first().or(rest.first()) {
            let top = self.exported.get(top).unwrap_or(top).clone();
            if top != own && top != "*" {
                self.edges.push((own, top, self.path.clone()));
            }
        }
    }

    /// The edges that the order does not allow.
    fn against(&self, order: &[String]) -> Vec<String> {
        let rank = |name: &str| order.iter().position(|o| o == name);
        let mut wrong: Vec<String> = self
            .edges
            .iter()
            .filter(|(from, to, _)| rank(to).is_none() || rank(to) > rank(from))
            .map(|(_, to, file)| format!("{file} uses {to}"))
            .collect();
        wrong.sort();
        wrong.dedup();
        wrong
    }
}

/// Modules with a file of their own, those for tests left out.
fn declared(items: &[syn::Item]) -> Vec<String> {
    items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Mod(m) if m.content.is_none() && !for_tests(&m.attrs) => Some(m.ident.to_string()),
            _ => None,
        })
        .collect()
}

/// Whether something is compiled for tests only: `#[cfg(test)]`, `#[cfg(all(test, …))]` or `#[test]`.
fn for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        let words = match &a.meta {
            syn::Meta::List(list) if a.path().is_ident("cfg") => list.tokens.to_string().replace(' ', ""),
            _ => return a.path().is_ident("test"),
        };
        words == "test" || (words.starts_with("all(") && words.split(['(', ',', ')']).any(|w| w == "test"))
    })
}

/// Paths of a `use` with the name each gets.
fn leaves(tree: &syn::UseTree, path: &mut Vec<String>, list: &mut Vec<(Vec<String>, String)>) {
    match tree {
        syn::UseTree::Path(p) => {
            path.push(p.ident.to_string());
            leaves(&p.tree, path, list);
            path.pop();
        }
        syn::UseTree::Group(g) => g.items.iter().for_each(|t| leaves(t, path, list)),
        syn::UseTree::Name(n) => {
            list.push(([&path[..], &[n.ident.to_string()]].concat(), n.ident.to_string()))
        }
        syn::UseTree::Rename(r) => {
            list.push(([&path[..], &[r.ident.to_string()]].concat(), r.rename.to_string()))
        }
        syn::UseTree::Glob(_) => list.push(([&path[..], &["*".to_string()]].concat(), "*".to_string())),
    }
}

impl<'a> Visit<'a> for Uses {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let attributes = match item {
            syn::Item::Fn(i) => &i.attrs,
            syn::Item::Impl(i) => &i.attrs,
            syn::Item::Use(i) => &i.attrs,
            syn::Item::Const(i) => &i.attrs,
            syn::Item::Static(i) => &i.attrs,
            syn::Item::Struct(i) => &i.attrs,
            syn::Item::Enum(i) => &i.attrs,
            syn::Item::Trait(i) => &i.attrs,
            syn::Item::Type(i) => &i.attrs,
            syn::Item::Macro(i) => &i.attrs,
            syn::Item::Mod(i) => &i.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if !for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        self.at.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.at.pop();
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let mut list = Vec::new();
        leaves(&item.tree, &mut Vec::new(), &mut list);
        list.iter().for_each(|(path, _)| self.see(path));
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if names.len() > 1 {
            self.see(&names);
        }
        visit::visit_path(self, path);
    }

    // what macros are given is not parsed: any path in it counts
    fn visit_macro(&mut self, item: &'a syn::Macro) {
        let text = item.tokens.to_string().replace(" :: ", "::").replace(":: ", "::").replace(" ::", "::");
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':') {
            let names: Vec<String> = word.split("::").map(str::to_string).collect();
            if names.len() > 1 {
                self.see(&names);
            }
        }
        visit::visit_macro(self, item);
    }
}

/// However it is written, a look upward is found, and what tests do is not.
#[test]
fn a_look_upward_is_found_in_any_spelling_and_tests_may_look() {
    let order = ["low", "mid", "high"].map(str::to_string);
    let wrong = |module: &[&str], text: &str| {
        let mut uses = Uses::default();
        let root =
            syn::parse_file("pub use high::Facade; pub mod low; pub mod mid; pub mod high;").expect("valid");
        uses.text("lib.rs", &root, &[]);
        let module: Vec<String> = module.iter().map(|m| m.to_string()).collect();
        uses.text("x.rs", &syn::parse_file(text).expect("valid"), &module);
        uses.against(&order)
    };
    for text in [
        "use crate::high::X;",
        "use crate::{low, high};",
        "use crate::{low::{A, B}, high::{self}};",
        "use super::super::high::X;",
        "use super::super::{low, high as h};",
        "fn f() { crate::high::g(); }",
        "fn f(x: &super::super::high::T) {}",
        "fn f() -> Vec<crate::high::T> { vec![] }",
        "fn f() { println!(\"{}\", crate::high::NUMBER); }",
        "#[cfg(test)]\nmod tests { use crate::high::X; }\nfn late() { crate::high::g() }",
        "mod inner { use super::super::super::high::X; }",
        "use crate::Facade;",
        "#[cfg(any(test, feature = \"x\"))]\nuse crate::high::X;",
        "use crate::nowhere::X;",
    ] {
        assert_eq!(wrong(&["mid", "part"], text).len(), 1, "{text}");
    }
    for text in [
        "use crate::low::X; use super::other::Y; use super::super::low::Z; use self::here::W;",
        "#[cfg(test)]\nmod tests { use crate::high::X; }",
        "#[cfg(test)]\nuse crate::high::X;",
        "#[cfg(all(test, feature = \"x\"))]\nfn f() { crate::high::g() }",
        "#[test]\nfn f() { crate::high::g() }",
        "struct S; impl S { #[cfg(test)] fn f() { crate::high::g() } }",
        "pub(crate) struct S(pub(super) u8); /// [`crate::high::X`]\n fn f() {}",
    ] {
        assert_eq!(wrong(&["mid", "part"], text), [""; 0], "{text}");
    }
}
