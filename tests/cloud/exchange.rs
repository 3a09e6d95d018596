//! Requests and answers of HTTP/1.1 as bytes, one to a connection, so that a proxy can cut a
//! connection wherever it likes and a signature over the request stays good.

use std::collections::BTreeMap;
use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    head: String,
    body: Vec<u8>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

/// The parameters of a call.
pub type Parameters = BTreeMap<String, String>;

impl Request {
    /// A form for this service; the signature is none.
    pub fn unsigned(service: &str, form: &[(&str, &str)]) -> Request {
        let encode = |text: &str| -> String {
            let byte = |b: u8| match b.is_ascii_alphanumeric() {
                true => char::from(b).to_string(),
                false => format!("%{b:02X}"),
            };
            text.bytes().map(byte).collect()
        };
        let pairs = form.iter();
        let pairs = pairs.map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        let body = pairs.collect::<Vec<_>>().join("&").into_bytes();
        let scope = format!("x/20260101/us-west-2/{service}/aws4_request");
        let head = format!(
            "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        Request { head, body }
    }

    /// Reads one; `None` when the other side has nothing to ask.
    pub async fn read(stream: &mut TcpStream) -> io::Result<Option<Request>> {
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(None);
            }
        };
        let body = bytes.split_off(end);
        let head = String::from_utf8(bytes).map_err(io::Error::other)?;
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let named = name.eq_ignore_ascii_case("content-length");
            named.then(|| value.trim().parse::<usize>().ok())?
        });
        let mut request = Request { head, body };
        while request.body.len() < length.unwrap_or(0) {
            if stream.read_buf(&mut request.body).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(Some(request))
    }

    /// The parameters in its body.
    pub fn parameters(&self) -> Parameters {
        let text = String::from_utf8_lossy(&self.body);
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .map(|(name, value)| (decode(name), decode(value)))
            .collect()
    }

    /// The id of the key that it was signed with; nothing for one that is not signed.
    pub fn key(&self) -> &str {
        let signed = self.head.split_once("Credential=");
        let scope = signed.map_or("", |(_, scope)| scope);
        scope.split('/').next().unwrap_or_default()
    }

    /// Sends it on as it is, and reads the answer.
    pub async fn forward(&self, port: u16) -> io::Result<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let (line, rest) = self
            .head
            .split_once("\r\n")
            .ok_or(io::ErrorKind::InvalidData)?;
        let head = format!("{line}\r\nConnection: close\r\n{rest}");
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&self.body).await?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await?;
        let text = String::from_utf8(bytes).map_err(io::Error::other)?;
        let (head, body) = text
            .split_once("\r\n\r\n")
            .ok_or(io::ErrorKind::InvalidData)?;
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Ok(Answer {
            status: status.ok_or(io::ErrorKind::InvalidData)?,
            body: body.to_owned(),
        })
    }
}

impl Answer {
    /// An error in EC2's form.
    pub fn error(status: u16, code: &str, message: &str) -> Answer {
        let body = format!(
            "<?xml version=\"1.0\"?><Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors><RequestID>r</RequestID></Response>"
        );
        Answer { status, body }
    }

    pub fn is_good(&self) -> bool {
        self.status == 200
    }

    /// The text between the first pair of these tags.
    pub fn between(&self, tag: &str) -> Option<&str> {
        let (_, rest) = self.body.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>")).map(|(text, _)| text)
    }

    pub async fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {} Answer\r\nContent-Type: text/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.status,
            self.body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(self.body.as_bytes()).await?;
        stream.shutdown().await
    }
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digits = [rest.clone().next(), rest.clone().nth(1)];
        let value = match (byte, digits) {
            (b'%', [Some(high), Some(low)]) => {
                let text = [high, low];
                let text = std::str::from_utf8(&text).unwrap_or_default();
                u8::from_str_radix(text, 16).ok()
            }
            _ => None,
        };
        match value {
            Some(value) => {
                bytes.push(value);
                rest.nth(1);
            }
            None => bytes.push(if byte == b'+' { b' ' } else { byte }),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
