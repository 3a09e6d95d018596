//! Versions of a kind: from the stored form of an object to any served one, and back.

use serde_json::Value;

use crate::core::Core;
use crate::registry::Kind;
use crate::status::ApiError;

impl Core {
    /// Turns an object of one version of a kind into one of another.
    #[expect(clippy::unused_async, reason = "a webhook may have to be asked")]
    pub(crate) async fn convert(
        &self,
        from: &Kind,
        to: &Kind,
        mut object: Value,
    ) -> Result<Value, ApiError> {
        from.to_stored(&mut object);
        to.to_served(&mut object);
        Ok(object)
    }
}
