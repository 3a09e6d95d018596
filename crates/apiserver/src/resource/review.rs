//! Questions to the server: they go through what every write goes through, except the store.

use serde_json::{Value, json};

use super::{Part, WriteOptions, admit, shape};
use crate::core::Core;
use crate::meta;
use crate::registry::Kind;
use crate::status::ApiError;

impl Core {
    /// A question as it is answered: known fields alone, with its writer; and what to warn of.
    pub(crate) async fn asked(
        &self,
        kind: &Kind,
        namespace: &str,
        mut body: Value,
        options: &WriteOptions,
    ) -> Result<(Value, Vec<String>), ApiError> {
        admit::check_envelope(kind, &mut body, namespace, None)?;
        let warnings = shape::shape(kind, &mut body, options)?;
        meta::as_map(&mut body).remove("status");
        // A question always has a spec, so nobody owns that it is there.
        let (version, name) = (kind.api_version(), &kind.kind);
        let blank = json!({"apiVersion": version, "kind": name, "metadata": {}, "spec": {}});
        let tracked = self.track(kind, Part::Main, Some(&blank), body, options);
        Ok((tracked.await?, warnings))
    }
}
