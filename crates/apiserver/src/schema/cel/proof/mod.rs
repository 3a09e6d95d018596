//! A short way to know that a rule holds.
//!
//! Nearly every rule holds for nearly every object, and most say little more than which fields
//! are there. The interpreter makes values of its own of whatever a rule sees, and copies them at
//! every step; a proof reads the JSON where it lies. It knows a part of the language only, and of
//! that only what is plain: whatever is false, is an error or is not known here is left to the
//! interpreter, which alone finds faults and words them. What a proof costs is counted as the
//! interpreter counts it.

mod compile;
mod own;
mod run;
mod value;

use regex::Regex;
use serde_json::Value;

pub(super) use own::{Names, Own};

use super::Compiled;
use crate::schema::Schema;

/// An expression whose truth can be shown without the interpreter.
#[derive(Debug)]
pub(super) struct Proof(Step);

/// What a rule speaks of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    /// What the schema says of both values.
    pub(super) schema: &'a Schema,
    /// `self`.
    pub(super) value: &'a Value,
    /// `oldSelf`.
    pub(super) old: Option<&'a Value>,
    /// Whether they carry type and object metadata.
    pub(super) whole_object: bool,
}

impl Compiled {
    /// What showing that the expression is true cost; nothing where it cannot be shown.
    ///
    /// `own` has the fields of `self` by the names that the expression was compiled with.
    pub(super) fn proven<'a>(&'a self, subject: Subject<'a>, own: &'a Own<'a>) -> Option<u64> {
        let Proof(step) = self.proof.as_ref()?;
        run::cost_of_truth(step, self.size.nodes, subject, own)
    }

    /// Whether an expression over variables without types holds, where that is plain; nothing where
    /// the interpreter must say. Variables come in the order in which the proof was told of them,
    /// and nothing stands for one that is not there.
    pub(super) fn plainly_holds(&self, variables: &[Option<&Value>]) -> Option<bool> {
        let Proof(step) = self.proof.as_ref()?;
        run::plain_truth(step, self.size.nodes, variables)
    }
}

/// A part of an expression.
#[derive(Debug)]
enum Step {
    Bool(bool),
    Int(i64),
    Text(String),
    /// `self`
    New,
    /// `oldSelf`
    Old,
    /// The variable of a loop, by its place among those that are visible.
    Local(usize),
    /// `self.name`, by its place among the names
    OwnField(usize),
    /// `has(self.name)`
    HasOwn(usize),
    /// `a.name`
    Field(Box<Step>, String),
    /// `has(a.name)`
    Has(Box<Step>, String),
    List(Vec<Step>),
    Not(Box<Step>),
    And(Box<[Step; 2]>),
    Or(Box<[Step; 2]>),
    /// `a ? b : c`
    Choice(Box<[Step; 3]>),
    Equal(Box<[Step; 2]>),
    Unequal(Box<[Step; 2]>),
    /// A comparison of integers.
    Compare(Comparison, Box<[Step; 2]>),
    Add(Box<[Step; 2]>),
    In(Box<[Step; 2]>),
    Index(Box<[Step; 2]>),
    /// `type(a)`, which is the name of the type.
    TypeOf(Box<Step>),
    Size(Box<Step>),
    Matches(Box<Step>, Regex),
    /// A question to two texts.
    Texts(fn(&str, &str) -> bool, Box<[Step; 2]>),
    Loop(Box<Loop>),
    /// A condition that is counted: a turn of a loop with what it costs.
    Turn(Box<Step>, u64),
    /// A value whose length is counted.
    Sized(Box<Step>),
}

type Comparison = fn(&i64, &i64) -> bool;

/// A loop over a list or the keys of a map, which ends with the last of them or when its condition
/// does not hold. It has two variables: what it collects, and the item.
#[derive(Debug)]
struct Loop {
    range: Step,
    begin: Step,
    condition: Step,
    step: Step,
    result: Step,
}

#[cfg(test)]
mod tests;
