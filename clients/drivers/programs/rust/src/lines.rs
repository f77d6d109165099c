//! Requests are read from one file descriptor, answers and events are written to another, one JSON object a line
//! (docs/drivers.md).

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::FromRawFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

const PROTOCOL: u32 = 2;
const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// The descriptor that answers and events are written to. Any thread may write.
#[derive(Clone)]
pub struct Lines(Arc<Mutex<File>>);

impl Lines {
    fn write(&self, line: Value) {
        let mut file = self.0.lock().unwrap();
        if file.write_all(format!("{line}\n").as_bytes()).is_err() {
            std::process::exit(0); // nobody listens any more
        }
    }

    pub fn event(&self, handle: &str, event: &str, mut fields: Value) {
        fields["event"] = json!(event);
        fields["handle"] = json!(handle);
        self.write(fields);
    }

    pub fn answer(&self, id: u64, result: Result<Value, Failure>) {
        match result {
            Ok(value) => self.write(json!({"id": id, "ok": value})),
            Err(failure) => self.write(json!({"id": id, "error": failure.0})),
        }
    }
}

/// An error as an answer has it.
pub struct Failure(pub Value);

impl Failure {
    pub fn named(name: &str, message: &str) -> Self {
        Failure(json!({"name": name, "message": message}))
    }
}

/// `None`: the call is answered later.
pub type Done = Result<Option<Value>, Failure>;

pub struct Call {
    pub id: u64,
    pub verb: String,
    pub handle: String,
    fields: Map<String, Value>,
}

impl Call {
    pub fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or("")
    }

    pub fn number(&self, name: &str) -> Option<i64> {
        self.fields.get(name).and_then(Value::as_i64)
    }

    pub fn list(&self, name: &str) -> Option<&Vec<Value>> {
        self.fields.get(name).and_then(Value::as_array)
    }

    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let text = self.fields.get(name)?.as_str()?;
        Some(BASE64_STANDARD.decode(text).expect("base64"))
    }

    pub fn config(&self) -> impl Iterator<Item = (&str, String)> {
        self.fields["config"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| {
                (
                    name.as_str(),
                    value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_string),
                )
            })
    }

    pub fn timeout(&self) -> Duration {
        let ms = self.fields.get("timeout_ms").and_then(Value::as_u64);
        Duration::from_millis(ms.unwrap_or(DEFAULT_TIMEOUT_MS))
    }

    pub fn unsupported(&self) -> Failure {
        let message = format!("{:?} has no verb {}", self.handle, self.verb);
        Failure::named("unsupported", &message)
    }
}

pub fn encoded(bytes: Option<&[u8]>) -> Option<String> {
    bytes.map(|bytes| BASE64_STANDARD.encode(bytes))
}

/// A client of the library under test. It is closed when it is dropped, after the verb `close`.
pub trait Handle {
    fn call(&self, call: &Call) -> Done;
}

/// Makes a handle, from `open`.
pub type Open = fn(&Call, Lines) -> Result<Box<dyn Handle>, Failure>;

/// Serves until the requests end. Each handle has a thread, which makes its calls one after the other. To calls
/// of the verbs in `untimed` the client gives no timeout of its own.
pub fn serve(client: &str, capabilities: &[&str], settings: Value, untimed: &[&str], open: Open) {
    let lines = Lines(Arc::new(Mutex::new(descriptor(
        "MOCKBROKER_DRIVER_ANSWERS",
    ))));
    lines.write(json!({
        "event": "hello", "protocol": PROTOCOL, "client": client, "capabilities": capabilities,
        "settings": settings, "untimed": untimed,
    }));
    let mut handles: HashMap<String, Sender<Call>> = HashMap::new();
    for line in BufReader::new(descriptor("MOCKBROKER_DRIVER_REQUESTS")).lines() {
        let Ok(Value::Object(fields)) = serde_json::from_str(&line.expect("readable")) else {
            panic!("a request is a JSON object");
        };
        let text = |name: &str| {
            fields
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_string()
        };
        let (verb, handle) = (text("do"), text("handle"));
        let id = fields["id"].as_u64().expect("an id");
        let closes = verb == "close";
        let calls = handles.entry(handle.clone()).or_insert_with(|| {
            let (sender, receiver) = channel();
            let lines = lines.clone();
            std::thread::spawn(move || run(receiver, lines, open));
            sender
        });
        calls
            .send(Call {
                id,
                verb,
                handle: handle.clone(),
                fields,
            })
            .expect("its thread waits for calls");
        if closes {
            handles.remove(&handle);
        }
    }
    std::process::exit(0); // whatever a client's threads do
}

fn run(calls: Receiver<Call>, lines: Lines, open: Open) {
    let mut handle: Option<Box<dyn Handle>> = None;
    for call in calls {
        let done = match (&handle, call.verb.as_str()) {
            (_, "open") => open(&call, lines.clone()).map(|opened| {
                handle = Some(opened);
                Some(json!({}))
            }),
            (Some(handle), _) => handle.call(&call),
            (None, _) => Err(call.unsupported()),
        };
        if call.verb == "close" {
            handle = None;
        }
        if let Some(result) = done.transpose() {
            lines.answer(call.id, result);
        }
    }
}

fn descriptor(name: &str) -> File {
    let number = std::env::var(name).ok().and_then(|text| text.parse().ok());
    let number = number.unwrap_or_else(|| panic!("{name}: the number of a file descriptor"));
    unsafe { File::from_raw_fd(number) }
}
