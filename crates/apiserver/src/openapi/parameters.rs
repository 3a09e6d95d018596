//! The parameters of operations.

use serde_json::{Value, json};

/// A part of the path.
pub(super) fn path_parameter(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "in": "path",
        "description": description,
        "required": true,
        "schema": { "type": "string", "uniqueItems": true },
    })
}

/// A parameter after the question mark.
pub(super) fn query(name: &str, ty: &str, description: &str) -> Value {
    json!({
        "name": name,
        "in": "query",
        "description": description,
        "schema": { "type": ty, "uniqueItems": true },
    })
}

/// The parameters that an action understands.
pub(super) fn of_action(action: &str) -> Vec<Value> {
    let dry_run = || {
        query(
            "dryRun",
            "string",
            "All carries out every check and stores nothing.",
        )
    };
    let manager = || {
        query(
            "fieldManager",
            "string",
            "The name under which the fields set here are managed.",
        )
    };
    let field_validation = || {
        query(
            "fieldValidation",
            "string",
            "What becomes of unknown and repeated fields: Ignore drops them, Warn also says so, \
             Strict refuses the request.",
        )
    };
    match action {
        "list" => lists(true),
        "deletecollection" => {
            let mut all = lists(false);
            all.extend([dry_run(), grace_period(), propagation()]);
            all
        }
        "post" | "put" => vec![dry_run(), manager(), field_validation()],
        "patch" => vec![
            dry_run(),
            manager(),
            field_validation(),
            query(
                "force",
                "boolean",
                "Whether an apply takes over fields that others manage.",
            ),
        ],
        "delete" => vec![dry_run(), grace_period(), propagation()],
        _ => Vec::new(),
    }
}

fn grace_period() -> Value {
    query(
        "gracePeriodSeconds",
        "integer",
        "How many seconds the object has to end by itself; 0 removes it at once.",
    )
}

fn propagation() -> Value {
    query(
        "propagationPolicy",
        "string",
        "What becomes of the objects that belong to this one: Orphan, Background or Foreground.",
    )
}

fn lists(with_watch: bool) -> Vec<Value> {
    let mut all = vec![
        query(
            "continue",
            "string",
            "Where the last part of the list ended.",
        ),
        query(
            "fieldSelector",
            "string",
            "Only objects whose fields have these values.",
        ),
        query(
            "labelSelector",
            "string",
            "Only objects whose labels are like this.",
        ),
        query("limit", "integer", "The most objects of one answer."),
        query(
            "resourceVersion",
            "string",
            "The state of the store that is asked for.",
        ),
        query(
            "resourceVersionMatch",
            "string",
            "How resourceVersion is meant: Exact or NotOlderThan.",
        ),
        query("timeoutSeconds", "integer", "How long the call may take."),
    ];
    if with_watch {
        all.extend([
            query(
                "allowWatchBookmarks",
                "boolean",
                "Whether the watch may send bookmarks.",
            ),
            query(
                "sendInitialEvents",
                "boolean",
                "Whether the watch begins with every object there is.",
            ),
            query(
                "watch",
                "boolean",
                "Whether to stay and report every change.",
            ),
        ]);
    }
    all
}
