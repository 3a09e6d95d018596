//! Large answers compressed for clients that ask for it, piece by piece as they are read.

use std::io::Write as _;

use axum::body::{Body, HttpBody as _};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::StreamExt as _;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue, VARY};
use http::{HeaderMap, Response, StatusCode};

/// Smaller answers go out as they are; upstream has the same bound and the same low effort.
const WORTH: u64 = 128 * 1024;
/// How much goes into the compressor at once, so that other tasks have their turn.
const PIECE: usize = 128 * 1024;

/// Whether the client takes gzip.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT_ENCODING);
    accepted.iter().any(|header| {
        header.to_str().is_ok_and(|text| {
            text.split(',').any(|entry| {
                let (name, quality) = entry.split_once(';').unwrap_or((entry, ""));
                name.trim() == "gzip" && quality.replace(' ', "") != "q=0"
            })
        })
    })
}

/// The response, compressed where that is worth it.
pub(super) fn compress(response: Response<Body>) -> Response<Body> {
    let large = response.body().size_hint().lower() >= WORTH;
    let plain = !response.headers().contains_key(CONTENT_ENCODING);
    if !large || !plain || response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    parts
        .headers
        .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    let vary = HeaderValue::from_static("Accept-Encoding");
    parts.headers.append(VARY, vary);
    Response::from_parts(parts, compressed(body))
}

/// What is left to do of a body.
enum State {
    Reading(Body, Bytes, GzEncoder<Vec<u8>>),
    Done,
}

fn compressed(body: Body) -> Body {
    let encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let state = State::Reading(body, Bytes::new(), encoder);
    let pieces = futures::stream::unfold(state, |state| async move {
        let State::Reading(body, rest, encoder) = state else {
            return None;
        };
        match step(body, rest, encoder).await {
            Ok((piece, state)) => Some((Ok(piece), state)),
            Err(error) => Some((Err(error), State::Done)),
        }
    });
    // A piece may be empty while the compressor collects; the stream does not show those.
    Body::from_stream(pieces.filter(|piece| {
        let empty = piece.as_ref().is_ok_and(Bytes::is_empty);
        std::future::ready(!empty)
    }))
}

async fn step(
    mut body: Body,
    mut rest: Bytes,
    mut encoder: GzEncoder<Vec<u8>>,
) -> Result<(Bytes, State), axum::BoxError> {
    if rest.is_empty() {
        let frame = std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)).await;
        match frame {
            None => return Ok((encoder.finish()?.into(), State::Done)),
            Some(frame) => rest = frame?.into_data().unwrap_or_default(),
        }
    }
    let piece = rest.split_to(rest.len().min(PIECE));
    encoder.write_all(&piece)?;
    let out = std::mem::take(encoder.get_mut());
    tokio::task::yield_now().await;
    Ok((out.into(), State::Reading(body, rest, encoder)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    use http_body_util::BodyExt as _;

    #[test]
    fn who_wants_it() {
        for (accept, wanted) in [
            ("gzip", true),
            ("deflate, gzip;q=0.5", true),
            ("gzip; q=0", false),
            ("br", false),
            ("*", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, accept.parse().unwrap());
            assert_eq!(is_wanted(&headers), wanted, "{accept}");
        }
        assert!(!is_wanted(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn what_comes_out_is_what_went_in() {
        let text: String = (0..100_000).map(|n| format!("{n},")).collect();
        let response = compress(Response::new(Body::from(text.clone())));
        assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        assert!(bytes.len() < text.len() / 2);
        let mut back = String::new();
        flate2::read::GzDecoder::new(&*bytes)
            .read_to_string(&mut back)
            .unwrap();
        assert_eq!(back, text);

        let small = compress(Response::new(Body::from("small")));
        assert!(!small.headers().contains_key(CONTENT_ENCODING));
    }
}
