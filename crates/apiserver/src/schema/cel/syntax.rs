//! From the text of an expression to its tree, once: a definition is judged, tried and put in
//! force within one write, and each of these needs its rules. Reading them is what costs.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use kube_cel::cel::IdedExpr;
use kube_cel::cel::parser::Parser;

use super::cost;

/// How many trees are remembered; with more, all are forgotten.
const REMEMBERED: usize = 512;

static TREES: LazyLock<Mutex<HashMap<Box<str>, IdedExpr>>> = LazyLock::new(Mutex::default);

/// The tree of an expression, or why it has none. The caller has given it the stack for that.
pub(super) fn tree(text: &str) -> Result<IdedExpr, String> {
    let known = || TREES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tree) = known().get(text) {
        return Ok(tree.clone());
    }
    let tree = Parser::new()
        .enable_optional_syntax(true)
        .max_recursion_depth(u16::try_from(cost::MAX_DEPTH).unwrap_or(u16::MAX))
        .parse(text)
        .map_err(|errors| errors.to_string())?;
    let mut known = known();
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(text.into(), tree.clone());
    Ok(tree)
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
        assert!(tree("self.(").is_err());
    }
}
