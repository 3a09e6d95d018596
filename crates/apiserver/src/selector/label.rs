//! Label selectors in the full set-based syntax: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`.

use serde_json::Value;

use crate::resource::names;

#[derive(Debug, Clone, PartialEq)]
enum Operator {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
    GreaterThan(i64),
    LessThan(i64),
}

#[derive(Debug, Clone, PartialEq)]
struct Requirement {
    key: String,
    operator: Operator,
}

/// A conjunction of label requirements.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LabelSelector(Vec<Requirement>);

impl LabelSelector {
    /// Reads a selector; the error is the sentence for the client.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let tokens = tokens(text);
        let mut parser = Parser {
            tokens: &tokens,
            at: 0,
        };
        let mut requirements = Vec::new();
        if parser.peek().is_none() {
            return Ok(Self(requirements));
        }
        if !matches!(parser.peek(), Some(Token::Word(_) | Token::Not)) {
            return Err(format!(
                "found '{}', expected: !, identifier, or 'end of string'",
                shown(parser.next())
            ));
        }
        loop {
            let requirement = parser.requirement();
            requirements
                .push(requirement.map_err(|why| format!("unable to parse requirement: {why}"))?);
            match parser.next() {
                None => return Ok(Self(requirements)),
                Some(Token::Comma) => {
                    if !matches!(parser.peek(), Some(Token::Word(_) | Token::Not)) {
                        let found = shown(parser.next());
                        return Err(format!("found '{found}', expected: identifier after ','"));
                    }
                }
                Some(other) => {
                    return Err(format!("found '{other}', expected: ',' or 'end of string'"));
                }
            }
        }
    }

    /// A selector in the form of an object, with `matchLabels` and `matchExpressions`; what is
    /// malformed selects nothing.
    pub(crate) fn of_object(object: &Value) -> Self {
        let labels = object["matchLabels"].as_object().into_iter().flatten();
        let mut requirements: Vec<Requirement> = labels
            .map(|(key, value)| Requirement {
                key: key.clone(),
                operator: Operator::In(vec![value.as_str().unwrap_or_default().to_owned()]),
            })
            .collect();
        let expressions = object["matchExpressions"].as_array().into_iter().flatten();
        requirements.extend(expressions.map(|expression| {
            let values = expression["values"].as_array().into_iter().flatten();
            let values = values
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect();
            let operator = match expression["operator"].as_str() {
                Some("In") => Operator::In(values),
                Some("NotIn") => Operator::NotIn(values),
                Some("Exists") => Operator::Exists,
                Some("DoesNotExist") => Operator::DoesNotExist,
                _ => Operator::In(Vec::new()),
            };
            Requirement {
                key: expression["key"].as_str().unwrap_or_default().to_owned(),
                operator,
            }
        }));
        Self(requirements)
    }

    /// Whether there is no requirement.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether these labels meet every requirement.
    pub(crate) fn matches(&self, labels: Option<&Value>) -> bool {
        self.0.iter().all(|requirement| {
            let value = labels
                .and_then(|l| l.get(&requirement.key))
                .and_then(Value::as_str);
            let number = || value.and_then(|v| v.parse::<i64>().ok());
            match &requirement.operator {
                Operator::In(values) => value.is_some_and(|v| values.iter().any(|x| x == v)),
                Operator::NotIn(values) => value.is_none_or(|v| values.iter().all(|x| x != v)),
                Operator::Exists => value.is_some(),
                Operator::DoesNotExist => value.is_none(),
                Operator::GreaterThan(limit) => number().is_some_and(|n| n > *limit),
                Operator::LessThan(limit) => number().is_some_and(|n| n < *limit),
            }
        })
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Comma,
    Open,
    Close,
    Equals(&'static str),
    NotEquals,
    Not,
    Greater,
    Less,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Word(word) => word,
            Self::Comma => ",",
            Self::Open => "(",
            Self::Close => ")",
            Self::Equals(sign) => sign,
            Self::NotEquals => "!=",
            Self::Not => "!",
            Self::Greater => ">",
            Self::Less => "<",
        })
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let token = match c {
            c if c.is_whitespace() => continue,
            ',' => Token::Comma,
            '(' => Token::Open,
            ')' => Token::Close,
            '>' => Token::Greater,
            '<' => Token::Less,
            '=' if chars.next_if_eq(&'=').is_some() => Token::Equals("=="),
            '=' => Token::Equals("="),
            '!' if chars.next_if_eq(&'=').is_some() => Token::NotEquals,
            '!' => Token::Not,
            c => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| {
                    !c.is_whitespace() && !matches!(c, ',' | '(' | ')' | '>' | '<' | '=' | '!')
                }) {
                    word.push(c);
                }
                Token::Word(word)
            }
        };
        out.push(token);
    }
    out
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let negated = self.peek() == Some(&Token::Not);
        if negated {
            self.at += 1;
        }
        let key = match self.next() {
            Some(Token::Word(word)) => word,
            Some(other) => {
                return Err(format!("found '{other}', expected: identifier"));
            }
            None => return Err("found '', expected: identifier".into()),
        };
        check_key(&key)?;
        if negated {
            return Ok(Requirement {
                key,
                operator: Operator::DoesNotExist,
            });
        }
        let operator = match self.peek().cloned() {
            None | Some(Token::Comma) => Operator::Exists,
            Some(Token::Equals(_)) => Operator::In(vec![self.value(&key)?]),
            Some(Token::NotEquals) => Operator::NotIn(vec![self.value(&key)?]),
            Some(Token::Greater) => Operator::GreaterThan(self.number(&key)?),
            Some(Token::Less) => Operator::LessThan(self.number(&key)?),
            Some(Token::Word(word)) if word == "in" => Operator::In(self.set(&key)?),
            Some(Token::Word(word)) if word == "notin" => Operator::NotIn(self.set(&key)?),
            Some(other) => {
                return Err(format!(
                    "found '{other}', expected: in, notin, =, ==, !=, gt, lt"
                ));
            }
        };
        Ok(Requirement { key, operator })
    }

    fn value(&mut self, key: &str) -> Result<String, String> {
        self.at += 1;
        match self.peek().cloned() {
            // `a=` asks for an empty value.
            None | Some(Token::Comma) => Ok(String::new()),
            Some(Token::Word(word)) => {
                self.at += 1;
                check_value(key, 0, &word)?;
                Ok(word)
            }
            Some(other) => Err(format!("found '{other}', expected: identifier")),
        }
    }

    fn number(&mut self, key: &str) -> Result<i64, String> {
        let word = self.value(key)?;
        word.parse().map_err(|_| {
            let why = "for 'Gt', 'Lt' operators, the value must be an integer";
            format!("values[0]: Invalid value: {word:?}: {why}")
        })
    }

    fn set(&mut self, key: &str) -> Result<Vec<String>, String> {
        self.at += 1;
        match self.next() {
            Some(Token::Open) => {}
            other => return Err(format!("found '{}' expected: '('", shown(other))),
        }
        let mut values = vec![String::new()];
        loop {
            match self.next() {
                Some(Token::Close) => return Ok(values),
                Some(Token::Comma) => values.push(String::new()),
                Some(Token::Word(word)) => {
                    check_value(key, values.len() - 1, &word)?;
                    if let Some(last) = values.last_mut() {
                        *last = word;
                    }
                }
                other => {
                    let found = shown(other);
                    return Err(format!("found '{found}', expected: ',', ')' or identifier"));
                }
            }
        }
    }
}

