//! Sends one signed call and reads its answer. It tries nothing twice and waits for nobody: how
//! long a call may take and when it is made again is decided by those who call.

use std::time::{Duration, SystemTime};

use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SigningParams, SigningSettings, sign},
    sign::v4,
};
use futures::StreamExt;
use machinist_core::provider::{ProviderError, ProviderResult};
use reqwest::{Response, Url, header::LOCATION};
use sha2::{Digest, Sha256};

use crate::shared::{http, way::Way};

use super::{
    credentials::Keys,
    error::{AwsError, Refusal},
    query::Query,
    xml::{Element, LARGEST, XmlError},
};

const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";
/// What declares where EC2 is.
const FIELD: &str = "spec.config.endpoint";
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// A connection to EC2 in one region. Its keys are never shown.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    way: Way,
    endpoint: Url,
    host: String,
    region: String,
    keys: Keys,
}

impl Client {
    /// A client of this endpoint: a host name, or a URL.
    ///
    /// # Errors
    /// When the endpoint is no address, or would send what is declared in the clear.
    pub fn new(endpoint: &str, region: &str, keys: Keys, way: Way) -> ProviderResult<Client> {
        let url = http::endpoint(FIELD, endpoint, way.reach)?;
        let name = url.host_str().unwrap_or_default().to_owned();
        let host = match url.port() {
            Some(port) => format!("{name}:{port}"),
            None => name,
        };
        let http = way
            .builder()
            .connect_timeout(CONNECT_LIMIT)
            .build()
            .map_err(|error| ProviderError::transport("could not prepare TLS", error))?;
        Ok(Client {
            http,
            way,
            endpoint: url,
            host,
            region: region.to_owned(),
            keys,
        })
    }

    /// Where calls go.
    pub fn endpoint(&self) -> &str {
        self.endpoint.as_str()
    }

    /// Makes a call.
    ///
    /// # Errors
    /// What EC2 said, or that nothing is known.
    pub async fn call(&self, query: &Query) -> Result<Element, AwsError> {
        let action = query.action();
        let body = query.body();
        let mut request = self.http.post(self.endpoint.clone());
        let headers = self.signed(&body, SystemTime::now());
        for (name, value) in headers.map_err(|source| AwsError::Unsigned { action, source })? {
            request = request.header(name, value);
        }
        let silence = |source: reqwest::Error| match self.way.unsent(FIELD, &self.endpoint, &source)
        {
            Some(why) => AwsError::Unsent { action, why },
            None => AwsError::Silence {
                action,
                source: source.without_url(),
            },
        };
        let answer = request.body(body).send().await.map_err(silence)?;
        let status = answer.status();
        if status.is_redirection() {
            let place = answer.headers().get(LOCATION);
            let place = place.and_then(|place| place.to_str().ok());
            let place = place.unwrap_or("somewhere else").to_owned();
            return Err(AwsError::Moved { action, place });
        }
        let unreadable = |source| AwsError::Unreadable {
            action,
            status: status.as_u16(),
            source,
        };
        let bytes = limited(answer, LARGEST).await.map_err(silence)?;
        let bytes = bytes.ok_or(XmlError::Large).map_err(unreadable)?;
        let tree = Element::parse(&bytes).map_err(unreadable)?;
        if status.is_success() {
            return Ok(tree);
        }
        match Refusal::of(status.as_u16(), &tree) {
            Some(refusal) => Err(AwsError::Refused { action, refusal }),
            None => Err(AwsError::Incomplete {
                action,
                missing: "error code",
            }),
        }
    }

    /// The headers of a request, its signature among them.
    fn signed(
        &self,
        body: &str,
        now: SystemTime,
    ) -> Result<Vec<(String, String)>, Box<dyn std::error::Error + Send + Sync>> {
        let identity = self.keys.identity().into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name("ec2")
            .time(now)
            .settings(SigningSettings::default())
            .build()?;
        let params = SigningParams::from(params);
        let plain = [("host", self.host.as_str()), ("content-type", FORM)];
        // The digest stands for the body, which the signer would write to a trace.
        let digest = Sha256::digest(body.as_bytes());
        let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let request = SignableRequest::new(
            "POST",
            self.endpoint.as_str(),
            plain.into_iter(),
            SignableBody::Precomputed(digest),
        )?;
        let (instructions, _) = sign(request, &params)?.into_parts();
        let own = instructions
            .headers()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut headers: Vec<(String, String)> = own.collect();
        headers.push(("content-type".to_owned(), FORM.to_owned()));
        Ok(headers)
    }
}

/// The body, unless it is larger than that.
async fn limited(answer: Response, most: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut bytes = Vec::new();
    let mut parts = answer.bytes_stream();
    while let Some(part) = parts.next().await {
        let part = part?;
        if bytes.len() + part.len() > most {
            return Ok(None);
        }
        bytes.extend_from_slice(&part);
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use machinist_core::provider::Credentials;

    use super::*;

    fn keys() -> Keys {
        let held = BTreeMap::from([
            ("access-key-id".to_owned(), b"AKIDEXAMPLE".to_vec()),
            (
                "secret-access-key".to_owned(),
                b"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_vec(),
            ),
            ("session-token".to_owned(), b"a-session".to_vec()),
        ]);
        Keys::of(&Credentials::new(held)).unwrap()
    }

    #[test]
    fn endpoints_are_names_or_urls_and_never_in_the_clear() {
        let check = |endpoint: &str| {
            Client::new(endpoint, "eu-west-1", keys(), Way::default())
                .map(|client| client.endpoint().to_owned())
        };
        let good = check("ec2.eu-west-1.amazonaws.com").unwrap();
        assert_eq!(good, "https://ec2.eu-west-1.amazonaws.com/");
        assert!(check("http://127.0.0.1:5000").is_ok());
        for bad in [
            "http://ec2.example.com",
            "ftp://x",
            "https://u:p@x",
            "https://",
            "a b",
            "169.254.169.254",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_request_is_signed_for_its_body_host_and_time() {
        let client = Client::new(
            "ec2.eu-west-1.amazonaws.com",
            "eu-west-1",
            keys(),
            Way::default(),
        )
        .unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        let sign = |body: &str| -> BTreeMap<String, String> {
            client.signed(body, at).unwrap().into_iter().collect()
        };
        let headers = sign("Action=A");
        assert_eq!(headers["x-amz-date"], "20150830T123600Z");
        assert_eq!(headers["x-amz-security-token"], "a-session");
        let authorization = &headers["authorization"];
        let scope = "Credential=AKIDEXAMPLE/20150830/eu-west-1/ec2/aws4_request";
        assert!(authorization.contains(scope), "{authorization}");
        let covered = "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token";
        assert!(authorization.contains(covered), "{authorization}");
        assert_ne!(authorization, &sign("Action=B")["authorization"]);
        let shown = format!("{client:?} {headers:?}");
        assert!(!shown.contains("wJalr"), "{shown}");
    }
}
