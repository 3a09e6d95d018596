//! The parameters of one call in EC2's query protocol, and their form in a request's body.
//!
//! What a call means is left to the modules that make it.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The version of the API that every call names.
pub const VERSION: &str = "2016-11-15";

/// Everything but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// One call: its action and its parameters, in the order in which they were given.
#[derive(Clone, PartialEq, Eq)]
pub struct Query {
    action: &'static str,
    parameters: Vec<(String, String)>,
}

impl Query {
    /// A call without parameters.
    pub fn new(action: &'static str) -> Query {
        Query {
            action,
            parameters: Vec::new(),
        }
    }

    /// What is called.
    pub fn action(&self) -> &'static str {
        self.action
    }

    /// Adds a parameter.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Query {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// Adds a parameter that may be absent.
    #[must_use]
    pub fn maybe(self, name: impl Into<String>, value: Option<impl Into<String>>) -> Query {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds `name.1`, `name.2` and so on.
    #[must_use]
    pub fn list<T: Into<String>>(self, name: &str, values: impl IntoIterator<Item = T>) -> Query {
        let numbered = values.into_iter().zip(1..);
        numbered.fold(self, |query, (value, number): (T, u32)| {
            query.with(format!("{name}.{number}"), value)
        })
    }

    /// Adds tags below a prefix: `prefix.1.Key`, `prefix.1.Value` and so on.
    #[must_use]
    pub fn tags<'a>(
        self,
        prefix: &str,
        tags: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Query {
        let numbered = tags.into_iter().zip(1..);
        numbered.fold(self, |query, ((key, value), number): (_, u32)| {
            query
                .with(format!("{prefix}.{number}.Key"), key)
                .with(format!("{prefix}.{number}.Value"), value)
        })
    }

    /// Adds a filter that any of these values passes. EC2 reads `*` and `?` in them as wildcards.
    #[must_use]
    pub fn filter(self, number: u32, name: &str, values: &[&str]) -> Query {
        let named = self.with(format!("Filter.{number}.Name"), name);
        (1..).zip(values).fold(named, |query, (at, value)| {
            query.with(format!("Filter.{number}.Value.{at}"), *value)
        })
    }

    /// The body of the request, as `application/x-www-form-urlencoded`.
    pub fn body(&self) -> String {
        let fixed = [("Action", self.action), ("Version", VERSION)];
        let own = self.parameters.iter();
        let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
        let mut body = String::new();
        for (name, value) in fixed.into_iter().chain(own) {
            if !body.is_empty() {
                body.push('&');
            }
            body.extend(utf8_percent_encode(name, RESERVED));
            body.push('=');
            body.extend(utf8_percent_encode(value, RESERVED));
        }
        body
    }
}

/// Values are not shown: user data may hold secrets.
impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.parameters.iter().map(|(name, _)| name);
        f.write_str(self.action)?;
        f.debug_set().entries(names).finish()
    }
}

#[cfg(test)]
mod tests {
    use percent_encoding::percent_decode_str;
    use proptest::prelude::*;

    use super::*;

    fn decoded(body: &str) -> Vec<(String, String)> {
        let text = |part: &str| percent_decode_str(part).decode_utf8().unwrap().into_owned();
        let pairs = body.split('&');
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap());
        pairs
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    #[test]
    fn a_call_is_written_as_the_protocol_wants_it() {
        let query = Query::new("DescribeInstances")
            .filter(1, "tag:a b", &["c&d", "e"])
            .list("InstanceId", ["i-1", "i-2"])
            .maybe("NextToken", None::<String>);
        assert_eq!(
            query.body(),
            "Action=DescribeInstances&Version=2016-11-15&Filter.1.Name=tag%3Aa%20b\
             &Filter.1.Value.1=c%26d&Filter.1.Value.2=e&InstanceId.1=i-1&InstanceId.2=i-2"
        );
    }

    #[test]
    fn values_are_not_shown() {
        let query = Query::new("RunInstances").with("UserData", "c2VjcmV0");
        assert_eq!(format!("{query:?}"), r#"RunInstances{"UserData"}"#);
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_what_arrives(pairs in proptest::collection::vec((".*", ".*"), 0..6)) {
            let all = pairs.iter().fold(Query::new("A"), |q, (n, v)| q.with(n, v));
            let body = all.body();
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~%&=".contains(&b);
            prop_assert!(body.bytes().all(plain), "{}", body);
            prop_assert_eq!(&decoded(&body)[2..], &pairs[..]);
        }
    }
}
