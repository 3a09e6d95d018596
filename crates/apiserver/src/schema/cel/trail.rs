//! Where a value comes from, as the words on the way to it from the object.
//!
//! Upstream keeps such a way in a slice of Go and appends to it in place, so that two ways with
//! the same beginning can share memory, and the later one then overwrites the end of the earlier.
//! Estimates depend on that, and the estimates decide which definitions are taken: the sharing is
//! modelled too.

use std::cell::RefCell;
use std::rc::Rc;

/// The words on the way to a value; none when that is not known.
#[derive(Debug, Clone, Default)]
pub(super) struct Trail {
    words: Rc<RefCell<Vec<String>>>,
    length: usize,
    room: usize,
}

impl Trail {
    /// The way to a variable.
    pub(super) fn to(name: &str) -> Self {
        Self {
            words: Rc::new(RefCell::new(vec![name.to_owned()])),
            length: 1,
            room: 1,
        }
    }

    /// The way one word further.
    pub(super) fn then(&self, word: &str) -> Self {
        let word = word.to_owned();
        if self.length < self.room {
            let mut words = self.words.borrow_mut();
            match words.get_mut(self.length) {
                Some(place) => *place = word,
                None => words.push(word),
            }
            return Self {
                words: self.words.clone(),
                length: self.length + 1,
                room: self.room,
            };
        }
        let mut words = self.words.borrow()[..self.length].to_vec();
        words.push(word);
        Self {
            words: Rc::new(RefCell::new(words)),
            length: self.length + 1,
            room: (self.room * 2).max(1),
        }
    }

    /// The words after the first, which names the variable; `None` where there is no way.
    pub(super) fn below(&self) -> Option<Vec<String>> {
        let words = self.words.borrow();
        words.get(1..self.length).map(<[String]>::to_vec)
    }
}
