//! What requests ask for, as krafka wants it.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::lines::Call;

impl Call {
    pub fn setting(&self, name: &str) -> Option<String> {
        let found = self.config().find(|(each, _)| *each == name);
        found
            .map(|(_, value)| value)
            .filter(|value| value != "null")
    }

    pub fn is(&self, name: &str, value: &str) -> bool {
        self.setting(name)
            .is_some_and(|given| given.eq_ignore_ascii_case(value))
    }

    pub fn int(&self, name: &str) -> Option<i64> {
        self.setting(name)?.parse().ok()
    }

    /// A setting in ms.
    pub fn duration(&self, name: &str) -> Option<Duration> {
        Some(Duration::from_millis(self.int(name)?.try_into().ok()?))
    }

    pub fn texts(&self, name: &str) -> Vec<&str> {
        let given = self.list(name).into_iter().flatten();
        given.filter_map(Value::as_str).collect()
    }

    /// The place that the request itself is about.
    pub fn place(&self) -> (String, i32, i64) {
        let number = |name| self.number(name).unwrap_or_default();
        (
            self.text("topic").to_string(),
            number("partition") as i32,
            number("offset"),
        )
    }

    /// The headers of a record, with a value or without.
    pub fn headers(&self) -> impl Iterator<Item = (String, Option<Vec<u8>>)> {
        self.list("headers").into_iter().flatten().map(|each| {
            let name = each[0].as_str().unwrap_or_default().to_string();
            let value = each[1].as_str();
            let decoded = value.map(|text| BASE64_STANDARD.decode(text).expect("base64"));
            (name, decoded)
        })
    }

    /// A list of `[topic, partition]` or `[topic, partition, offset]`.
    pub fn places(&self, name: &str) -> impl Iterator<Item = (String, i32, Option<i64>)> {
        self.list(name).into_iter().flatten().map(|each| {
            let topic = each[0].as_str().unwrap_or_default().to_string();
            (
                topic,
                each[1].as_i64().unwrap_or_default() as i32,
                each.get(2).and_then(Value::as_i64),
            )
        })
    }
}
