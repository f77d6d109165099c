use std::fmt;

use serde_json::Value;

/// What mockbroker refuses, in its words, or why there is none.
#[derive(Clone)]
pub struct Error {
    message: String,
    field: Option<String>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { message, field: None }
    }

    pub(crate) fn ended(cause: impl fmt::Display) -> Self {
        Self::new(format!("mockbroker has ended: {cause}"))
    }

    pub(crate) fn refusal(answer: &str) -> Self {
        let refused: Value = serde_json::from_str(answer).unwrap_or_default();
        Self {
            message: refused["error"].as_str().unwrap_or(answer.trim()).to_owned(),
            field: refused["field"].as_str().map(str::to_owned),
        }
    }

    /// The argument that is wrong, if it is known.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// As for users, since `unwrap` and tests that return an error print this one.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
