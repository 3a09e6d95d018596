//! What rules may name beside their variables: the functions of the language and of Kubernetes'
//! libraries, some of our own, and the types.

use std::sync::{Arc, LazyLock};

use kube_cel::KubeCelExt as _;
use kube_cel::cel::{self, Context, ExecutionError};

use super::{cost, pattern, steps};

/// Every function that rules may call, registered once.
pub(super) static LIBRARY: LazyLock<Context<'static>> = LazyLock::new(|| {
    let mut library = Context::default().with_all();
    // Rules say dyn() to silence a type checker that is not here.
    library.add_function("dyn", |value: cel::Value| Ok::<_, ExecutionError>(value));
    // Types are their names, which is enough for `type(self) == int`, the way in which rules
    // take an int-or-string apart.
    library.add_function("type", |value: cel::Value| {
        Ok::<_, ExecutionError>(text(type_name(&value)))
    });
    cost::register(&mut library);
    pattern::register(&mut library);
    steps::register(&mut library);
    for name in TYPE_NAMES {
        library.add_variable_from_value(name, text(name));
    }
    library
});

/// The types that rules can name.
pub(super) const TYPE_NAMES: [&str; 9] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "uint",
];

fn type_name(value: &cel::Value) -> &'static str {
    match value {
        cel::Value::Bool(_) => "bool",
        cel::Value::Bytes(_) => "bytes",
        cel::Value::Float(_) => "double",
        cel::Value::Int(_) => "int",
        cel::Value::List(_) => "list",
        cel::Value::Map(_) => "map",
        cel::Value::Null => "null_type",
        cel::Value::String(_) => "string",
        cel::Value::UInt(_) => "uint",
        _ => "another type",
    }
}

fn text(text: &str) -> cel::Value {
    cel::Value::String(Arc::new(text.to_string()))
}
