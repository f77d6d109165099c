use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde_json::{json, Map, Value};

use crate::faults::{text, unfired};
use crate::http::{self, encode};
use crate::{process, Error, Options};

/// How many lines of the trace a failed test prints.
const SHOWN_EVENTS: u32 = 50;

/// A Kafka cluster, which is there until it is dropped, or this process ends.
///
/// Dropping it panics if one of its faults never fired, so that the test fails. In a test that panics, it prints hints
/// and what happened last.
#[derive(Debug)]
pub struct Cluster {
    told: Value,
    control_url: String,
    unfired: Mutex<Vec<String>>,
    /// The cluster is there for as long as this connection is open.
    _lease: BufReader<TcpStream>,
}

/// What a log has at an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    pub partition: i32,
    pub offset: i64,
    pub key: Option<String>,
    pub value: Option<String>,
}

/// An offset that a group has committed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    pub topic: String,
    pub partition: i32,
    pub offset: i64,
}

impl Cluster {
    /// One with these options; with `Options::new()`, of the newest release with three brokers. Panics if that can't
    /// be done.
    #[track_caller]
    pub fn start(options: Options) -> Self {
        match Self::try_start(options) {
            Ok(cluster) => cluster,
            Err(error) => panic!("mockbroker: {error}"),
        }
    }

    /// The same, for those who want to see the error.
    pub fn try_start(options: Options) -> Result<Self, Error> {
        let mut given = options.given;
        given.entry("trace").or_insert("requests".into());
        let url = format!("{}/clusters", process::control_url()?);
        let (status, mut lease) = http::open("POST", &url, &Value::Object(given))?;
        let mut line = String::new();
        lease.read_line(&mut line).map_err(Error::ended)?;
        if status != 200 {
            return Err(Error::refusal(&line));
        }
        let told: Value = serde_json::from_str(&line).map_err(Error::ended)?;
        let control_url = text(&told, "control_url");
        Ok(Self { told, control_url, unfired: Mutex::default(), _lease: lease })
    }

    /// The addresses of all brokers with commas between them, as rdkafka's `bootstrap.servers`.
    pub fn bootstrap_servers(&self) -> &str {
        self.told["bootstrap_servers"].as_str().unwrap_or_default()
    }

    /// The addresses of all brokers one by one, as rskafka's `ClientBuilder::new`.
    pub fn addresses(&self) -> Vec<String> {
        self.bootstrap_servers().split(',').map(str::to_owned).collect()
    }

    /// The address of a control API for this cluster alone.
    pub fn control_url(&self) -> &str {
        &self.control_url
    }

    /// Its number within the process.
    pub fn id(&self) -> &str {
        self.told["id"].as_str().unwrap_or_default()
    }

    /// The id that clients are told.
    pub fn cluster_id(&self) -> &str {
        self.told["cluster_id"].as_str().unwrap_or_default()
    }

    /// The release that is acted.
    pub fn kafka(&self) -> &str {
        self.told["kafka"].as_str().unwrap_or_default()
    }

    /// How many brokers there are.
    pub fn brokers(&self) -> i32 {
        number(&self.told, "brokers") as i32
    }

    /// All records of a topic that are stored, by partition and offset; panics if they are more than 1,000.
    #[track_caller]
    pub fn records(&self, topic: &str) -> Vec<Record> {
        let path = format!("/topics/{}/records", encode(&topic.into()));
        let found = list(self.must("GET", &path, json!({})));
        let record = |each: Value| Record {
            partition: number(&each, "partition") as i32,
            offset: number(&each, "offset"),
            key: each["key"].as_str().map(str::to_owned),
            value: each["value"].as_str().map(str::to_owned),
        };
        found.into_iter().map(record).collect()
    }

