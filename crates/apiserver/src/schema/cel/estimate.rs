//! What an expression can cost at most, estimated as kube-apiserver does before it takes a rule.
//!
//! A rule over the limit is refused with its definition, so the figures have to be the same, and
//! with them the oddities that they come from: see [`super::trail`]. What single functions cost
//! is in [`super::prices`].

use std::collections::HashMap;

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr};

use super::decl::Decl;
use super::size::{Entries, Size, literal_size};
use super::trail::Trail;
use super::types::{Type, Types, key};

/// A name that a comprehension gives.
struct Local {
    name: String,
    trail: Trail,
    size: Option<Size>,
    entries: Option<Entries>,
}

/// An operand, as those who price a call see it.
pub(super) struct Operand<'e, 'a> {
    pub(super) expression: &'e IdedExpr,
    pub(super) ty: Type<'a>,
    pub(super) size: Option<Size>,
    trail: Trail,
}

/// Estimates one expression.
pub(super) struct Estimator<'t, 'a> {
    types: &'t Types<'a>,
    root: Decl<'a>,
    trails: HashMap<usize, Trail>,
    sizes: HashMap<usize, Size>,
    entries: HashMap<usize, Entries>,
    locals: Vec<Local>,
}

/// What an expression at a node costs at most, its types being known.
pub(super) fn estimate<'a>(expression: &IdedExpr, types: &Types<'a>, root: Decl<'a>) -> u64 {
    let mut estimator = Estimator {
        types,
        root,
        trails: HashMap::new(),
        sizes: HashMap::new(),
        entries: HashMap::new(),
        locals: Vec::new(),
    };
    estimator.cost(expression)
}

const NAME: u64 = 1;
const LIST: u64 = 10;
const MAP: u64 = 30;

