//! Discovery: which groups, versions and kinds there are, in the old and in the aggregated form.

use axum::body::Body;
use http::header::ACCEPT;
use http::{HeaderMap, Response};
use serde_json::{Value, json};

use super::accept::media_types;
use super::respond;
use crate::registry::{Hook, Kind, Snapshot, api_version};
use crate::status::ApiError;

/// Answers everything below `/api` and `/apis` that is not a resource.
pub(crate) fn answer(
    snapshot: &Snapshot,
    parts: &[&str],
    headers: &HeaderMap,
) -> Result<Response<Body>, ApiError> {
    let plain = "application/json";
    let (name, content_type, make): (String, &str, Box<dyn FnOnce() -> Value + '_>) = match parts {
        [root @ ("api" | "apis")] => {
            let core = *root == "api";
            match aggregated_version(headers) {
                Some("v2") => (
                    format!("{root} v2"),
                    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
                    Box::new(move || aggregated(snapshot, core, "v2")),
                ),
                Some(_) => (
                    format!("{root} v2beta1"),
                    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
                    Box::new(move || aggregated(snapshot, core, "v2beta1")),
                ),
                None if core => ("api".into(), plain, Box::new(core_versions)),
                None => ("apis".into(), plain, Box::new(|| group_list(snapshot))),
            }
        }
        ["apis", group] => {
            let versions = snapshot
                .groups()
                .remove(*group)
                .ok_or_else(ApiError::no_such_path)?;
            (
                format!("apis/{group}"),
                plain,
                Box::new(move || one_group(group, &versions)),
            )
        }
        ["api", version] => (
            format!("api/{version}"),
            plain,
            Box::new(|| resources(snapshot, "", version)),
        ),
        ["apis", group, version] => (
            format!("apis/{group}/{version}"),
            plain,
            Box::new(|| resources(snapshot, group, version)),
        ),
        _ => return Err(ApiError::no_such_path()),
    };
    if let ["api", version] | ["apis", _, version] = parts {
        let group = if parts.len() == 2 { "" } else { parts[1] };
        if snapshot.in_version(group, version).is_empty()
            && reviews(snapshot, group, version).next().is_none()
        {
            return Err(ApiError::no_such_path());
        }
    }
    let document = snapshot.document(&name, make);
    let varies = content_type != plain;
    Ok(respond::document(headers, &document, content_type, varies))
}

fn aggregated_version(headers: &HeaderMap) -> Option<&'static str> {
    let accept = headers.get(ACCEPT)?.to_str().ok()?;
    media_types(accept).iter().find_map(|media| {
        let right = media.name == "application/json"
            && media.param("g") == "apidiscovery.k8s.io"
            && media.param("as") == "APIGroupDiscoveryList";
        match media.param("v") {
            "v2" if right => Some(Some("v2")),
            "v2beta1" if right => Some(Some("v2beta1")),
            // Plain JSON before an aggregated form means that the old form is preferred.
            "" if media.name == "application/json" => Some(None),
            _ => None,
        }
    })?
}

fn core_versions() -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": ""}],
    })
}

/// The questions to the server in one group and version, which can only be asked.
fn reviews<'a>(
    snapshot: &'a Snapshot,
    group: &'a str,
    version: &'a str,
) -> impl Iterator<Item = &'a Kind> {
    let all = snapshot.reviews().iter().map(|kind| &**kind);
    all.filter(move |k| k.group == group && k.version == version && !k.plural.contains('/'))
}

