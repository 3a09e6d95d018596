//! The JSONPath that printer columns are written in: fields, indices and slices, wildcards,
//! unions, filters and recursive descent, by the rules of client-go's `jsonpath`.

mod parse;

use serde_json::Value;

/// A parsed path.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath {
    steps: Vec<Step>,
}

/// Why a path does not parse, or cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonPathError {
    /// The text is no path.
    #[error("{0}")]
    Syntax(String),
    /// The path asks of a value what that value has not.
    #[error("{0}")]
    Evaluation(&'static str),
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Wildcard,
    Recursive,
    Slice(Slice),
    Union(Vec<Vec<Step>>),
    Filter(Box<Filter>),
    /// A constant, which only stands as an operand of a filter.
    Literal(Value),
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Slice {
    start: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
    /// Whether one item was asked for, as `[2]`.
    single: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Filter {
    left: Vec<Step>,
    /// The comparison, or `None` to ask only whether the left side exists.
    compare: Option<(Operator, Vec<Step>)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl JsonPath {
    /// Parses a path such as `.status.conditions[?(@.type=="Ready")].status`.
    ///
    /// # Errors
    /// When the text is no path.
    pub fn parse(text: &str) -> Result<Self, JsonPathError> {
        Ok(Self {
            steps: parse::path(text)?,
        })
    }

    /// Everything that the path leads to; fields that are not there lead to nothing.
    ///
    /// # Errors
    /// When an index is out of bounds, or a list is asked for where there is none.
    pub fn find<'v>(&'v self, value: &'v Value) -> Result<Vec<&'v Value>, JsonPathError> {
        follow(&self.steps, vec![value])
    }
}

type Found<'v> = Result<Vec<&'v Value>, JsonPathError>;

fn follow<'v>(steps: &'v [Step], start: Vec<&'v Value>) -> Found<'v> {
    steps.iter().try_fold(start, |values, step| match step {
        Step::Field(name) => Ok(values
            .into_iter()
            .filter_map(|value| value.get(name))
            .collect()),
        Step::Wildcard => Ok(values.into_iter().flat_map(children).collect()),
        Step::Recursive => Ok(values.into_iter().flat_map(descendants).collect()),
        Step::Literal(value) => Ok(values.into_iter().map(|_| value).collect()),
        Step::Union(paths) => {
            let mut found = Vec::new();
            for path in paths {
                found.extend(follow(path, values.clone())?);
            }
            Ok(found)
        }
        Step::Slice(slice) => {
            let mut found = Vec::new();
            for value in values.into_iter().filter(|value| !value.is_null()) {
                let items = value
                    .as_array()
                    .ok_or(JsonPathError::Evaluation("not a list"))?;
                found.extend(slice.of(items)?);
            }
            Ok(found)
        }
        Step::Filter(filter) => {
            let mut found = Vec::new();
            for value in values {
                let items = value.as_array().ok_or(JsonPathError::Evaluation(
                    "not a list, so it cannot be filtered",
                ))?;
                for item in items {
                    if filter.keeps(item)? {
                        found.push(item);
                    }
                }
            }
            Ok(found)
        }
    })
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(map) => map.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

/// The value itself, if it has children, and every such value below it.
fn descendants(value: &Value) -> Vec<&Value> {
    let below = children(value);
    if below.is_empty() {
        return Vec::new();
    }
    std::iter::once(value)
        .chain(below.into_iter().flat_map(descendants))
        .collect()
}

impl Slice {
    fn of<'v>(&self, items: &'v [Value]) -> Found<'v> {
        let out_of_bounds = JsonPathError::Evaluation("list index out of bounds");
        let length = i64::try_from(items.len()).map_err(|_| out_of_bounds.clone())?;
        let from_end = |index: i64| if index < 0 { index + length } else { index };
        let start = from_end(self.start.unwrap_or(0));
        let end = match self.end {
            _ if self.single => start + 1,
            Some(end) => from_end(end),
            None => length,
        };
        if start == end {
            return Ok(Vec::new());
        }
        let step = self.step.unwrap_or(1);
        if step <= 0 {
            return Err(JsonPathError::Evaluation("step must be > 0"));
        }
        let part = usize::try_from(start)
            .ok()
            .zip(usize::try_from(end).ok())
            .filter(|_| start < length)
            .and_then(|(start, end)| items.get(start..end))
            .ok_or(out_of_bounds)?;
        Ok(part
            .iter()
            .step_by(usize::try_from(step).unwrap_or(usize::MAX))
            .collect())
    }
}

impl Filter {
    fn keeps(&self, item: &Value) -> Result<bool, JsonPathError> {
        let left = follow(&self.left, vec![item]);
        let Some((operator, right)) = &self.compare else {
            return Ok(left.is_ok_and(|found| !found.is_empty()));
        };
        let (left, right) = (left?, follow(right, vec![item])?);
        match (left.as_slice(), right.as_slice()) {
            ([], _) | (_, []) => Ok(false),
            ([left], [right]) => operator.holds(left, right),
            _ => Err(JsonPathError::Evaluation(
                "can only compare one element at a time",
            )),
        }
    }
}

impl Operator {
    fn holds(self, left: &Value, right: &Value) -> Result<bool, JsonPathError> {
        let ordering = match (left, right) {
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Bool(left), Value::Bool(right))
                if matches!(self, Self::Equal | Self::NotEqual) =>
            {
                Some(left.cmp(right))
            }
            (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => Some(left.cmp(&right)),
                (None, None) => left.as_f64().partial_cmp(&right.as_f64()),
                // Integers and floats are not compared with each other, as upstream has it.
                _ => None,
            },
            _ => None,
        };
        let ordering = ordering.ok_or(JsonPathError::Evaluation(
            "incompatible types for comparison",
        ))?;
        Ok(match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterEqual => ordering.is_ge(),
        })
    }
}
