//! The fuzzers' doors on stable Rust: the committed corpus, mutations of it, and arbitrary bytes.
//!
//! `MACHINIST_FUZZ_SECONDS` makes each target run that long instead of a fixed number of times.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use machinist_apiserver::fuzzing::TARGETS;

/// Inputs for each target when no time is given.
const ROUNDS: usize = 120;

/// A small generator of numbers that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound.max(1)
    }
}

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&dir)
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has a corpus");
    files
        .into_iter()
        .map(|file| (file.clone(), std::fs::read(file).unwrap()))
        .collect()
}

/// An input that no one wrote: a seed with some of it changed, doubled, cut or exchanged.
fn mutated(numbers: &mut Numbers, seeds: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = seeds[numbers.below(seeds.len())].1.clone();
    for _ in 0..=numbers.below(6) {
        let at = numbers.below(bytes.len());
        match numbers.below(6) {
            0 if !bytes.is_empty() => bytes[at] = u8::try_from(numbers.below(256)).unwrap(),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, b"{}[]()\",:=!/\\\0\xff"[numbers.below(15)]),
            3 => {
                let piece = bytes[at..].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => {
                let other = &seeds[numbers.below(seeds.len())].1;
                let from = numbers.below(other.len());
                bytes.splice(at.., other[from..].iter().copied());
            }
            _ => {
                let fresh: Vec<u8> = (0..numbers.below(9))
                    .map(|_| u8::try_from(numbers.below(256)).unwrap())
                    .collect();
                bytes.splice(at..at, fresh);
            }
        }
        bytes.truncate(4096);
    }
    bytes
}

fn run(name: &str) {
    let (_, target) = TARGETS.iter().find(|(other, _)| *other == name).unwrap();
    let seeds = corpus(name);
    for (file, bytes) in &seeds {
        println!("{}", file.display());
        target(bytes);
    }
    let seconds = std::env::var("MACHINIST_FUZZ_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok());
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let seed = match until {
        None => 0x9e37_79b9_7f4a_7c15,
        Some(_) => {
            u64::try_from(
                std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() & u128::from(u64::MAX),
            )
            .unwrap()
                | 1
        }
    };
    let mut numbers = Numbers(seed);
    let mut round = 0;
    while until.map_or(round < ROUNDS, |until| Instant::now() < until) {
        let bytes = mutated(&mut numbers, &seeds);
        // Shown only when the test fails: it is what the corpus then gets.
        println!("{:?}", String::from_utf8_lossy(&bytes));
        target(&bytes);
        round += 1;
    }
    eprintln!("{name}: {} files, {round} more inputs", seeds.len());
}

#[test]
fn requests() {
    run("request");
}

#[test]
fn patches() {
    run("patch");
}

#[test]
fn applies() {
    run("apply");
}

#[test]
fn rules() {
    run("cel");
}

#[test]
fn protobuf() {
    run("protobuf");
}

#[test]
fn selectors() {
    run("selector");
}

#[test]
fn tokens() {
    run("token");
}
