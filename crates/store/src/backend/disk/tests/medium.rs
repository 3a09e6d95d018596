//! A medium in memory that remembers every step, so that a power cut can be made afterwards at
//! any of them, and that can be told to fail.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use super::super::Medium;
use super::Dice;

/// The bytes of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Image(Vec<u8>);

/// Which calls fail from now on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Fault {
    #[default]
    None,
    /// Writes and growth fail after so many have succeeded.
    NoSpaceAfter(usize),
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
    first: Image,
    now: Image,
    steps: Vec<Step>,
    fault: Fault,
}

/// A file in memory with its whole past.
#[derive(Clone, Debug, Default)]
pub(super) struct Tape(Arc<Mutex<State>>);

impl Tape {
    pub(super) fn of(image: Image) -> Self {
        let state = State {
            first: image.clone(),
            now: image,
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

    /// What may be left of the file when the power fails before a step: everything that was
    /// synced, and of what came after it whatever happened to reach the disk, maybe in part.
    pub(super) fn cut_at(&self, cut: usize, dice: &mut Dice) -> Image {
        let state = self.state();
        let past = &state.steps[..cut];
        let is_sync = |step: &Step| matches!(step, Step::Sync);
        let synced = past.iter().rposition(is_sync).map_or(0, |at| at + 1);
        let mut image = state.first.clone();
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
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn step(&self, step: Step) -> io::Result<()> {
        let mut state = self.state();
        match (&mut state.fault, &step) {
            (Fault::NoSpaceAfter(0), Step::Write(..) | Step::Length(_)) => {
                return Err(io::ErrorKind::StorageFull.into());
            }
            (Fault::NoSpaceAfter(left), Step::Write(..) | Step::Length(_)) => *left -= 1,
            (Fault::Sync, Step::Sync) => return Err(io::Error::other("the disk is failing")),
            _ => {}
        }
        state.now.play(&step);
        state.steps.push(step);
        Ok(())
    }
}

impl Medium for Tape {
    type Storage = Tape;

    fn storage(&self) -> io::Result<Tape> {
        Ok(self.clone())
    }
}

impl StorageBackend for Tape {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().now.0.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.state();
        let start = offset as usize;
        let bytes = state.now.0.get(start..start + out.len());
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
