//! The book: every page is in it, every link leads somewhere, and every command of it runs.
//!
//! The commands of a page are one session of a shell in an empty home, beside the program under
//! test. A comment before a block says more about it:
//!
//! - `<!-- in the background until: TEXT -->`: it goes on while the rest of the page is run, which
//!   begins once it has printed the text;
//! - `<!-- ends with: CODE -->`: its exit code, where that is not 0;
//! - `<!-- file: NAME -->`: the block is no command, and is saved as this file;
//! - `<!-- needs: cluster -->`: `~/.kube/config` leads to a real Kubernetes;
//! - `<!-- not run: REASON -->`: why a test cannot run it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod page;
mod session;
#[path = "../support/mod.rs"]
mod support;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use page::{Block, Page};
use support::peers;

/// Every page, by its path below `docs`.
fn pages() -> Vec<(String, String)> {
    fn collect(root: &Path, directory: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(root, &path, found);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let root = peers::tree().join("docs");
    let mut found = Vec::new();
    collect(&root, &root, &mut found);
    found.sort();
    found
}

/// Where a page leads: the targets of its links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next())
}

#[test]
fn every_page_is_in_the_book_and_every_link_leads_somewhere() {
    let pages = pages();
    let summary = pages.iter().find(|(name, _)| name == "SUMMARY.md").unwrap();
    let listed: BTreeSet<&str> = links(&summary.1).collect();
    let docs = peers::tree().join("docs");
    for (name, text) in &pages {
        if name != "SUMMARY.md" {
            assert!(
                listed.contains(name.as_str()),
                "docs/SUMMARY.md does not list {name}"
            );
        }
        let beside = docs.join(name).parent().unwrap().to_owned();
        for link in links(text) {
            let elsewhere = link.is_empty()
                || link.contains("://")
                || link.contains(['$', ' ', '|', '[', '\\']);
            let target: PathBuf = beside.join(link);
            assert!(
                elsewhere || target.exists(),
                "{name} leads to {link}, which is not there"
            );
        }
    }
}

#[test]
fn every_block_says_what_it_is() {
    for (name, text) in pages() {
        for block in Page::read(&text).blocks {
            let Block { line, language, .. } = &block;
            let known = ["sh", "yaml", "json", "text", "cel"].contains(&language.as_str());
            assert!(known, "docs/{name}, line {line}: a block of {language:?}");
        }
    }
}

#[test]
fn every_command_runs() {
    let mut failed = Vec::new();
    let mut ran = 0;
    for (name, text) in pages() {
        let page = Page::read(&text);
        if page.blocks.iter().all(|block| !block.is_run()) {
            continue;
        }
        match session::run(&name, &page) {
            session::Ended::Well(count) => ran += count,
            session::Ended::Skipped => {}
            session::Ended::Badly(why) => failed.push(why),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    println!("{ran} blocks of commands ran");
}
