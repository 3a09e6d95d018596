//! The body of a list whose items are served as they are stored: written piece by piece while the
//! client reads, without parsing an item and without ever holding the whole.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::HttpBody;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use machinist_store::Entry;
use serde_json::Value;

use crate::codec;
use crate::registry::Kind;

/// How large a piece is, about.
const PIECE: usize = 64 << 10;
const TAIL: &[u8] = b"]}\n";

/// A list on its way out. Its length is known from the start, for the header and for those who
/// decide by it whether to compress.
pub(super) struct ListBody {
    /// What comes before the next item: the beginning of the list, or a comma.
    before: String,
    entries: std::vec::IntoIter<Entry>,
    /// How many bytes are still to come.
    left: usize,
}

impl ListBody {
    pub(super) fn new(kind: &Kind, entries: Vec<Entry>, metadata: &Value) -> Self {
        let before = format!(
            "{{\"apiVersion\":\"{}\",\"kind\":\"{}\",\"metadata\":{metadata},\"items\":[",
            kind.api_version(),
            kind.list_kind
        );
        let items: usize = entries.iter().map(codec::spliced_length).sum();
        let commas = entries.len().saturating_sub(1);
        Self {
            left: before.len() + items + commas + TAIL.len(),
            before,
            entries: entries.into_iter(),
        }
    }

    fn piece(&mut self) -> Vec<u8> {
        let mut out = Vec::with_capacity((PIECE + (PIECE >> 2)).min(self.left));
        for entry in self.entries.by_ref() {
            out.extend_from_slice(self.before.as_bytes());
            ",".clone_into(&mut self.before);
            codec::splice(&entry, &mut out);
            if out.len() >= PIECE {
                return out;
            }
        }
        if self.before != "," {
            out.extend_from_slice(self.before.as_bytes());
        }
        out.extend_from_slice(TAIL);
        out
    }
}

impl HttpBody for ListBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let piece = self.piece();
        self.left = self.left.saturating_sub(piece.len());
        Poll::Ready(Some(Ok(Frame::data(piece.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use machinist_store::Revision;
    use serde_json::json;

    use super::*;
    use crate::registry::Registry;

    #[tokio::test]
    async fn a_list_is_as_long_as_it_says_and_reads_as_its_items() {
        let kind = Registry::new(crate::conversion::Converters::new(), Vec::new(), Vec::new())
            .unwrap()
            .snapshot();
        let kind = kind.find("", "v1", "configmaps").unwrap();
        for (count, size) in [(0, 0), (1, 10), (3, 10), (100, 3000), (5, 200_000)] {
            let entries: Vec<Entry> = (0..count)
                .map(|n| Entry {
                    key: format!("k{n}").into(),
                    value: codec::encode(
                        &json!({"metadata": {"name": n.to_string()}, "d": "x".repeat(size)}),
                    ),
                    created: Revision(1),
                    modified: Revision(9 + n),
                })
                .collect();
            let expected: Vec<Value> = entries.iter().map(codec::decode).collect();
            let body = ListBody::new(&kind, entries, &json!({"resourceVersion": "7"}));
            let said = body.size_hint().exact().unwrap();
            let bytes = body.collect().await.unwrap().to_bytes();
            assert_eq!(bytes.len() as u64, said, "{count} of {size}");
            let list: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(list["items"], Value::from(expected));
            assert_eq!(list["metadata"]["resourceVersion"], "7");
            assert_eq!(list["kind"], "ConfigMapList");
        }
    }
}
