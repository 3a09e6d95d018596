//! Text, packed against what the texts of machines have in common: nearly all of one is the names of
//! its fields and the words that every running machine's conditions say, and most of what is left is what
//! other machines of its fleet declare as well.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lz4_flex::block::{
    DecompressError, compress_prepend_size_with_dict, decompress_size_prepended_with_dict,
};

/// A machine that runs, as [`super::Packed`] writes it. Packed texts refer to it, and live no longer
/// than the process, so that it may change from release to release.
const TYPICAL: &[u8] = include_bytes!("typical.json");

/// A text is packed well when it takes this part of itself.
const WELL: usize = 8;
/// How many examples are known, and how many of them are tried.
const KNOWN: usize = 8;
const TRIED: usize = 3;
/// How many texts there are for one that becomes an example, once enough are known: an example is as
/// large as many packed texts, and lives as long as any that refers to it.
const SELDOM: usize = 128;

/// What a text was packed against: the typical machine, and one of its kind after it.
type Example = Arc<Box<[u8]>>;

/// Machines that others are like.
static EXAMPLES: Examples = Examples::new();

/// Machines that others are like.
pub(super) struct Examples(Mutex<Known>);

struct Known {
    /// The one that served last comes first.
    examples: Vec<Example>,
    /// How many texts were packed since one became an example.
    since: usize,
}

/// A packed text.
#[derive(Clone)]
pub(super) struct Text {
    bytes: Box<[u8]>,
    example: Option<Example>,
}

impl Text {
    pub(super) fn pack(text: &[u8]) -> Text {
        Text::pack_among(&EXAMPLES, text)
    }

    pub(super) fn pack_among(examples: &Examples, text: &[u8]) -> Text {
        let tried: Vec<Example> = {
            let mut known = examples.lock();
            known.since += 1;
            known.examples.iter().take(TRIED).cloned().collect()
        };
        let mut best = None;
        for example in tried.into_iter().map(Some).chain([None]) {
            let packed = Text::against(text, example);
            if packed.bytes.len() * WELL <= text.len() {
                examples.lock().served(packed.example.as_ref());
                return packed;
            }
            let is_better = |best: &Text| packed.bytes.len() < best.bytes.len();
            if best.as_ref().is_none_or(is_better) {
                best = Some(packed);
            }
        }
        examples.lock().offer(text);
        best.unwrap_or_else(|| Text::against(text, None))
    }

    fn against(text: &[u8], example: Option<Example>) -> Text {
        let common = example.as_ref().map_or(TYPICAL, |example| example);
        Text {
            bytes: compress_prepend_size_with_dict(text, common).into_boxed_slice(),
            example,
        }
    }

    pub(super) fn unpack(&self) -> Result<Vec<u8>, DecompressError> {
        let example = self.example.as_ref().map_or(TYPICAL, |example| example);
        decompress_size_prepended_with_dict(&self.bytes, example)
    }

    /// What somebody says is a packed text.
    #[cfg(test)]
    pub(super) fn claimed(bytes: Vec<u8>) -> Text {
        Text {
            bytes: bytes.into(),
            example: None,
        }
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }
}

impl Examples {
    pub(super) const fn new() -> Examples {
        Examples(Mutex::new(Known {
            examples: Vec::new(),
            since: 0,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// An example served well.
    fn served(&mut self, example: Option<&Example>) {
        let is_it = |known: &Example| example.is_some_and(|e| Arc::ptr_eq(known, e));
        let place = self.examples.iter().position(is_it);
        if let Some(place) = place.filter(|place| *place > 0) {
            self.examples[..=place].rotate_right(1);
        }
    }

    /// A text that is like none that is known may be like those to come.
    fn offer(&mut self, text: &[u8]) {
        if self.examples.len() == KNOWN && self.since < SELDOM {
            return;
        }
        self.since = 0;
        self.examples.truncate(KNOWN - 1);
        self.examples
            .insert(0, Arc::new([TYPICAL, text].concat().into()));
    }
}