fn group_list(snapshot: &Snapshot) -> Value {
    let groups: Vec<Value> = snapshot
        .ranked_groups()
        .iter()
        .filter(|(group, _)| !group.is_empty())
        .map(|(group, versions)| group_entry(group, versions))
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn one_group(group: &str, versions: &[String]) -> Value {
    let mut entry = group_entry(group, versions);
    entry["kind"] = "APIGroup".into();
    entry["apiVersion"] = "v1".into();
    entry
}

fn group_entry(group: &str, versions: &[String]) -> Value {
    let entry =
        |version: &String| json!({"groupVersion": api_version(group, version), "version": version});
    json!({
        "name": group,
        "versions": versions.iter().map(entry).collect::<Vec<_>>(),
        "preferredVersion": versions.first().map(entry),
    })
}

fn resources(snapshot: &Snapshot, group: &str, version: &str) -> Value {
    let mut list = Vec::new();
    for kind in snapshot.in_version(group, version) {
        let mut entry = json!({
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": kind.verbs(),
            "storageVersionHash": kind.storage_version_hash(),
        });
        if !kind.short_names.is_empty() {
            entry["shortNames"] = kind.short_names.clone().into();
        }
        if !kind.categories.is_empty() {
            entry["categories"] = kind.categories.clone().into();
        }
        list.push(entry);
        for (name, (group, version, response), verbs) in subresources(&kind) {
            let mut entry = json!({
                "name": format!("{}/{name}", kind.plural),
                "singularName": "",
                "namespaced": kind.namespaced,
                "kind": response,
                "verbs": verbs,
            });
            if group != kind.group {
                entry["group"] = group.into();
                entry["version"] = version.into();
            }
            list.push(entry);
        }
    }
    list.extend(reviews(snapshot, group, version).map(|review| {
        json!({
            "name": review.plural,
            "singularName": review.singular,
            "namespaced": review.namespaced,
            "kind": review.kind,
            "verbs": ["create"],
        })
    }));
    json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": api_version(group, version),
        "resources": list,
    })
}

type GroupVersionKind = (String, String, String);

type Subresource = (&'static str, GroupVersionKind, &'static [&'static str]);

fn subresources(kind: &Kind) -> Vec<Subresource> {
    const VERBS: &[&str] = &["get", "patch", "update"];
    let mut list: Vec<Subresource> = Vec::new();
    if kind.status {
        list.push((
            "status",
            (kind.group.clone(), kind.version.clone(), kind.kind.clone()),
            VERBS,
        ));
    }
    if kind.scale.is_some() {
        let response = ("autoscaling".into(), "v1".into(), "Scale".into());
        list.push(("scale", response, VERBS));
    }
    if kind.hook == Hook::Account {
        let group = "authentication.k8s.io".into();
        list.push((
            "token",
            (group, "v1".into(), "TokenRequest".into()),
            &["create"],
        ));
    }
    list
}

fn aggregated(snapshot: &Snapshot, core: bool, discovery_version: &str) -> Value {
    let items: Vec<Value> = snapshot
        .ranked_groups()
        .iter()
        .filter(|(group, _)| group.is_empty() == core)
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| {
                    let resources: Vec<Value> = snapshot
                        .in_version(group, version)
                        .iter()
                        .map(|k| aggregated_resource(k))
                        .chain(reviews(snapshot, group, version).map(aggregated_review))
                        .collect();
                    json!({"version": version, "resources": resources, "freshness": "Current"})
                })
                .collect();
            json!({"metadata": {"name": group, "creationTimestamp": null}, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": format!("apidiscovery.k8s.io/{discovery_version}"),
        "metadata": {},
        "items": items,
    })
}

fn aggregated_resource(kind: &Kind) -> Value {
    let gvk = |(group, version, kind): GroupVersionKind| json!({"group": group, "version": version, "kind": kind});
    let mut entry = json!({
        "resource": kind.plural,
        "responseKind": gvk((kind.group.clone(), kind.version.clone(), kind.kind.clone())),
        "scope": scope(kind),
        "singularResource": kind.singular,
        "verbs": kind.verbs(),
    });
    if !kind.short_names.is_empty() {
        entry["shortNames"] = kind.short_names.clone().into();
    }
    if !kind.categories.is_empty() {
        entry["categories"] = kind.categories.clone().into();
    }
    let subresources: Vec<Value> = subresources(kind)
        .into_iter()
        .map(|(name, response, verbs)| {
            json!({"subresource": name, "responseKind": gvk(response), "verbs": verbs})
        })
        .collect();
    if !subresources.is_empty() {
        entry["subresources"] = subresources.into();
    }
    entry
}

fn aggregated_review(review: &Kind) -> Value {
    json!({
        "resource": review.plural,
        "responseKind": {"group": review.group, "version": review.version, "kind": review.kind},
        "scope": scope(review),
        "singularResource": review.singular,
        "verbs": ["create"],
    })
}

fn scope(kind: &Kind) -> &'static str {
    if kind.namespaced {
        "Namespaced"
    } else {
        "Cluster"
    }
}
