//! Watches as clients read them: over HTTP/1.1 byte by byte, so that every chunk is seen to be whole, and
//! over HTTP/2.

use bytes::Bytes;
use h2::RecvStream;
use h2::client::SendRequest;
use http::{Request, StatusCode};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::client::TlsStream;

use super::tls::Served;
use super::{PATIENCE, WIDGETS};

/// The protocol of a watch.
#[derive(Debug, Clone, Copy)]
pub enum Protocol {
    Http1,
    Http2,
}

/// A watch on widgets, on a connection of its own.
pub struct Wire {
    source: Source,
    /// What the body held and was not used.
    body: Vec<u8>,
    ended: bool,
}

enum Source {
    Http1(Box<Chunks>),
    Http2(Flow),
}

impl Wire {
    pub async fn open(served: &Served, protocol: Protocol, query: &str) -> Self {
        let path = format!("{WIDGETS}?watch=true{query}");
        Self {
            source: match protocol {
                Protocol::Http1 => Source::Http1(Box::new(Chunks::open(served, &path).await)),
                Protocol::Http2 => Source::Http2(Flow::open(served, &path).await),
            },
            body: Vec::new(),
            ended: false,
        }
    }

    /// Begins a request on the same connection, while the watch goes on.
    pub async fn ask(&mut self, path: &str) {
        match &mut self.source {
            Source::Http1(chunks) => chunks.ask(path).await,
            Source::Http2(flow) => flow.ask(path),
        }
    }

    /// Whether the request was answered with success.
    pub async fn is_answered(&mut self) -> bool {
        match &mut self.source {
            Source::Http1(chunks) => chunks.head().await.starts_with("HTTP/1.1 200"),
            Source::Http2(flow) => {
                let asked = flow.asked.take().expect("something was asked");
                let answer = tokio::time::timeout(PATIENCE, asked).await;
                answer.expect("an answer comes in time").unwrap().status() == StatusCode::OK
            }
        }
    }

    /// The next event, or nothing when the body has ended.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.body.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.body.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            if self.ended {
                assert!(self.body.is_empty(), "half an event at the end");
                return None;
            }
            let more = match &mut self.source {
                Source::Http1(chunks) => chunks.chunk().await,
                Source::Http2(flow) => flow.data().await,
            };
            match more {
                Some(more) => self.body.extend(more),
                None => self.ended = true,
            }
        }
    }

    /// The next events, as type and revision.
    pub async fn events(&mut self, count: usize) -> Vec<String> {
        let mut events = Vec::with_capacity(count);
        for _ in 0..count {
            events.push(shown(&self.next().await.expect("the watch goes on")));
        }
        events
    }
}

/// An event as type, name and revision.
pub fn shown(event: &Value) -> String {
    let metadata = &event["object"]["metadata"];
    format!(
        "{} {} {}",
        event["type"], metadata["name"], metadata["resourceVersion"]
    )
}

/// An answer in chunks.
struct Chunks {
    stream: TlsStream<TcpStream>,
    /// What came and was not used.
    raw: Vec<u8>,
}

impl Chunks {
    async fn open(served: &Served, path: &str) -> Self {
        let mut chunks = Self {
            stream: served.connect(&["http/1.1"]).await,
            raw: Vec::new(),
        };
        chunks.ask(path).await;
        let head = chunks.head().await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.contains("transfer-encoding: chunked"), "{head}");
        chunks
    }

    async fn ask(&mut self, path: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    async fn head(&mut self) -> String {
        loop {
            let end = self.raw.windows(4).position(|bytes| bytes == b"\r\n\r\n");
            if let Some(end) = end {
                let head: Vec<u8> = self.raw.drain(..end + 4).collect();
                return String::from_utf8(head).unwrap();
            }
            self.more().await;
        }
    }

    async fn more(&mut self) {
        let read = self.stream.read_buf(&mut self.raw);
        let read = tokio::time::timeout(PATIENCE, read).await;
        let size = read.expect("something comes in time").unwrap();
        assert!(size > 0, "the connection ended");
    }

    /// Up to the end of a line of the framing, which is all there is between chunks.
    async fn framing(&mut self) -> String {
        loop {
            if let Some(end) = self.raw.windows(2).position(|bytes| bytes == b"\r\n") {
                let line: Vec<u8> = self.raw.drain(..end + 2).collect();
                return String::from_utf8(line).unwrap().trim_end().to_owned();
            }
            assert!(self.raw.len() < 32, "no framing: {:?}", self.raw);
            self.more().await;
        }
    }

    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = self.framing().await;
        let size = usize::from_str_radix(&size, 16).expect("the size of a chunk");
        while self.raw.len() < size + 2 {
            self.more().await;
        }
        let chunk: Vec<u8> = self.raw.drain(..size).collect();
        assert_eq!(self.framing().await, "", "after a chunk");
        (size > 0).then_some(chunk)
    }
}

/// An answer in frames. What is not read stays within the window, and holds the server up.
struct Flow {
    requests: SendRequest<Bytes>,
    body: RecvStream,
    asked: Option<h2::client::ResponseFuture>,
    reading: JoinHandle<()>,
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl Flow {
    async fn open(served: &Served, path: &str) -> Self {
        let stream = served.connect(&["h2"]).await;
        let (mut requests, connection) = h2::client::handshake(stream).await.unwrap();
        let reading = tokio::spawn(async move {
            // How it ends, the watch sees.
            let _ = connection.await;
        });
        let (answer, _) = requests.send_request(request(path), true).unwrap();
        let answer = answer.await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        Self {
            requests,
            body: answer.into_body(),
            asked: None,
            reading,
        }
    }

    fn ask(&mut self, path: &str) {
        let (asked, _) = self.requests.send_request(request(path), true).unwrap();
        self.asked = Some(asked);
    }

    async fn data(&mut self) -> Option<Vec<u8>> {
        let data = tokio::time::timeout(PATIENCE, self.body.data()).await;
        let data = data.expect("something comes in time")?.unwrap();
        self.body
            .flow_control()
            .release_capacity(data.len())
            .unwrap();
        Some(data.to_vec())
    }
}

fn request(path: &str) -> Request<()> {
    Request::get(format!("https://localhost{path}"))
        .body(())
        .unwrap()
}
