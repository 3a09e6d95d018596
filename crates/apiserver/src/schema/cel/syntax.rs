//! From the text of an expression to its tree, once: a definition is judged, tried and put in
//! force within one write, and each of these needs its rules. Reading them is what costs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use kube_cel::cel::IdedExpr;
use kube_cel::cel::parser::Parser;

use super::{cost, macros};

/// How many trees are remembered; with more, all are forgotten.
const REMEMBERED: usize = 512;

static TREES: LazyLock<Mutex<HashMap<Box<str>, IdedExpr>>> = LazyLock::new(Mutex::default);

/// The tree of an expression, or why it has none. The caller has given it the stack for that.
pub(super) fn tree(text: &str) -> Result<IdedExpr, String> {
    let known = || TREES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tree) = known().get(text) {
        return Ok(tree.clone());
    }
    let mut tree = Parser::new()
        .enable_optional_syntax(true)
        .max_recursion_depth(u16::try_from(cost::MAX_DEPTH).unwrap_or(u16::MAX))
        .parse(&without_double_negations(text))
        // Upstream puts a blank before the bar with which it shows the text.
        .map_err(|errors| errors.to_string().replace("\n| ", "\n | "))?;
    macros::expand(&mut tree)?;
    let mut known = known();
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(text.into(), tree.clone());
    Ok(tree)
}

/// The text with blanks for negations that cancel out: upstream's grammar reads a row of them as
/// one or none, and this parser takes some rows for one that they are not.
fn without_double_negations(text: &str) -> Cow<'_, str> {
    if !text.contains('!') {
        return text.into();
    }
    let mut out = text.as_bytes().to_vec();
    let mut place = 0;
    while let Some(c) = out.get(place) {
        match c {
            b'"' | b'\'' => place = cost::end_of_string(text.as_bytes(), place),
            b'!' => {
                let blank = |at: &usize| out.get(*at).is_some_and(u8::is_ascii_whitespace);
                let next = (place + 1..).find(|at| !blank(at)).unwrap_or(place);
                let is_negation =
                    |at: usize| out.get(at) == Some(&b'!') && out.get(at + 1) != Some(&b'=');
                if is_negation(place) && is_negation(next) {
                    out[place] = b' ';
                    out[next] = b' ';
                    place = next;
                }
            }
            _ => {}
        }
        place += 1;
    }
    // Only one-byte characters gave way to others.
    String::from_utf8(out).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Lets go of all trees, for when no more definitions are expected soon.
pub(crate) fn forget() {
    *TREES.lock().unwrap_or_else(PoisonError::into_inner) = HashMap::new();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remembered_tree_is_the_same_and_faults_stay_faults() {
        let text = "self.all(item, item.size() < 3) || has(self.other)";
        let first = tree(text).unwrap();
        assert_eq!(first, tree(text).unwrap());
        forget();
        assert_eq!(first, tree(text).unwrap());
        assert_eq!(tree("self.("), tree("self.("));
        let fault = "ERROR: <input>:1:6: Syntax error: no viable alternative at input '.('\n | self.(\n | .....^";
        assert_eq!(tree("self.("), Err(fault.to_owned()));
    }

    #[test]
    fn negations_that_cancel_out_are_gone() {
        for (text, expected) in [
            ("!a", "!a"),
            ("!!a", "  a"),
            ("!!!a", "  !a"),
            ("! !a != !!b", "   a !=   b"),
            ("'!!' + r\"!!\" != !!!c", "'!!' + r\"!!\" !=   !c"),
            ("a !!= b", "a !!= b"),
        ] {
            assert_eq!(without_double_negations(text), expected);
        }
    }
}