fn shown(token: Option<Token>) -> String {
    token.map(|t| t.to_string()).unwrap_or_default()
}

fn check_key(key: &str) -> Result<(), String> {
    refuse("<nil>", key, &names::qualified(key))
}

fn check_value(key: &str, at: usize, value: &str) -> Result<(), String> {
    refuse(
        &format!("values[{at}][{key}]"),
        value,
        &names::label_value(value),
    )
}

fn refuse(place: &str, value: &str, why: &[String]) -> Result<(), String> {
    let complaints: Vec<String> = why
        .iter()
        .map(|why| format!("{place}: Invalid value: {value:?}: {why}"))
        .collect();
    match complaints.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn matching() {
        let labels =
            json!({"app": "web", "tier": "front", "n": "5", "example.com/x": "y", "empty": ""});
        for (text, expected) in [
            ("", true),
            ("app=web", true),
            ("app==web,tier!=back", true),
            ("app in (web, db)", true),
            ("app notin (web)", false),
            ("missing notin (web)", true),
            ("missing!=x", true),
            ("app", true),
            ("!app", false),
            ("!missing", true),
            ("n>4,n<6", true),
            ("n>5", false),
            ("example.com/x=y", true),
            ("empty=", true),
            ("app=", false),
            ("in in (a)", false),
        ] {
            let selector = LabelSelector::parse(text).unwrap();
            assert_eq!(selector.matches(Some(&labels)), expected, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "=a", "a in b", "a in (b", "a b", "a=b=c", ",", "a,,b", "a>x", "-a=b", "a=b!",
        ] {
            assert!(LabelSelector::parse(text).is_err(), "{text}");
        }
    }
}
