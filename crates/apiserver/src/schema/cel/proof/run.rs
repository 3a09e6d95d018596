//! Carrying out a proof; every step gives its value or ends the attempt.

use std::rc::Rc;

use serde_json::Value;

use super::value::{Seen, View, is_plain};
use super::{Loop, Own, Step, Subject};
use crate::schema::cel::cost::PER_CALL;

/// The variables, and what was spent.
struct Frame<'a, 'o> {
    new: Option<Seen<'a>>,
    old: Option<Seen<'a>>,
    own: &'o Own<'a>,
    /// Nothing stands for what cannot be read here.
    locals: Vec<Option<Seen<'a>>>,
    spent: u64,
}

impl Frame<'_, '_> {
    /// What costs too much is for the interpreter to refuse.
    fn spend(&mut self, units: u64) -> Option<()> {
        self.spent = self.spent.checked_add(units)?;
        (self.spent <= PER_CALL).then_some(())
    }
}

/// What it costs to see that a rule holds; `base` is what every step costs once.
pub(super) fn cost_of_truth<'a>(
    rule: &'a Step,
    base: u64,
    subject: Subject<'a>,
    own: &'a Own<'a>,
) -> Option<u64> {
    let Subject {
        schema,
        value,
        old,
        whole_object,
    } = subject;
    let view = View::Typed(schema, whole_object);
    let mut frame = Frame {
        new: Seen::of(value, view),
        old: old.and_then(|old| Seen::of(old, view)),
        own,
        locals: Vec::new(),
        spent: 0,
    };
    frame.spend(base)?;
    let holds = rule.run(&mut frame)?.is_true()?;
    holds.then_some(frame.spent)
}

/// Whether an expression over variables without types holds, where that is plain; `base` is what every
/// step costs once.
pub(super) fn plain_truth<'a>(
    expression: &'a Step,
    base: u64,
    variables: &[Option<&'a Value>],
) -> Option<bool> {
    let seen = |value: &Option<&'a Value>| value.and_then(|v| Seen::of(v, View::Untyped));
    let mut frame = Frame {
        new: None,
        old: None,
        own: &Own::nothing(),
        locals: variables.iter().map(seen).collect(),
        spent: 0,
    };
    frame.spend(base)?;
    expression.run(&mut frame)?.is_true()
}

impl Step {
    fn run<'a>(&'a self, frame: &mut Frame<'a, '_>) -> Option<Seen<'a>> {
        Some(match self {
            Self::Bool(yes) => Seen::Bool(*yes),
            Self::Int(number) => Seen::Int(*number),
            Self::Text(text) => Seen::Text(text),
            Self::New => frame.new.clone()?,
            Self::Old => frame.old.clone()?,
            Self::Local(place) => frame.locals.get(*place)?.clone()?,
            Self::OwnField(place) => {
                let (value, view) = (*frame.own.get(*place)?)?;
                Seen::of(value, view)?
            }
            Self::HasOwn(place) => Seen::Bool(frame.own.get(*place)?.is_some()),
            Self::Field(of, name) => {
                let (value, view) = of.run(frame)?.place(name)??;
                Seen::of(value, view)?
            }
            Self::Has(of, name) => Seen::Bool(of.run(frame)?.place(name)?.is_some()),
            Self::List(items) => {
                let items: Option<_> = items.iter().map(|item| item.run(frame)).collect();
                Seen::Made(Rc::new(items?))
            }
            Self::Not(one) => Seen::Bool(!one.run(frame)?.is_true()?),
            Self::And(two) => Seen::Bool(two[0].holds(frame)? && two[1].holds(frame)?),
            Self::Or(two) => Seen::Bool(two[0].holds(frame)? || two[1].holds(frame)?),
            Self::Choice(three) => match three[0].holds(frame)? {
                true => three[1].run(frame)?,
                false => three[2].run(frame)?,
            },
            Self::Equal(two) => Seen::Bool(equal(two, frame)?),
            Self::Unequal(two) => Seen::Bool(!equal(two, frame)?),
            Self::Compare(how, two) => match both(two, frame)? {
                (Seen::Int(left), Seen::Int(right)) => Seen::Bool(how(&left, &right)),
                _ => return None,
            },
            Self::Add(two) => match both(two, frame)? {
                (Seen::Int(left), Seen::Int(right)) => Seen::Int(left.checked_add(right)?),
                (Seen::Made(left), Seen::Made(right)) => {
                    let mut joined = Rc::unwrap_or_clone(left);
                    joined.extend(right.iter().cloned());
                    Seen::Made(Rc::new(joined))
                }
                _ => return None,
            },
            Self::In(two) => Seen::Bool(is_in(&both(two, frame)?)?),
            Self::Index(two) => match both(two, frame)? {
                (list, Seen::Int(index)) => list.item(index)?,
                (map, Seen::Text(key)) if is_plain(key) => {
                    let (value, view) = map.place(key)??;
                    Seen::of(value, view)?
                }
                _ => return None,
            },
            Self::TypeOf(one) => Seen::Text(one.run(frame)?.type_name()),
            Self::Size(one) => Seen::Int(i64::try_from(one.run(frame)?.size()?).ok()?),
            Self::Matches(one, pattern) => match one.run(frame)? {
                Seen::Text(text) => Seen::Bool(pattern.is_match(text)),
                _ => return None,
            },
            Self::Texts(question, two) => match both(two, frame)? {
                (Seen::Text(text), Seen::Text(part)) => Seen::Bool(question(text, part)),
                _ => return None,
            },
            Self::Loop(loops) => loops.run(frame)?,
            Self::Turn(condition, units) => {
                let goes_on = condition.run(frame)?;
                frame.spend(*units)?;
                goes_on
            }
            Self::Sized(one) => {
                let value = one.run(frame)?;
                frame.spend(u64::try_from(value.length()? / 10).ok()?)?;
                value
            }
        })
    }

    fn holds<'a>(&'a self, frame: &mut Frame<'a, '_>) -> Option<bool> {
        self.run(frame)?.is_true()
    }
}

impl Loop {
    fn run<'a>(&'a self, frame: &mut Frame<'a, '_>) -> Option<Seen<'a>> {
        let begin = self.begin.run(frame)?;
        let items = self.range.run(frame)?.items()?;
        let place = frame.locals.len();
        frame.locals.push(Some(begin));
        frame.locals.push(None);
        for item in items {
            if !self.condition.holds(frame)? {
                break;
            }
            frame.locals[place + 1] = Some(item);
            frame.locals[place] = Some(self.step.run(frame)?);
        }
        let result = self.result.run(frame)?;
        frame.locals.truncate(place);
        Some(result)
    }
}

fn both<'a>(two: &'a [Step; 2], frame: &mut Frame<'a, '_>) -> Option<(Seen<'a>, Seen<'a>)> {
    Some((two[0].run(frame)?, two[1].run(frame)?))
}

fn equal<'a>(two: &'a [Step; 2], frame: &mut Frame<'a, '_>) -> Option<bool> {
    let (left, right) = both(two, frame)?;
    left.equals(&right)
}

fn is_in((item, container): &(Seen<'_>, Seen<'_>)) -> Option<bool> {
    match (item, container) {
        (Seen::Text(key), Seen::Fields(..)) => {
            let place = is_plain(key).then(|| container.place(key))??;
            Some(place.is_some())
        }
        (item, Seen::Made(_) | Seen::Items(..)) => {
            for one in container.items()? {
                if item.equals(&one)? {
                    return Some(true);
                }
            }
            Some(false)
        }
        _ => None,
    }
}