impl<'a> Estimator<'_, 'a> {
    fn cost(&mut self, expression: &IdedExpr) -> u64 {
        match &expression.expr {
            Expr::Unspecified | Expr::Struct(_) | Expr::Literal(_) => 0,
            Expr::Ident(name) => {
                let trail = match self.local(name) {
                    Some(local) => local.trail.clone(),
                    None => Trail::to(name),
                };
                self.trails.insert(key(expression), trail);
                NAME
            }
            Expr::Select(select) => {
                let operand = self.cost(&select.operand);
                if select.test {
                    return operand;
                }
                let trail = self.trail(&select.operand).then(&select.field);
                self.trails.insert(key(expression), trail);
                let has_fields = matches!(
                    self.types.of(&select.operand),
                    Type::Map { .. } | Type::Object { .. } | Type::Metadata
                );
                operand.saturating_add(u64::from(has_fields))
            }
            Expr::List(list) => {
                let mut sum = LIST;
                let mut items = Size::nothing(list.elements.is_empty());
                for element in &list.elements {
                    sum = sum.saturating_add(self.cost(element));
                    items = items.or(self.size_or_unknown(element));
                }
                let entries = Entries {
                    list: true,
                    keys: Size::exactly(1),
                    values: items,
                };
                self.entries.insert(key(expression), entries);
                sum
            }
            Expr::Map(map) => {
                let mut sum = MAP;
                let mut keys = Size::nothing(map.entries.is_empty());
                let mut values = keys;
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        sum = sum.saturating_add(self.cost(&entry.key));
                        sum = sum.saturating_add(self.cost(&entry.value));
                        keys = keys.or(self.size_or_unknown(&entry.key));
                        values = values.or(self.size_or_unknown(&entry.value));
                    }
                }
                let entries = Entries {
                    list: false,
                    keys,
                    values,
                };
                self.entries.insert(key(expression), entries);
                sum
            }
            Expr::Comprehension(loops) if super::macros::is_bind(loops) => {
                self.bind(expression, loops)
            }
            Expr::Comprehension(loops) => self.comprehension(expression, loops),
            Expr::Call(call) => self.call(expression, call),
        }
    }

    fn comprehension(&mut self, expression: &IdedExpr, loops: &ComprehensionExpr) -> u64 {
        let range = self.cost(&loops.iter_range);
        let start = self.cost(&loops.accu_init);
        let depth = self.locals.len();
        self.push_value(&loops.accu_var, &loops.accu_init);
        let entries = self.entries(&loops.iter_range);
        let is_list = entries.map_or_else(
            || matches!(self.types.of(&loops.iter_range), Type::List { .. }),
            |entries| entries.list,
        );
        let (keys, values) = if is_list {
            ("@indices", "@items")
        } else {
            ("@keys", "@values")
        };
        let sizes = (entries.map(|e| e.keys), entries.map(|e| e.values));
        match &loops.iter_var2 {
            Some(second) => {
                self.push_part(&loops.iter_var, &loops.iter_range, keys, sizes.0);
                self.push_part(second, &loops.iter_range, values, sizes.1);
            }
            None if is_list => {
                self.push_part(&loops.iter_var, &loops.iter_range, values, sizes.1);
            }
            None => self.push_part(&loops.iter_var, &loops.iter_range, keys, sizes.0),
        }
        let turn = self.cost(&loops.loop_cond);
        let turn = self.cost(&loops.loop_step).saturating_add(turn);
        // The result sees what was collected, and no longer the item.
        self.locals.truncate(depth + 1);
        let result = self.cost(&loops.result);
        self.locals.truncate(depth);
        // Only now, for the way to the range may have been overwritten meanwhile.
        let turns = self.size_or_unknown(&loops.iter_range);
        match &loops.accu_init.expr {
            Expr::Literal(_) => {
                let size = self.size(&loops.accu_init);
                self.set_size(expression, size);
            }
            Expr::List(_) | Expr::Map(_) => {
                self.set_size(expression, Some(turns));
                if let Some(entries) = self.entries(&loops.loop_step) {
                    self.entries.insert(key(expression), entries);
                }
            }
            _ => {}
        }
        [range, start, result, turns.most.saturating_mul(turn)]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    fn bind(&mut self, expression: &IdedExpr, loops: &ComprehensionExpr) -> u64 {
        let range = self.cost(&loops.iter_range);
        let start = self.cost(&loops.accu_init);
        self.push_value(&loops.accu_var, &loops.accu_init);
        let result = self.cost(&loops.result);
        self.locals.pop();
        self.copy(expression, &loops.result);
        range.saturating_add(start).saturating_add(result)
    }

    fn call(&mut self, expression: &IdedExpr, call: &CallExpr) -> u64 {
        let name = call.func_name.as_str();
        if let ("dyn", [one]) = (name, &call.args[..]) {
            let cost = self.cost(one);
            self.copy(expression, one);
            return cost.saturating_add(1);
        }
        let mut costs = Vec::with_capacity(call.args.len());
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            costs.push(self.cost(arg));
            args.push(self.operand(arg));
        }
        let space = call.target.as_deref().and_then(|t| self.types.namespace(t));
        let target = call.target.as_deref().filter(|_| space.is_none());
        let before = target.map_or(0, |target| self.cost(target));
        let target = target.map(|target| self.operand(target));
        let full = space.map_or_else(|| name.to_owned(), |space| format!("{space}.{name}"));
        let price = self.price(&full, target.as_ref(), &args, &costs);
        if let Some([one, other]) = branches(name, &call.args)
            && let Some(entries) = Entries::or(self.entries(one), self.entries(other))
        {
            self.entries.insert(key(expression), entries);
        }
        let mut size = price.size;
        if name == "_[_]"
            && let [container, _] = &call.args[..]
        {
            let step = match self.types.of(container) {
                Type::List { .. } => "@items",
                _ => "@values",
            };
            let trail = self.trail(container).then(step);
            self.trails.insert(key(expression), trail);
            size = self.entries(container).map(|entries| entries.values);
        }
        let size = size.or_else(|| self.size(expression));
        self.set_size(expression, size);
        before.saturating_add(price.cost)
    }

    fn operand<'e>(&mut self, expression: &'e IdedExpr) -> Operand<'e, 'a> {
        Operand {
            expression,
            ty: self.types.of(expression),
            size: self.size(expression),
            trail: self.trail(expression),
        }
    }

    /// The size of the items of a list, where the schema says it.
    pub(super) fn item_size(&self, list: &Operand<'_, 'a>) -> Size {
        let trail = list.trail.below().map(|_| list.trail.then("@items"));
        let declared = trail.and_then(|trail| self.declared(&trail));
        declared.unwrap_or(Size::UNKNOWN)
    }

    fn declared(&self, trail: &Trail) -> Option<Size> {
        let mut at = self.root;
        for word in trail.below()? {
            at = at.part(&word)?;
        }
        Some(Size {
            least: 0,
            most: at.most(),
        })
    }

    fn size(&mut self, expression: &IdedExpr) -> Option<Size> {
        if let Some(size) = self.sizes.get(&key(expression)) {
            return Some(*size);
        }
        if let Some(size) = literal_size(expression) {
            return Some(size);
        }
        if let Some(size) = self.declared(&self.trail(expression)) {
            self.sizes.insert(key(expression), size);
            return Some(size);
        }
        if self.types.of(expression).is_scalar() {
            return Some(Size::exactly(1));
        }
        match &expression.expr {
            Expr::Ident(name) => self.local(name).and_then(|local| local.size),
            _ => None,
        }
    }

    fn size_or_unknown(&mut self, expression: &IdedExpr) -> Size {
        self.size(expression).unwrap_or(Size::UNKNOWN)
    }

    fn set_size(&mut self, expression: &IdedExpr, size: Option<Size>) {
        if let Some(size) = size {
            self.sizes.insert(key(expression), size);
        }
    }

    fn entries(&self, expression: &IdedExpr) -> Option<Entries> {
        let known = self.entries.get(&key(expression)).copied();
        known.or_else(|| match &expression.expr {
            Expr::Ident(name) => self.local(name).and_then(|local| local.entries),
            _ => None,
        })
    }

    fn copy(&mut self, to: &IdedExpr, from: &IdedExpr) {
        let size = self.size(from);
        self.set_size(to, size);
        if let Some(entries) = self.entries(from) {
            self.entries.insert(key(to), entries);
        }
    }

    fn trail(&self, expression: &IdedExpr) -> Trail {
        if let Expr::Ident(name) = &expression.expr
            && let Some(local) = self.local(name)
        {
            return local.trail.clone();
        }
        let known = self.trails.get(&key(expression));
        known.cloned().unwrap_or_default()
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn push_value(&mut self, name: &str, value: &IdedExpr) {
        let local = Local {
            name: name.to_owned(),
            trail: self.trail(value),
            size: self.size(value),
            entries: self.entries(value),
        };
        self.locals.push(local);
    }

    fn push_part(&mut self, name: &str, range: &IdedExpr, step: &str, size: Option<Size>) {
        let local = Local {
            name: name.to_owned(),
            trail: self.trail(range).then(step),
            size,
            entries: None,
        };
        self.locals.push(local);
    }
}

/// The operands whose entries the result of a call has.
fn branches<'e>(name: &str, args: &'e [IdedExpr]) -> Option<[&'e IdedExpr; 2]> {
    match (name, args) {
        ("_?_:_", [_, yes, no]) => Some([yes, no]),
        ("_+_", [left, right]) => Some([left, right]),
        _ => None,
    }
}
