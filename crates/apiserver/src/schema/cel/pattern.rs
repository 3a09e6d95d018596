//! Regular expressions of rules, compiled once: the interpreter would compile an expression for
//! every text that is held against it, which costs more than all else that a rule does.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use kube_cel::cel::extractors::This;
use kube_cel::cel::{Context, ExecutionError};
use regex::Regex;

/// How many are remembered; with more, which only expressions that are data can make, all are
/// forgotten.
const REMEMBERED: usize = 256;

static KNOWN: LazyLock<Mutex<HashMap<Arc<String>, Regex>>> = LazyLock::new(Mutex::default);

/// Teaches the interpreter a `matches` that remembers.
pub(super) fn register(library: &mut Context<'static>) {
    library.add_function("matches", matches);
}

fn matches(This(text): This<Arc<String>>, pattern: Arc<String>) -> Result<bool, ExecutionError> {
    Ok(compiled(&pattern)?.is_match(&text))
}

/// An expression, made ready by whoever needs it first.
pub(super) fn compiled(pattern: &Arc<String>) -> Result<Regex, ExecutionError> {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = known().get(pattern) {
        return Ok(regex.clone());
    }
    let regex = Regex::new(pattern).map_err(|error| {
        let why = format!("'{pattern}' not a valid regex:\n{error}");
        ExecutionError::function_error("matches", why)
    })?;
    let mut known = known();
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(pattern.clone(), regex.clone());
    Ok(regex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remembered_expression_says_the_same_and_a_bad_one_stays_bad() {
        let holds = |text: &str, pattern: &str| {
            matches(This(Arc::new(text.into())), Arc::new(pattern.into()))
        };
        for _ in 0..2 {
            assert_eq!(holds("abc", "^[a-z]+$"), Ok(true));
            assert_eq!(holds("ABC", "^[a-z]+$"), Ok(false));
            assert!(holds("a", "(a").is_err());
        }
        for number in 0..2 * REMEMBERED {
            assert_eq!(holds(&number.to_string(), &format!("^{number}$")), Ok(true));
        }
        assert!(KNOWN.lock().unwrap().len() <= REMEMBERED);
    }
}
