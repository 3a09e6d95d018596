//! A medium in memory that remembers every step on each of its files, so that a power cut can be
//! made afterwards at any of them, and that can be told to fail.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use super::super::{Medium, SEGMENTS};
use super::Dice;

/// The database, and the segments of the journal.
const FILES: usize = 1 + SEGMENTS;

/// The bytes of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Image(Vec<u8>);

/// The bytes of all files.
pub(super) type Images = [Image; FILES];

/// Which calls fail from now on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Fault {
    #[default]
    None,
    /// Writes and growth fail after so many have succeeded.
    NoSpaceAfter(usize),
    /// Writes to one file, and its growth, fail.
    NoSpaceIn(usize),
    /// Syncs fail; what was written can still be read.
    Sync,
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64, Vec<u8>),
    Length(u64),
    Sync,
}

impl Image {
    fn play(&mut self, step: &Step) {
        match step {
            Step::Write(offset, data) => {
                let start = *offset as usize;
                let end = start + data.len();
                if self.0.len() < end {
                    self.0.resize(end, 0);
                }
                self.0[start..end].copy_from_slice(data);
            }
            Step::Length(length) => self.0.resize(*length as usize, 0),
            Step::Sync => {}
        }
    }
}

#[derive(Debug, Default)]
struct State {
    first: Images,
    now: Images,
    /// What happened, in order, and to which file.
    steps: Vec<(usize, Step)>,
    fault: Fault,
}

/// Files in memory with their whole past.
#[derive(Clone, Debug, Default)]
pub(super) struct Tape(Arc<Mutex<State>>);

/// One file of a tape.
#[derive(Debug)]
pub(super) struct Track {
    tape: Tape,
    file: usize,
}

impl Tape {
    pub(super) fn of(images: Images) -> Self {
        let state = State {
            first: images.clone(),
            now: images,
            ..State::default()
        };
        Self(Arc::new(Mutex::new(state)))
    }

    pub(super) fn len(&self) -> usize {
        self.state().steps.len()
    }

    pub(super) fn fail(&self, fault: Fault) {
        self.state().fault = fault;
    }

    /// Changes one byte of a file behind the store's back.
    pub(super) fn damage(&self, file: usize, place: usize) {
        self.state().now[file].0[place] ^= 0x40;
    }

    /// How long each file is now.
    pub(super) fn sizes(&self) -> [usize; FILES] {
        let state = self.state();
        std::array::from_fn(|file| state.now[file].0.len())
    }

    /// What may be left of the files when the power fails before a step: of each everything that
    /// was synced, and of what came after it whatever happened to reach the disk, maybe in part.
    pub(super) fn cut_at(&self, cut: usize, dice: &mut Dice) -> Images {
        let state = self.state();
        std::array::from_fn(|file| {
            let of_file = state.steps[..cut].iter().filter(|(at, _)| *at == file);
            let past: Vec<&Step> = of_file.map(|(_, step)| step).collect();
            let is_sync = |step: &&Step| matches!(step, Step::Sync);
            let synced = past.iter().rposition(is_sync).map_or(0, |at| at + 1);
            let mut image = state.first[file].clone();
            past[..synced].iter().for_each(|step| image.play(step));
            for step in &past[synced..] {
                match (step, dice.below(3)) {
                    (Step::Write(..), 0) => {}
                    (Step::Write(offset, data), 1) => {
                        let sectors = dice.below(data.len() / 512 + 1);
                        image.play(&Step::Write(*offset, data[..sectors * 512].to_vec()));
                    }
                    (step, _) => image.play(step),
                }
            }
            image
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl Medium for Tape {
    /// Small, so that a test of some writes fills it several times.
    const SEGMENT: usize = 24 << 10;
    type Storage = Track;

    fn storage(&self) -> io::Result<Track> {
        Ok(self.track(0))
    }

    fn journal_if_any(&self, segment: usize) -> io::Result<Option<Track>> {
        Ok(Some(self.track(1 + segment)))
    }

    fn journal(&self, segment: usize) -> io::Result<Track> {
        Ok(self.track(1 + segment))
    }
}

impl Tape {
    fn track(&self, file: usize) -> Track {
        let tape = self.clone();
        Track { tape, file }
    }
}

impl Track {
    fn step(&self, step: Step) -> io::Result<()> {
        let mut state = self.tape.state();
        match (&mut state.fault, &step) {
            (Fault::NoSpaceAfter(0), Step::Write(..) | Step::Length(_)) => {
                return Err(io::ErrorKind::StorageFull.into());
            }
            (Fault::NoSpaceAfter(left), Step::Write(..) | Step::Length(_)) => *left -= 1,
            (Fault::NoSpaceIn(file), Step::Write(..) | Step::Length(_)) if *file == self.file => {
                return Err(io::ErrorKind::StorageFull.into());
            }
            (Fault::Sync, Step::Sync) => return Err(io::Error::other("the disk is failing")),
            _ => {}
        }
        state.now[self.file].play(&step);
        state.steps.push((self.file, step));
        Ok(())
    }
}

impl StorageBackend for Track {
    fn len(&self) -> io::Result<u64> {
        Ok(self.tape.state().now[self.file].0.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.tape.state();
        let start = offset as usize;
        let bytes = state.now[self.file].0.get(start..start + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.step(Step::Length(length))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.step(Step::Sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.step(Step::Write(offset, data.to_vec()))
    }
}
