//! Tables as `kubectl get` receives them.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::*;

fn now() -> Timestamp {
    "2024-06-01T12:00:00Z".parse().unwrap()
}

/// One cell of a column of this type and path.
fn cell_of(ty: &str, path: &str, object: &Value) -> Value {
    let columns = Columns::new(&[Column {
        name: "X".into(),
        ty: ty.into(),
        json_path: path.into(),
        ..Column::default()
    }])
    .unwrap();
    let table = render(
        &columns,
        std::slice::from_ref(object),
        IncludeObject::None,
        now(),
        &json!({}),
    );
    table["rows"][0]["cells"][1].clone()
}

fn machine() -> Value {
    json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "Machine",
        "metadata": {
            "name": "web-1",
            "creationTimestamp": "2024-05-29T08:00:00Z",
            "resourceVersion": "7",
            "labels": {"foo.bar/baz": "dotted", "plain": "p"},
        },
        "spec": {"cores": 4, "ratio": 1.5, "on": true, "names": ["a", "b", "c"],
                 "empty": [], "none": null, "nested": {"a": [1, 2]}, "big": 1_000_000.0},
        "status": {"conditions": [
            {"type": "Ready", "status": "False", "weight": 2},
            {"type": "It's", "status": "True", "weight": 5},
        ], "bad": "not a time"},
    })
}

