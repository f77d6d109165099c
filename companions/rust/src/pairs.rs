//! Objects of JSON, from pairs.

use serde_json::{Map, Value};

pub(crate) fn texts(given: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Value {
    given
        .into_iter()
        .map(|(name, text)| (name.into(), Value::String(text.into())))
        .collect::<Map<_, _>>()
        .into()
}

pub(crate) fn numbers(given: impl IntoIterator<Item = (impl Into<String>, i32)>) -> Value {
    given.into_iter().map(|(name, number)| (name.into(), Value::from(number))).collect::<Map<_, _>>().into()
}

/// The object with one more pair, or another value in it.
pub(crate) fn with(mut given: Map<String, Value>, name: &str, value: impl Into<Value>) -> Map<String, Value> {
    given.insert(name.to_owned(), value.into());
    given
}