    /// The offsets that a group has committed.
    #[track_caller]
    pub fn committed(&self, group: &str) -> Vec<Committed> {
        let path = format!("/groups/{}/committed", encode(&group.into()));
        let found = list(self.must("GET", &path, json!({})));
        let committed = |each: Value| Committed {
            topic: text(&each, "topic"),
            partition: number(&each, "partition") as i32,
            offset: number(&each, "offset"),
        };
        found.into_iter().map(committed).collect()
    }

    /// What in the cluster may keep clients from going on.
    #[track_caller]
    pub fn hints(&self) -> Vec<String> {
        lines(self.must("GET", "/hints", json!({})))
    }

    /// The last requests and answers, and what happened in the cluster.
    #[track_caller]
    pub fn trace(&self) -> Vec<Value> {
        list(self.must("GET", "/trace", json!({})))
    }

    /// Asks the control API of this cluster: for `GET` and `/groups/billing` it shows that group.
    pub fn ask(&self, method: &str, path: &str, values: Value) -> Result<Value, Error> {
        http::ask(method, &format!("{}{path}", self.control_url), &values)
    }

    /// The same; panics if it is refused.
    #[track_caller]
    pub(crate) fn must(&self, method: &str, path: &str, values: Value) -> Value {
        match self.ask(method, path, values) {
            Ok(answer) => answer,
            Err(error) => panic!("mockbroker: {error}"),
        }
    }

    /// What is needed goes to its place in the path, or else with the options.
    #[track_caller]
    pub(crate) fn act<const N: usize>(
        &self,
        method: &str,
        path: &str,
        needed: [(&str, Value); N],
        mut options: Map<String, Value>,
    ) -> Value {
        let mut filled = path.to_owned();
        for (name, value) in needed {
            let place = format!("{{{name}}}");
            if path.contains(&place) {
                filled = filled.replace(&place, &encode(&value));
            } else {
                options.insert(name.to_owned(), value);
            }
        }
        self.must(method, &filled, Value::Object(options))
    }

    #[track_caller]
    pub(crate) fn shown_faults(&self) -> Vec<Value> {
        list(self.must("GET", "/faults", json!({})))
    }

    /// Has the test fail at its end if one of these faults, which are about to be removed, never fired.
    pub(crate) fn keep_unfired(&self, faults: impl IntoIterator<Item = Value>) {
        let mut kept = self.unfired.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(faults.into_iter().filter_map(|fault| unfired(&fault)));
    }

    fn never_fired(&self) -> Result<Vec<String>, Error> {
        self.keep_unfired(list(self.ask("GET", "/faults", json!({}))?));
        Ok(self.unfired.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// What a failed test should know, on stderr, as its panic.
    fn review(&self) {
        let last = format!("/trace/last?most={SHOWN_EVENTS}");
        for path in ["/hints", &last] {
            match self.ask("GET", path, json!({})) {
                Ok(found) => lines(found).iter().for_each(|line| eprintln!("mockbroker: {line}")),
                Err(error) => eprintln!("mockbroker: {error}"),
            }
        }
    }
}

impl Drop for Cluster {
    /// What the test itself found comes first, and a second panic would abort all tests.
    fn drop(&mut self) {
        let failed = thread::panicking();
        let found = if failed { Ok(Vec::new()) } else { self.never_fired() };
        let failure = match found {
            Ok(unfired) => unfired.join("\n"),
            Err(error) => format!("mockbroker: {error}"),
        };
        if failed || !failure.is_empty() {
            self.review();
        }
        // It ends with the lease in any case, but its ports are closed once this is answered.
        let _ = self.ask("DELETE", "", json!({}));
        if !failure.is_empty() {
            panic!("{failure}");
        }
    }
}

fn list(found: Value) -> Vec<Value> {
    match found {
        Value::Array(each) => each,
        _ => Vec::new(),
    }
}

fn lines(found: Value) -> Vec<String> {
    list(found).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn number(of: &Value, field: &str) -> i64 {
    of[field].as_i64().unwrap_or_default()
}
