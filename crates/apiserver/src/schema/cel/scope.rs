//! A first look at an expression: every name and every function in it must exist, so that a
//! rule which could never run is refused with the schema and not with each object.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{EntryExpr, Expr};

use super::library::TYPE_NAMES;

/// Functions called with or without a target, in CEL itself and in the Kubernetes libraries.
const FUNCTIONS: &[&str] = &[
    // CEL
    "contains",
    "size",
    "max",
    "min",
    "startsWith",
    "endsWith",
    "string",
    "bytes",
    "double",
    "int",
    "uint",
    "dyn",
    "type",
    "matches",
    "duration",
    "timestamp",
    "getFullYear",
    "getMonth",
    "getDayOfYear",
    "getDayOfMonth",
    "getDate",
    "getDayOfWeek",
    "getHours",
    "getMinutes",
    "getSeconds",
    "getMilliseconds",
    "value",
    "hasValue",
    "or",
    "orValue",
    // strings and lists
    "charAt",
    "indexOf",
    "lastIndexOf",
    "lowerAscii",
    "upperAscii",
    "replace",
    "split",
    "substring",
    "trim",
    "join",
    "reverse",
    "format",
    "find",
    "findAll",
    "isSorted",
    "sum",
    "distinct",
    "flatten",
    "slice",
    "sort",
    "first",
    "last",
    // addresses
    "ip",
    "isIP",
    "family",
    "isUnspecified",
    "isLoopback",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isGlobalUnicast",
    "cidr",
    "isCIDR",
    "containsIP",
    "containsCIDR",
    "masked",
    "prefixLength",
    "url",
    "isURL",
    "getScheme",
    "getHost",
    "getHostname",
    "getPort",
    "getEscapedPath",
    "getQuery",
    // quantities, versions, formats
    "quantity",
    "isQuantity",
    "add",
    "sub",
    "sign",
    "asInteger",
    "isInteger",
    "asApproximateFloat",
    "compareTo",
    "isGreaterThan",
    "isLessThan",
    "semver",
    "isSemver",
    "major",
    "minor",
    "patch",
    "validate",
];

/// Functions that live in a namespace, by their full names.
const NAMESPACED: &[&str] = &[
    "optional.none",
    "optional.of",
    "optional.ofNonZeroValue",
    "ip.isCanonical",
    "lists.range",
    "strings.quote",
    "sets.contains",
    "sets.equivalent",
    "sets.intersects",
    "format.byte",
    "format.date",
    "format.datetime",
    "format.dns1035Label",
    "format.dns1035LabelPrefix",
    "format.dns1123Label",
    "format.dns1123LabelPrefix",
    "format.dns1123Subdomain",
    "format.dns1123SubdomainPrefix",
    "format.labelValue",
    "format.named",
    "format.qualifiedName",
    "format.uri",
    "format.uuid",
];

/// Whether every name in the expression is known; the error names the first that is not.
pub(super) fn check(expression: &IdedExpr, variables: &[&str]) -> Result<(), String> {
    walk(expression, &mut variables.to_vec())
}

fn walk<'e>(expression: &'e IdedExpr, scope: &mut Vec<&'e str>) -> Result<(), String> {
    match &expression.expr {
        Expr::Unspecified => Err("the expression is incomplete".into()),
        Expr::Literal(_) => Ok(()),
        Expr::Ident(name) => {
            // Names that begin with @ are the parser's own.
            let is_known = scope.contains(&name.as_str()) || TYPE_NAMES.contains(&name.as_str());
            if name.starts_with('@') || is_known {
                Ok(())
            } else {
                Err(format!("undeclared reference to '{name}'"))
            }
        }
        Expr::Call(call) => {
            let name = call.func_name.as_str();
            match call.target.as_deref() {
                Some(target) => {
                    let namespace = match &target.expr {
                        Expr::Ident(space) if !scope.contains(&space.as_str()) => {
                            Some(format!("{space}.{name}"))
                        }
                        _ => None,
                    };
                    match namespace {
                        Some(full) if NAMESPACED.contains(&full.as_str()) => {}
                        Some(full) => return Err(format!("undeclared reference to '{full}'")),
                        None => {
                            known_function(name)?;
                            walk(target, scope)?;
                        }
                    }
                }
                None => known_function(name)?,
            }
            call.args.iter().try_for_each(|arg| walk(arg, scope))
        }
        Expr::Comprehension(comprehension) => {
            walk(&comprehension.iter_range, scope)?;
            walk(&comprehension.accu_init, scope)?;
            let depth = scope.len();
            scope.push(&comprehension.iter_var);
            scope.push(&comprehension.accu_var);
            scope.extend(comprehension.iter_var2.as_deref());
            let result = [
                &comprehension.loop_cond,
                &comprehension.loop_step,
                &comprehension.result,
            ]
            .into_iter()
            .try_for_each(|part| walk(part, scope));
            scope.truncate(depth);
            result
        }
        Expr::List(list) => list.elements.iter().try_for_each(|one| walk(one, scope)),
        Expr::Select(select) => walk(&select.operand, scope),
        Expr::Map(map) => map.entries.iter().try_for_each(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => {
                walk(&entry.key, scope)?;
                walk(&entry.value, scope)
            }
            EntryExpr::StructField(field) => walk(&field.value, scope),
        }),
        Expr::Struct(message) => Err(format!("undeclared reference to '{}'", message.type_name)),
    }
}

/// Whether a function of a namespace has this full name.
pub(super) fn is_namespaced(full: &str) -> bool {
    NAMESPACED.contains(&full)
}

/// Whether functions live in a namespace of this name.
pub(super) fn is_namespace(name: &str) -> bool {
    NAMESPACED
        .iter()
        .any(|full| full.split_once('.').is_some_and(|(space, _)| space == name))
}

fn known_function(name: &str) -> Result<(), String> {
    // Operators are written with the places of their operands: `_+_`, `!_`, `@in`.
    let is_operator = name.contains('_') || name.starts_with('@');
    if is_operator || FUNCTIONS.contains(&name) {
        Ok(())
    } else {
        Err(format!("undeclared reference to '{name}'"))
    }
}

/// Every function name, for the test that each of them is really there.
#[cfg(test)]
pub(super) fn known_functions() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().chain(NAMESPACED).copied()
}
