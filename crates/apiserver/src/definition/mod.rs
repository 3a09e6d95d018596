//! What makes a CustomResourceDefinition acceptable, in the words of kube-apiserver: names and
//! versions, columns and subresources, structural schemas, defaults and rules.
//!
//! Pure functions from a definition to what is wrong with it. Whether its names are free and
//! what its status says is left to the hook of definitions.

mod defaults;
mod lists;
mod parts;
mod rules;
mod structural;
mod surface;

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::schema::Schema;
use crate::status::Cause;

/// Everything that is wrong with a definition.
pub(crate) fn validate(definition: &Value) -> Vec<Cause> {
    let mut causes = surface::check(definition);
    let spec = &definition["spec"];
    let versions: Vec<&Value> = spec["versions"].as_array().into_iter().flatten().collect();
    for field in [
        "schema",
        "subresources",
        "additionalPrinterColumns",
        "selectableFields",
    ] {
        // What all versions share stands at the top, from the time when there was only one.
        let shared = versions
            .windows(2)
            .all(|pair| pair[0][field] == pair[1][field]);
        for (at, version) in versions.iter().enumerate() {
            let place = match field {
                _ if shared && field == "schema" => "spec.validation".to_owned(),
                _ if shared => format!("spec.{field}"),
                _ => format!("spec.versions[{at}].{field}"),
            };
            let missing = format!("spec.versions[{at}].schema.openAPIV3Schema");
            match field {
                "schema" => match version.pointer("/schema/openAPIV3Schema") {
                    None | Some(Value::Null) => causes.push(Cause::required(&missing, "")),
                    Some(schema) => {
                        causes.extend(schema_causes(schema, &format!("{place}.openAPIV3Schema")));
                    }
                },
                "subresources" => causes.extend(parts::scale(&version[field], &place)),
                "additionalPrinterColumns" => {
                    causes.extend(parts::columns(&version[field], &place));
                }
                _ => {
                    let schema = version.pointer("/schema/openAPIV3Schema");
                    causes.extend(parts::selectable(&version[field], schema, &place));
                }
            }
            if shared {
                break;
            }
        }
    }
    causes
}

fn schema_causes(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = structural::check(schema, path);
    if causes.is_empty()
        && let Ok(typed) = Schema::from_value(schema)
    {
        causes.extend(defaults::check(&typed, path));
        causes.extend(rules::check(&typed, path));
    }
    causes
}
