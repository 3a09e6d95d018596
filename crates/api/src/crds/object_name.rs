//! Puts what is asked of an object's name beside the name.
//!
//! A derive can say it at the root of a kind alone, where a server reports a broken rule without
//! a field and without a value.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps,
};

use crate::schema::label;

/// Moves the rule about the name from the root of every version to the name.
pub(super) fn move_rules(crd: &mut CustomResourceDefinition) {
    for version in &mut crd.spec.versions {
        let schema = version.schema.as_mut();
        if let Some(root) = schema.and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            move_rule(root);
        }
    }
}

fn move_rule(root: &mut JSONSchemaProps) {
    let Some(rules) = &mut root.x_kubernetes_validations else {
        return;
    };
    let at_the_root = label("self.metadata.name");
    let Some(place) = rules.iter().position(|rule| rule.rule == at_the_root) else {
        return;
    };
    let mut rule = rules.remove(place);
    rule.rule = label("self");
    if rules.is_empty() {
        root.x_kubernetes_validations = None;
    }
    let name = JSONSchemaProps {
        type_: Some("string".to_owned()),
        description: Some("Name of the object; it cannot be changed.".to_owned()),
        x_kubernetes_validations: Some(vec![rule]),
        ..JSONSchemaProps::default()
    };
    let metadata = JSONSchemaProps {
        type_: Some("object".to_owned()),
        properties: Some(BTreeMap::from([("name".to_owned(), name)])),
        ..JSONSchemaProps::default()
    };
    let properties = root.properties.get_or_insert_default();
    properties.insert("metadata".to_owned(), metadata);
}
