//! Bodies with something attached: a request's body that is counted and must come in time, and a
//! response's body that keeps a permit until it has gone out.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use super::limits::Reservation;

/// Why a request's body was not read to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// It did not come in time.
    #[error("the body did not come in time")]
    Slow,
    /// Too many bytes of other bodies are held already.
    #[error("too many bytes of bodies are held")]
    Full,
    /// The connection broke, or the body's framing did.
    #[error("the body ended early")]
    Broken(#[source] BoxError),
}

/// A request's body, counted as it comes, with a deadline.
pub(super) struct Incoming {
    inner: Body,
    reservation: Arc<Reservation>,
    deadline: Instant,
    /// Made only when the body lets us wait.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Incoming {
    pub(super) fn new(inner: Body, reservation: Arc<Reservation>, deadline: Instant) -> Self {
        Self {
            inner,
            reservation,
            deadline,
            timer: None,
        }
    }
}

impl HttpBody for Incoming {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                if self.reservation.grow(bytes) {
                    Poll::Ready(Some(Ok(frame)))
                } else {
                    Poll::Ready(Some(Err(BodyError::Full)))
                }
            }
            Poll::Ready(Some(Err(error))) => {
                Poll::Ready(Some(Err(BodyError::Broken(error.into()))))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                let deadline = self.deadline;
                let timer = self
                    .timer
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
                match timer.as_mut().poll(cx) {
                    Poll::Ready(()) => Poll::Ready(Some(Err(BodyError::Slow))),
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A response's body that holds on to something until it is done with.
pub(crate) struct Held<T> {
    inner: Body,
    _held: T,
}

impl<T: Send + Unpin + 'static> Held<T> {
    /// The same body, with something that lives as long as it does.
    pub(crate) fn wrap(inner: Body, held: T) -> Body {
        Body::new(Self { inner, _held: held })
    }
}

impl<T: Unpin> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
