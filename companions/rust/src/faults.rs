use std::time::Duration;

use serde_json::{json, Value};

use crate::http::encode;
use crate::{Cluster, Fault};

/// A fault that is in force.
#[derive(Debug)]
pub struct AddedFault<'c> {
    cluster: &'c Cluster,
    name: String,
}

impl Cluster {
    /// Lets something go wrong from now on. The test fails if that never happens, unless the fault is `optional`.
    #[track_caller]
    pub fn add_fault(&self, fault: Fault) -> AddedFault<'_> {
        let added = self.must("POST", "/faults", Value::Object(fault.given));
        AddedFault { cluster: self, name: text(&added, "name") }
    }

    /// Removes all faults. If one of them never fired by then, the test fails.
    #[track_caller]
    pub fn clear_faults(&self) -> Value {
        self.keep_unfired(self.shown_faults());
        self.must("DELETE", "/faults", json!({}))
    }
}

impl AddedFault<'_> {
    /// What it was called, or its number.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many requests it has acted on.
    #[track_caller]
    pub fn hits(&self) -> u64 {
        self.shown()["hits"].as_u64().unwrap_or_default()
    }

    /// Returns once it has acted on so many requests; panics if that takes more than ten seconds.
    #[track_caller]
    pub fn wait(&self, hits: u64) {
        self.wait_timeout(hits, Duration::from_secs(10));
    }

    /// Returns once it has acted on so many requests; panics if that takes longer.
    #[track_caller]
    pub fn wait_timeout(&self, hits: u64, timeout: Duration) {
        self.ask("GET", "/wait", json!({"hits": hits, "timeout": timeout.as_secs_f64()}));
    }

    /// Holds every request that matches it, until `release`.
    #[track_caller]
    pub fn pause(&self) {
        self.ask("POST", "/pause", json!({}));
    }

    /// Lets go of the requests that it holds, and holds none from now on.
    #[track_caller]
    pub fn release(&self) {
        self.ask("POST", "/release", json!({}));
    }

    /// Takes it out of force. If it never fired by then, the test fails.
    #[track_caller]
    pub fn remove(self) {
        self.cluster.keep_unfired([self.shown()]);
        self.ask("DELETE", "", json!({}));
    }

    /// Panics if it never fired, unless it is `optional`.
    #[track_caller]
    pub fn assert_fired(&self) {
        if let Some(told) = unfired(&self.shown()) {
            panic!("{told}");
        }
    }

    #[track_caller]
    fn shown(&self) -> Value {
        self.ask("GET", "", json!({}))
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, values: Value) -> Value {
        let name = encode(&Value::from(self.name.as_str()));
        self.cluster.must(method, &format!("/faults/{name}{path}"), values)
    }
}

/// What a test fails of, if a fault never fired and had to.
pub(crate) fn unfired(fault: &Value) -> Option<String> {
    let never = fault["hits"] == 0 && fault["optional"] != true;
    never.then(|| format!("fault {} never fired: {}", text(fault, "name"), text(fault, "why")))
}

pub(crate) fn text(of: &Value, field: &str) -> String {
    of[field].as_str().unwrap_or_default().to_owned()
}
