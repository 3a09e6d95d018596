//! A token endpoint that answers as it is told to, and time that passes when it is told to.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;
use crate::shared::http::Reach;

/// What the endpoint was asked, and how many times.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// An endpoint that gives the same answer to everybody, with `#` as the number of the request.
async fn endpoint(answer: &str) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/token", listener.local_addr().unwrap());
    let (asked, answer) = (Asked::default(), answer.to_owned());
    let seen = asked.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            let mut part = [0; 4096];
            while !String::from_utf8_lossy(&request).contains("grant_type=") {
                match stream.read(&mut part).await.unwrap() {
                    0 => break,
                    count => request.extend_from_slice(&part[..count]),
                }
            }
            let number = {
                let mut all = seen.0.lock().unwrap();
                all.push(String::from_utf8_lossy(&request).into_owned());
                all.len()
            };
            if answer == "hang" {
                std::mem::forget(stream);
                continue;
            }
            let answer = answer.replace('#', &number.to_string());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (url, asked)
}

fn http(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// An answer with a token; its number is that of the request, of one digit.
fn grant(expires_in: &Value) -> String {
    let body = json!({"access_token": "t#", "token_type": "Bearer", "expires_in": expires_in});
    http("200 OK", "", &body.to_string())
}

fn client(url: &str) -> OAuth2 {
    OAuth2 {
        client: "me & you".into(),
        secret: Confidential::new("s3cr3t:/"),
        url: url.into(),
        scopes: vec!["read".into(), "write".into()],
    }
}

/// Tokens, and the seconds that have passed.
fn tokens(url: &str) -> (Tokens, Arc<AtomicU64>) {
    let passed = Arc::<AtomicU64>::default();
    let (began, seconds) = (Instant::now(), passed.clone());
    let now = move || began + Duration::from_secs(seconds.load(Ordering::SeqCst));
    let tokens = Tokens::with_time(client(url), Way::default(), Arc::new(now)).unwrap();
    (tokens, passed)
}

async fn text(tokens: &Tokens) -> String {
    tokens.token().await.unwrap().reveal().to_owned()
}

#[tokio::test]
async fn a_token_is_used_while_it_lasts_and_replaced_ahead_of_its_end() {
    let (url, asked) = endpoint(&grant(&json!(1000))).await;
    let (tokens, passed) = tokens(&url);
    assert_eq!(tokens.lasts(), None);
    for _ in 0..3 {
        assert_eq!(text(&tokens).await, "t1");
    }
    assert_eq!(tokens.lasts(), Some(Duration::from_secs(1000)));
    passed.store(799, Ordering::SeqCst);
    assert_eq!(text(&tokens).await, "t1");
    passed.store(800, Ordering::SeqCst);
    assert_eq!(text(&tokens).await, "t2", "before the first has ended");
    assert_eq!(asked.count(), 2);
    let request = asked.0.lock().unwrap()[0].clone();
    // base64 of "me%20%26%20you:s3cr3t%3A%2F"
    let basic = "authorization: Basic bWUlMjAlMjYlMjB5b3U6czNjcjN0JTNBJTJG";
    assert!(request.contains(basic), "{request}");
    assert!(request.ends_with("grant_type=client_credentials&scope=read%20write"));
    let shown = format!("{tokens:?} {:?}", client(&url));
    assert!(
        !shown.contains("s3cr3t") && !shown.contains("t2"),
        "{shown}"
    );
}

#[tokio::test]
async fn many_callers_fetch_one_token() {
    let (url, asked) = endpoint(&grant(&json!(1000))).await;
    let (tokens, _) = tokens(&url);
    let all = futures::future::join_all((0..50).map(|_| text(&tokens))).await;
    assert!(all.iter().all(|token| token == "t1"));
    assert_eq!(asked.count(), 1);
}

#[tokio::test]
async fn what_is_said_of_a_lifetime_is_believed_within_reason() {
    let day = 24 * 60 * 60;
    let cases = [
        (json!(0), 30),
        (json!(-5), 30),
        (json!(1e300), day),
        (json!(u64::MAX), day),
        (json!("600"), 600),
        (json!("soon"), 300),
        (json!(null), 300),
        (json!([1]), 300),
        (json!(3600.5), 3600),
    ];
    for (said, expected) in cases {
        assert_eq!(lifetime(Some(&said)).as_secs(), expected, "{said}");
    }
    assert_eq!(lifetime(None).as_secs(), 300);
    // A token that is said to have ended already is no reason to ask for one with each call.
    let (url, asked) = endpoint(&grant(&json!(0))).await;
    let (tokens, _) = tokens(&url);
    for _ in 0..20 {
        text(&tokens).await;
    }
    assert_eq!(asked.count(), 1);
}

#[tokio::test]
async fn a_token_that_the_platform_refuses_is_replaced_but_not_with_each_call() {
    let (url, asked) = endpoint(&grant(&json!(86400))).await;
    let (tokens, passed) = tokens(&url);
    let first = tokens.token().await.unwrap();
    for _ in 0..5 {
        tokens.refused(&first);
        assert_eq!(text(&tokens).await, "t1", "it has only just come");
    }
    passed.store(11, Ordering::SeqCst);
    tokens.refused(&first);
    assert_eq!(text(&tokens).await, "t2");
    tokens.refused(&first);
    assert_eq!(text(&tokens).await, "t2", "the old one is not the new one");
    assert_eq!(asked.count(), 2);
}

#[tokio::test]
async fn a_token_that_lasts_is_used_while_the_endpoint_fails() {
    let (url, asked) = endpoint(&grant(&json!(1000))).await;
    let (tokens, passed) = tokens(&url);
    assert_eq!(text(&tokens).await, "t1");
    // From now on its answers are of no use.
    let broken = Tokens(Arc::new(Inner {
        oauth2: client(&url),
        url: endpoint(&http("500 No", "", "")).await.0.parse().unwrap(),
        way: Way::default(),
        http: reqwest::Client::new(),
        now: tokens.0.now.clone(),
        held: Mutex::new(tokens.0.held().clone()),
        fetching: tokio::sync::Mutex::default(),
    }));
    passed.store(900, Ordering::SeqCst);
    assert_eq!(text(&broken).await, "t1");
    passed.store(1000, Ordering::SeqCst);
    let error = broken.token().await.unwrap_err();
    assert_eq!(error.reason(), "ProviderUnreachable");
    assert_eq!(asked.count(), 1);
}

#[tokio::test]
async fn bad_answers_are_told_apart_and_no_secret_is_told() {
    let location = "location: http://169.254.169.254/latest\r\n";
    let cases = [
        (
            http("200 OK", "", "<html>welcome</html>"),
            "ProviderUnreachable",
            "no JSON object",
        ),
        (
            http("200 OK", "", "{}"),
            "ProviderUnreachable",
            "no access_token",
        ),
        (
            http("200 OK", "", r#"{"access_token": "a\r\nb"}"#),
            "ProviderUnreachable",
            "can be sent",
        ),
        (
            http(
                "200 OK",
                "",
                r#"{"access_token": "a", "token_type": "mac"}"#,
            ),
            "ProviderUnreachable",
            "bearer",
        ),
        (
            http("302 Found", location, ""),
            "Rejected",
            "redirects to http://169.254.169.254/latest",
        ),
        (
            http(
                "401 No",
                "",
                r#"{"error": "invalid_client", "error_description": "s3cr3t:/"}"#,
            ),
            "CredentialsRefused",
            "invalid_client",
        ),
        (
            http("400 No", "", r#"{"error": "invalid_scope"}"#),
            "Rejected",
            "spec.authentication.oauth2.scopes",
        ),
        (http("403 No", "", "no"), "CredentialsRefused", "status 403"),
        (
            http("404 No", "", "no"),
            "ProviderUnreachable",
            "status 404",
        ),
        (
            http("503 No", "", "no"),
            "ProviderUnreachable",
            "status 503",
        ),
        (
            http("429 No", "retry-after: 7\r\n", ""),
            "Throttled",
            "fewer tokens",
        ),
        (
            "garbage\r\n\r\n".into(),
            "ProviderUnreachable",
            "for a token",
        ),
        (
            http("200 OK", "", &"x".repeat(LARGEST + 1)),
            "ProviderUnreachable",
            "no JSON object",
        ),
    ];
    for (answer, reason, words) in cases {
        let (url, _) = endpoint(&answer).await;
        let (tokens, _) = tokens(&url);
        let error = tokens.token().await.unwrap_err();
        let told = format!("{error}: {:?}", std::error::Error::source(&error));
        assert_eq!(error.reason(), reason, "{told}");
        assert!(told.contains(words), "{words} is not in {told}");
        assert!(!told.contains("s3cr3t"), "{told}");
        if let ProviderError::Throttled { retry_after, .. } = error {
            assert_eq!(retry_after, Some(Duration::from_secs(7)));
        }
    }
}

#[tokio::test]
async fn an_endpoint_that_hangs_is_given_up() {
    let (url, asked) = endpoint("hang").await;
    let (mut tokens, _) = tokens(&url);
    let inner = Arc::get_mut(&mut tokens.0).unwrap();
    inner.http = reqwest::Client::builder()
        .timeout(Duration::from_millis(200))
        .build()
        .unwrap();
    let error = tokens.token().await.unwrap_err();
    assert_eq!(error.reason(), "ProviderUnreachable");
    assert_eq!(asked.count(), 1);
}

#[test]
fn secrets_are_sent_nowhere_in_the_clear_and_to_no_metadata_service() {
    for url in [
        "http://tokens.example.com/token",
        "https://169.254.169.254/token",
        "https://metadata.google.internal/token",
        "nonsense url",
    ] {
        let error = Tokens::new(client(url), Way::default()).unwrap_err();
        assert_eq!(error.reason(), "Rejected", "{url}");
        assert!(error.to_string().contains(FIELD), "{error}");
    }
    let mut anywhere = Way::default();
    anywhere.reach = Reach::Anywhere;
    assert!(Tokens::new(client("https://169.254.169.254/token"), anywhere).is_ok());
}