#[test]
fn cells_follow_their_paths_and_types() {
    let machine = machine();
    let table: &[(&str, &str, Value)] = &[
        ("string", ".metadata.name", json!("web-1")),
        ("string", ".spec.missing", Value::Null),
        ("string", ".spec.missing.deeper", Value::Null),
        ("string", ".spec.none", json!("<no value>")),
        ("integer", ".spec.none", Value::Null),
        ("string", ".spec.cores", json!("4")),
        ("string", ".spec.ratio", json!("1.5")),
        ("string", ".spec.big", json!("1e+06")),
        ("string", ".spec.on", json!("true")),
        ("string", ".spec.names", json!(r#"["a","b","c"]"#)),
        ("string", ".spec.nested", json!(r#"{"a":[1,2]}"#)),
        ("integer", ".spec.cores", json!(4)),
        ("integer", ".spec.ratio", json!(1)),
        ("integer", ".metadata.name", Value::Null),
        ("number", ".spec.ratio", json!(1.5)),
        ("boolean", ".spec.on", json!(true)),
        ("boolean", ".spec.cores", Value::Null),
        ("date", ".metadata.creationTimestamp", json!("3d4h")),
        ("date", ".spec.missing", Value::Null),
        ("date", ".status.bad", json!("<invalid>")),
        // Only the first of several finds is shown.
        ("string", ".spec.names[*]", json!("a")),
        ("string", ".spec.names[1]", json!("b")),
        ("string", ".spec.names[-1]", json!("c")),
        ("string", ".spec.names[1:]", json!("b")),
        ("string", ".spec.names[:-1]", json!("a")),
        ("string", ".spec.names[0,2]", json!("a")),
        ("string", ".spec.names[::2]", json!("a")),
        ("string", ".spec.names[9]", Value::Null),
        ("string", ".spec.empty[0]", Value::Null),
        ("string", ".spec.empty[*]", Value::Null),
        ("string", ".spec.cores[0]", Value::Null),
        ("string", r".metadata.labels.foo\.bar/baz", json!("dotted")),
        (
            "string",
            r".metadata.labels['foo\.bar/baz']",
            json!("dotted"),
        ),
        ("string", ".metadata.labels['plain']", json!("p")),
        (
            "string",
            r#".status.conditions[?(@.type=="Ready")].status"#,
            json!("False"),
        ),
        (
            "string",
            ".status.conditions[?(@.type=='Ready')].status",
            json!("False"),
        ),
        (
            "string",
            ".status.conditions[?(@.type == 'Ready')].status",
            json!("False"),
        ),
        (
            "string",
            r#".status.conditions[?(@.type=="It's")].status"#,
            json!("True"),
        ),
        (
            "string",
            r#".status.conditions[?(@.type!="Ready")].type"#,
            json!("It's"),
        ),
        (
            "string",
            ".status.conditions[?(@.weight>2)].type",
            json!("It's"),
        ),
        (
            "string",
            ".status.conditions[?(@.weight<=2)].type",
            json!("Ready"),
        ),
        (
            "string",
            ".status.conditions[?(@.nothing)].type",
            Value::Null,
        ),
        (
            "string",
            ".status.conditions[?(@.weight)].type",
            json!("Ready"),
        ),
        (
            "string",
            r#".status.conditions[?(@.type=="Absent")].status"#,
            Value::Null,
        ),
        // Comparing a number with a text is a fault, so there is nothing to show.
        (
            "string",
            ".status.conditions[?(@.weight=='2')].type",
            Value::Null,
        ),
        ("string", ".spec..a", json!("[1,2]")),
        ("string", "$.spec.cores", json!("4")),
    ];
    for (ty, path, want) in table {
        assert_eq!(&cell_of(ty, path, &machine), want, "{ty} {path}");
    }
}

#[test]
fn malformed_paths_are_refused() {
    for path in [
        ".spec[",
        ".spec[x]",
        ".spec[]",
        ".spec[1:2:3:4]",
        ".a[?(@.b==\"c\")",
        ".a[?(@.b==)]",
        ".a[?(@.b=\"c\")]",
        "spec",
        ".a[?(@.b==\"c)]",
        "....",
        "#",
    ] {
        let column = Column {
            json_path: path.into(),
            ..Column::default()
        };
        let error = Columns::new(&[column]).expect_err(path);
        assert_eq!(
            error.to_string(),
            format!("unrecognized column definition {path:?}")
        );
    }
}

#[test]
fn ages_have_two_or_three_figures() {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    for (seconds, text) in [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (2 * MINUTE + 5, "2m5s"),
        (9 * MINUTE + 59, "9m59s"),
        (10 * MINUTE + 5, "10m"),
        (179 * MINUTE, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 4 * MINUTE, "3h4m"),
        (8 * HOUR + 4 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (48 * HOUR, "2d"),
        (3 * DAY + 4 * HOUR, "3d4h"),
        (8 * DAY + 4 * HOUR, "8d"),
        (729 * DAY, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 17 * DAY, "2y17d"),
        (8 * YEAR + 17 * DAY, "8y"),
    ] {
        assert_eq!(human_duration(SignedDuration::from_secs(seconds)), text);
    }
}

#[test]
fn a_table_has_headers_rows_and_the_state_of_its_list() {
    let columns = Columns::new(&[Column {
        name: "Cores".into(),
        ty: "integer".into(),
        priority: 1,
        json_path: ".spec.cores".into(),
        ..Column::default()
    }])
    .unwrap();
    let meta = json!({"resourceVersion": "42", "continue": "next", "remainingItemCount": 3,
                      "selfLink": ""});
    let mut table = render(
        &columns,
        &[machine()],
        IncludeObject::Metadata,
        now(),
        &meta,
    );
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["apiVersion"], "meta.k8s.io/v1");
    assert_eq!(
        table["metadata"],
        json!({"resourceVersion": "42", "continue": "next", "remainingItemCount": 3})
    );
    assert_eq!(table["columnDefinitions"][0]["name"], "Name");
    assert_eq!(table["columnDefinitions"][0]["format"], "name");
    assert_eq!(
        table["columnDefinitions"][1],
        json!({"name": "Cores", "type": "integer", "format": "", "priority": 1,
               "description":
                   "Custom resource definition column (in JSONPath format): .spec.cores"})
    );
    let row = &table["rows"][0];
    assert_eq!(row["cells"], json!(["web-1", 4]));
    assert_eq!(row["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(row["object"]["metadata"], machine()["metadata"]);
    assert!(row["object"].get("spec").is_none());

    without_headers(&mut table);
    assert_eq!(table["columnDefinitions"], Value::Null);
}

#[test]
fn rows_carry_what_was_asked_for() {
    let columns = Columns::new(&[]).unwrap();
    let row =
        |include| render(&columns, &[machine()], include, now(), &json!({}))["rows"][0].clone();
    assert_eq!(row(IncludeObject::None)["object"], Value::Null);
    assert_eq!(row(IncludeObject::Object)["object"], machine());
    // A kind without columns of its own shows its age.
    assert_eq!(row(IncludeObject::None)["cells"], json!(["web-1", "3d4h"]));
}

#[test]
fn columns_are_read_from_a_crd() {
    let column: Column = serde_json::from_value(json!({
        "name": "Phase", "type": "string", "jsonPath": ".status.phase", "priority": 1
    }))
    .unwrap();
    assert_eq!(column.json_path, ".status.phase");
    assert_eq!((column.ty.as_str(), column.priority), ("string", 1));
}
