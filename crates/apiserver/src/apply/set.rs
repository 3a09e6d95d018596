//! Sets of field paths: who owns what, and the algebra that decides it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::path::{PathElement, display_path};
use super::shape::Shape;

/// A set of field paths, kept as a tree.
///
/// A path being in the set says nothing of the paths above or below it. No subtree is empty, so
/// two sets with the same paths are equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    /// The paths of one element.
    pub(super) members: BTreeSet<PathElement>,
    /// The longer paths, by their first element.
    pub(super) children: BTreeMap<PathElement, Set>,
}

impl Set {
    /// A set with no path.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of these paths, each given as field names.
    pub fn of_fields<'a>(paths: impl IntoIterator<Item = &'a [&'a str]>) -> Self {
        let mut set = Self::new();
        for path in paths {
            let path: Vec<_> = path.iter().map(|name| PathElement::field(*name)).collect();
            set.insert(&path);
        }
        set
    }

    /// Adds a path; the empty path, the whole object, is never a member.
    pub fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [last] => {
                if !self.members.contains(last) {
                    self.members.insert(last.clone());
                }
            }
            // Most paths have a sibling: what is there is not made again.
            [first, rest @ ..] => match self.children.get_mut(first) {
                Some(child) => child.insert(rest),
                None => {
                    let mut child = Set::new();
                    child.insert(rest);
                    self.children.insert(first.clone(), child);
                }
            },
        }
    }

    /// Adds the paths below an element that has none yet, and the element itself if it is a member.
    pub(super) fn add_below(&mut self, element: PathElement, below: Set, is_member: bool) {
        match (is_member, below.is_empty()) {
            (true, true) => {
                self.members.insert(element);
            }
            (true, false) => {
                self.members.insert(element.clone());
                self.children.insert(element, below);
            }
            (false, true) => {}
            (false, false) => {
                self.children.insert(element, below);
            }
        }
    }

    /// Whether this very path is a member.
    pub fn has(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.members.contains(last),
            [first, rest @ ..] => self
                .children
                .get(first)
                .is_some_and(|child| child.has(rest)),
        }
    }

    /// Whether there is no path in it.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(Self::is_empty)
    }

    /// The paths that begin with this element, without it.
    pub fn with_prefix(&self, element: &PathElement) -> Option<&Set> {
        self.children.get(element).filter(|child| !child.is_empty())
    }

    /// The paths in either set.
    #[must_use]
    pub fn union(&self, other: &Set) -> Set {
        let mut out = self.clone();
        out.add(other);
        out
    }

    fn add(&mut self, other: &Set) {
        let new = other.members.difference(&self.members);
        let new: Vec<_> = new.cloned().collect();
        self.members.extend(new);
        for (element, theirs) in &other.children {
            match self.children.get_mut(element) {
                Some(ours) => ours.add(theirs),
                None => {
                    self.children.insert(element.clone(), theirs.clone());
                }
            }
        }
    }

    /// The paths in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Set) -> Set {
        let members = self.members.intersection(&other.members).cloned().collect();
        self.with_children(members, |element, ours| {
            other
                .children
                .get(element)
                .map(|theirs| ours.intersection(theirs))
        })
    }

    /// The paths in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &Set) -> Set {
        let members = self.members.difference(&other.members).cloned().collect();
        self.with_children(members, |element, ours| {
            Some(match other.children.get(element) {
                Some(theirs) => ours.difference(theirs),
                None => ours.clone(),
            })
        })
    }

    /// Takes the paths of another set out of this one.
    pub fn subtract(&mut self, other: &Set) {
        for member in &other.members {
            self.members.remove(member);
        }
        for (element, theirs) in &other.children {
            self.change_child(element, |ours| ours.subtract(theirs));
        }
    }

    /// Takes the paths of another set out of this one, and with each all that are below it.
    pub fn subtract_recursively(&mut self, other: &Set) {
        for member in &other.members {
            self.members.remove(member);
            self.children.remove(member);
        }
        for (element, theirs) in &other.children {
            self.change_child(element, |ours| ours.subtract_recursively(theirs));
        }
    }

    fn change_child(&mut self, element: &PathElement, change: impl FnOnce(&mut Set)) {
        if let Some(child) = self.children.get_mut(element) {
            change(child);
            if child.is_empty() {
                self.children.remove(element);
            }
        }
    }

    /// Whether there is a path in it that is this field or below it.
    pub(super) fn speaks_of(&self, name: &str) -> bool {
        let element = PathElement::field(name);
        self.members.contains(&element) || self.children.contains_key(&element)
    }

    /// The paths that have no longer path in the set.
    #[must_use]
    pub fn leaves(&self) -> Set {
        let leaf = |element: &&PathElement| !self.children.contains_key(*element);
        let members = self.members.iter().filter(leaf).cloned().collect();
        self.with_children(members, |_, ours| Some(ours.leaves()))
    }

    /// This set, and with each path the fields above it that the schema names.
    ///
    /// A named field exists for its children's sake and is not owned itself, but it has to go
    /// when the last of them goes.
    #[must_use]
    pub(super) fn ensure_named_fields(&self, shape: Shape<'_>) -> Set {
        let named = |element: &&PathElement| match element {
            PathElement::Field(name) => shape.named_field(name).is_some(),
            _ => false,
        };
        let mut members = self.members.clone();
        members.extend(self.children.keys().filter(named).cloned());
        self.with_children(members, |element, ours| {
            let child = match element {
                PathElement::Field(name) => shape.child(name),
                PathElement::Key(_) => shape.item(),
                PathElement::Value(_) | PathElement::Index(_) => Shape::Undeclared,
            };
            Some(ours.ensure_named_fields(child))
        })
    }

    /// Every path, parents before children.
    pub fn paths(&self) -> Vec<Vec<PathElement>> {
        let mut out = Vec::new();
        self.collect(&mut Vec::new(), &mut out);
        out
    }

    fn collect(&self, prefix: &mut Vec<PathElement>, out: &mut Vec<Vec<PathElement>>) {
        for member in &self.members {
            let mut path = prefix.clone();
            path.push(member.clone());
            out.push(path);
        }
        for (element, child) in &self.children {
            prefix.push(element.clone());
            child.collect(prefix, out);
            prefix.pop();
        }
    }

    fn with_children(
        &self,
        members: BTreeSet<PathElement>,
        mut change: impl FnMut(&PathElement, &Set) -> Option<Set>,
    ) -> Set {
        let mut children = BTreeMap::new();
        for (element, ours) in &self.children {
            if let Some(child) = change(element, ours).filter(|child| !child.is_empty()) {
                children.insert(element.clone(), child);
            }
        }
        Set { members, children }
    }
}

impl fmt::Display for Set {
    /// One path a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.paths().iter().map(|path| display_path(path)).collect();
        f.write_str(&lines.join("\n"))
    }
}
