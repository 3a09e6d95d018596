//! Which parts of the language and its libraries work, each by an expression that is true.

mod costs;

use serde_json::{Value, json};

use super::scope::known_functions;
use crate::schema::{Schema, Validator};

fn faults(rule: &str, self_schema: Value, object: Value) -> Vec<String> {
    let mut schema = self_schema;
    schema["x-kubernetes-validations"] = json!([{ "rule": rule, "message": "it is false" }]);
    let schema =
        Schema::from_value(&json!({"type": "object", "properties": {"s": schema}})).unwrap();
    match Validator::new(schema) {
        Ok(validator) => validator
            .validate(&json!({ "s": object }), None)
            .iter()
            .map(ToString::to_string)
            .collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// True expressions over `self = {list: [3, 1, 2], name: "web-1", mem: "1Gi", net: "10.0.0.0/8"}`.
const TRUE: &[&str] = &[
    // the language
    "has(self.name) && !has(self.missing)",
    "self.list.all(x, x > 0)",
    "self.list.exists(x, x == 3) && self.list.exists_one(x, x == 3)",
    "self.list.map(x, x * 2) == [6, 2, 4]",
    "self.list.filter(x, x > 1).size() == 2",
    "size(self.list) == 3 && 'web-1'.size() == 5",
    "1 in self.list && !(7 in self.list)",
    "self.name.matches('^web-[0-9]+$')",
    "self.name.startsWith('web') && self.name.endsWith('1') && self.name.contains('b-')",
    "self.name == 'web-1' ? true : false",
    "int('5') == 5 && double('1.5') == 1.5 && string(5) == '5' && uint(5) == 5u",
    "dyn(self.name) == 'web-1' && bytes('a') == b'a'",
    "type(self.name) == string && type(self.list) == list && type(1) != double && type(null) == null_type",
    "{'a': 1}['a'] == 1 && [1, 2][1] == 2 && 7 / 2 == 3 && 7 % 2 == 1",
    // times
    "duration('1h30m') > duration('1h') && duration('90m').getMinutes() == 90",
    "duration('1h').getHours() == 1 && duration('1h').getSeconds() == 3600",
    "timestamp('2024-02-29T10:20:30Z').getFullYear() == 2024",
    "timestamp('2024-02-29T10:20:30Z').getMonth() == 1",
    "timestamp('2024-02-29T10:20:30Z').getDayOfYear() == 59",
    "timestamp('2024-02-29T10:20:30Z').getDayOfMonth() == 28",
    "timestamp('2024-02-29T10:20:30Z').getDate() == 29",
    "timestamp('2024-02-29T10:20:30Z').getDayOfWeek() == 4",
    "timestamp('2024-02-29T10:20:30.5Z').getMilliseconds() == 500",
    // optionals
    "self.?missing.orValue('x') == 'x' && self.?name.hasValue() && self.?name.value() == 'web-1'",
    "{'a': {'b': 1}}.?a.?b.value() == 1 && {'a': {'b': 1}}.?a.b.value() == 1",
    "!{'a': {'b': 1}}.?x.b.hasValue() && !{'a': {}}.?a.b.hasValue() && [1][?0].value() == 1",
    "optional.of(1).or(optional.none()).value() == 1 && !optional.ofNonZeroValue(0).hasValue()",
    // strings
    "'ab'.charAt(1) == 'b' && 'aba'.indexOf('a') == 0 && 'aba'.lastIndexOf('a') == 2",
    "'aB'.lowerAscii() == 'ab' && 'aB'.upperAscii() == 'AB' && ' a '.trim() == 'a'",
    "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b'",
    "'aXa'.replace('X', 'b') == 'aba' && 'abc'.substring(1, 2) == 'b'",
    "'%s has %d'.format(['a', 2]) == 'a has 2' && strings.quote('a') == '\"a\"'",
    "'abc 123'.find('[0-9]+') == '123' && 'a1b2'.findAll('[0-9]') == ['1', '2']",
    // lists and sets
    "[1, 2, 3].isSorted() && [1, 2].sum() == 3 && [3, 1].min() == 1 && [3, 1].max() == 3",
    "[1, 1, 2].distinct() == [1, 2] && [[1], [2]].flatten() == [1, 2] && self.list.sort() == [1, 2, 3]",
    "[1, 2].reverse() == [2, 1] && [1, 2, 3].slice(1, 2) == [2] && [1, 2].first().value() == 1 && [1, 2].last().value() == 2",
    "lists.range(2) == [0, 1] && [1, 2].indexOf(2) == 1 && [1, 2, 1].lastIndexOf(1) == 2",
    "sets.contains([1, 2], [1]) && sets.equivalent([1, 2], [2, 1]) && sets.intersects([1], [1, 2])",
    // quantities
    "quantity('1Gi').compareTo(quantity('1024Mi')) == 0 && isQuantity('5m') && !isQuantity('x')",
    "quantity(self.mem).isGreaterThan(quantity('512Mi')) && quantity('1').isLessThan(quantity('2'))",
    "quantity('1').add(quantity('1')).asInteger() == 2 && quantity('3').sub(quantity('1')).isInteger()",
    "sign(quantity('-1')) == -1 && quantity('1500m').asApproximateFloat() == 1.5",
    // addresses
    "isIP('10.0.0.1') && ip('10.0.0.1').family() == 4 && ip.isCanonical('10.0.0.1')",
    "ip('127.0.0.1').isLoopback() && ip('0.0.0.0').isUnspecified() && ip('8.8.8.8').isGlobalUnicast()",
    "ip('169.254.1.1').isLinkLocalUnicast() && ip('224.0.0.1').isLinkLocalMulticast()",
    "isCIDR(self.net) && !isCIDR('10.0.0.0/64') && cidr(self.net).containsIP('10.1.2.3')",
    "cidr(self.net).containsCIDR('10.1.0.0/16') && cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
    "cidr(self.net).prefixLength() == 8 && cidr(self.net).ip() == ip('10.0.0.0')",
    "isURL('https://a.b:80/c?d=e') && url('https://a.b:80/c').getScheme() == 'https'",
    "url('https://a.b:80/c').getHost() == 'a.b:80' && url('https://a.b:80/c').getHostname() == 'a.b'",
    "url('https://a.b:80/c').getPort() == '80' && url('https://a.b/c').getEscapedPath() == '/c'",
    "url('https://a.b/?d=e').getQuery() == {'d': ['e']}",
    // versions, formats, encodings
    "isSemver('1.2.3') && semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2",
    "semver('1.2.3').patch() == 3 && semver('1.2.3').compareTo(semver('1.2.4')) == -1",
    "!format.dns1123Label().validate('web-1').hasValue()",
    "format.uri().validate('x').hasValue()",
    "!format.dns1123Subdomain().validate('a.b').hasValue() && !format.labelValue().validate('a').hasValue()",
    "!format.dns1035Label().validate('a').hasValue() && !format.qualifiedName().validate('a/b').hasValue()",
    "!format.date().validate('2024-01-01').hasValue() && !format.byte().validate('YQ==').hasValue()",
    "!format.datetime().validate('2024-01-01T00:00:00Z').hasValue()",
    "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
    "!format.dns1123LabelPrefix().validate('a-').hasValue() && !format.dns1035LabelPrefix().validate('a-').hasValue()",
    "!format.dns1123SubdomainPrefix().validate('a-').hasValue()",
    "!format.named('uuid').value().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()",
    // macros
    "self.list.all(i, x, i < 3 && x > 0) && !self.list.all(i, x, i == x)",
    "self.list.exists(i, x, i == 2 && x == 2) && self.list.existsOne(i, x, x == 3 - i)",
    "{'a': 'b', 'c': 'd'}.all(k, v, k < v) && {'a': 1}.exists(k, v, k == 'a' && v == 1)",
    "self.list.transformList(i, x, i + x) == [3, 2, 4] && [1, 2].transformList(i, x, x > 1, x) == [2]",
    "{'a': 1, 'b': 2}.transformMap(k, v, v + 1) == {'a': 2, 'b': 3}",
    "{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v) == {'b': 2}",
    "{'a': 'x'}.transformMapEntry(k, v, {v: k}) == {'x': 'a'}",
    "[1, 2].all(i, x, [3, 4].all(j, y, y - x == 2 + j - i))",
    "self.list.sortBy(x, x) == [1, 2, 3] && self.list.sortBy(x, -x) == [3, 2, 1]",
    "['bb', 'a'].sortBy(x, x.size()) == ['a', 'bb']",
    "self.?name.optMap(x, x + '!').orValue('') == 'web-1!' && !self.?missing.optMap(x, x).hasValue()",
    "self.?name.optFlatMap(x, optional.of(x.size())).value() == 5",
    // negations
    "!!true && !(!!!true) && !!(1 == 1)",
];

fn web() -> (Value, Value) {
    (
        json!({"type": "object", "properties": {
            "list": {"type": "array", "items": {"type": "integer"}},
            "name": {"type": "string"},
            "missing": {"type": "string"},
            "mem": {"type": "string"},
            "net": {"type": "string", "format": "cidr"},
        }}),
        json!({"list": [3, 1, 2], "name": "web-1", "mem": "1Gi", "net": "10.0.0.0/8"}),
    )
}

#[test]
fn the_language_and_its_libraries_work() {
    let wrong: Vec<String> = TRUE
        .iter()
        .flat_map(|rule| {
            let (schema, object) = web();
            faults(rule, schema, object)
                .into_iter()
                .map(move |fault| format!("{rule}\n    {fault}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_function_that_a_schema_may_name_is_shown_to_work() {
    let shown = TRUE.concat();
    let missing: Vec<&str> = known_functions()
        .filter(|name| !shown.contains(&format!("{name}(")))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn false_and_undecidable_rules_fail() {
    let (schema, object) = web();
    let check = |rule: &str| faults(rule, schema.clone(), object.clone());
    assert_eq!(
        check("self.list.size() > 5"),
        ["s: Invalid value: it is false"]
    );
    assert_eq!(
        check("self.missing == 'x'"),
        [r#"s: Invalid value: "object": no such key: missing evaluating rule: it is false"#]
    );
    assert_eq!(
        check("self.list[7] == 1").len(),
        1,
        "an index out of bounds fails the rule"
    );
    assert_eq!(
        check("self.name"),
        [r#"s: Invalid value: "object": rule did not evaluate to a boolean: it is false"#]
    );
    assert_eq!(check("1 / 0 == 1").len(), 1);
    assert_eq!(check("self.name > 1").len(), 1);
}

#[test]
fn what_the_language_lacks_is_refused_with_the_schema() {
    let (schema, object) = web();
    for (rule, name) in [
        ("cel.bind(x, 1, x == 1)", "cel.bind"),
        ("math.abs(-1) == 1", "math.abs"),
        ("base64.encode(b'a') == 'YQ=='", "base64.encode"),
        (
            "jsonpatch.escapeKey('a/b') == 'a~1b'",
            "jsonpatch.escapeKey",
        ),
    ] {
        let got = faults(rule, schema.clone(), object.clone());
        assert_eq!(got.len(), 1, "{rule}");
        assert!(
            got[0].contains(&format!("undeclared reference to '{name}'")),
            "{rule}: {}",
            got[0]
        );
    }
}

#[test]
fn what_costs_too_much_is_stopped() {
    let schema = json!({"type": "object", "properties": {
        "list": {"type": "array", "items": {"type": "integer"}},
        "text": {"type": "string"},
    }});
    let list: Vec<u32> = (0..400).collect();
    let object = json!({"list": list, "text": "x".repeat(200_000)});
    let check = |rule: &str| faults(rule, schema.clone(), object.clone());
    assert_eq!(check("self.list.all(a, a >= 0)"), Vec::<String>::new());
    for rule in [
        "self.list.all(a, self.list.all(b, self.list.all(c, a + b + c >= 0)))",
        "self.list.all(a, self.text.contains('y') == false)",
    ] {
        let found = check(rule);
        assert_eq!(found.len(), 1, "{rule}: {found:?}");
        let expected = "s: Invalid value: \"object\": 'operation cancelled: actual cost limit \
            exceeded': no further validation rules will be run due to call cost exceeds limit for \
            rule: it is false";
        assert_eq!(found[0], expected);
    }
}

#[test]
fn what_nests_too_deep_is_refused_and_what_is_deep_runs() {
    let (schema, object) = web();
    let check = |rule: &str| faults(rule, schema.clone(), object.clone());
    let nested = |depth: usize| format!("{}true{}", "(".repeat(depth), ")".repeat(depth));
    let sum = |terms: usize| format!("{} > 0", vec!["1"; terms].join(" + "));
    let not = |times: usize| format!("{}true", "!".repeat(times));
    for rule in [nested(200), sum(200), not(200), format!("!({})", not(201))] {
        assert_eq!(check(&rule), Vec::<String>::new(), "{rule}");
    }
    for rule in [
        nested(5000),
        sum(5000),
        sum(900),
        "a?b:".repeat(5000),
        "[".repeat(30_000),
    ] {
        assert_eq!(check(&rule).len(), 1, "{}", &rule[..20]);
    }
}

#[test]
fn a_rule_is_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Validator>();
}
