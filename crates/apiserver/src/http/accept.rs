//! What a client wants to read: the form of the answer from its `Accept` header.

use crate::status::ApiError;

/// The way objects are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// As they are.
    Object,
    /// As rows of a table.
    Table,
    /// Their metadata alone.
    Metadata,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) shape: Shape,
    pub(crate) yaml: bool,
}

impl Format {
    /// Plain JSON.
    pub(crate) const JSON: Self = Self {
        shape: Shape::Object,
        yaml: false,
    };
}

/// One entry of an `Accept` header.
#[derive(Debug)]
pub(crate) struct MediaType<'a> {
    pub(crate) name: &'a str,
    params: Vec<(&'a str, &'a str)>,
}

impl MediaType<'_> {
    /// A parameter; empty when it is absent.
    pub(crate) fn param(&self, key: &str) -> &str {
        self.params
            .iter()
            .find(|(k, _)| *k == key)
            .map_or("", |(_, v)| v)
    }
}

/// The entries of an `Accept` header, in their order.
pub(crate) fn media_types(header: &str) -> Vec<MediaType<'_>> {
    let entries = header.split(',').map(str::trim).filter(|e| !e.is_empty());
    entries
        .map(|entry| {
            let mut parts = entry.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            let params = parts
                .filter_map(|p| p.split_once('='))
                .map(|(k, v)| (k.trim(), v.trim()))
                .collect();
            MediaType { name, params }
        })
        .collect()
}

/// The first form that the client accepts and that we can write.
pub(crate) fn negotiate(header: Option<&str>) -> Result<Format, ApiError> {
    let Some(header) = header.filter(|h| !h.trim().is_empty()) else {
        return Ok(Format::JSON);
    };
    for media in media_types(header) {
        let yaml = match media.name {
            "application/json" | "*/*" | "application/*" => false,
            "application/yaml" => true,
            _ => continue,
        };
        let shape = match (media.param("as"), media.param("g"), media.param("v")) {
            ("", _, _) => Shape::Object,
            ("Table", "meta.k8s.io", "v1" | "v1beta1") => Shape::Table,
            (
                "PartialObjectMetadata" | "PartialObjectMetadataList",
                "meta.k8s.io",
                "v1" | "v1beta1",
            ) => Shape::Metadata,
            _ => continue,
        };
        return Ok(Format { shape, yaml });
    }
    Err(ApiError::not_acceptable())
}

/// Refuses to show a list as one object's metadata.
pub(crate) fn check_list(header: Option<&str>, of_what: &str) -> Result<(), ApiError> {
    let types = media_types(header.unwrap_or_default());
    match types.first().map(|media| media.param("as")) {
        Some("PartialObjectMetadata") => {
            let message = format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({of_what})"
            );
            let code = http::StatusCode::NOT_ACCEPTABLE;
            Err(ApiError::new(code, "NotAcceptable", message))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negotiation() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        for (header, expected) in [
            (None, Some((Shape::Object, false))),
            (Some("*/*"), Some((Shape::Object, false))),
            (Some(table), Some((Shape::Table, false))),
            (
                Some("application/vnd.kubernetes.protobuf,application/json"),
                Some((Shape::Object, false)),
            ),
            (
                Some("application/json;as=Nothing;v=v1;g=meta.k8s.io, application/yaml"),
                Some((Shape::Object, true)),
            ),
            (Some("application/vnd.kubernetes.protobuf"), None),
        ] {
            let found = negotiate(header).ok().map(|f| (f.shape, f.yaml));
            assert_eq!(found, expected, "{header:?}");
        }
    }
}
