//! The one `mockbroker serve` that lends clusters to all tests of this program. It ends when its stdin closes, which
//! happens when this program ends in any way.

use std::env;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use serde_json::Value;

use crate::Error;

/// The version of docs/process.md that this crate follows.
const CONTRACT: i64 = 1;
const OPTIONS: [&str; 10] =
    ["serve", "--brokers", "1", "--log", "json", "--port", "0", "--control", "0", "--until-stdin-closes"];

struct Process {
    control_url: String,
    /// Has its stdin, which stays open.
    _child: Child,
}

/// The address of its control API. The first test that wants a cluster starts it.
pub(crate) fn control_url() -> Result<&'static str, Error> {
    static SHARED: OnceLock<Result<Process, Error>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| {
        let named = env::var("MOCKBROKER").ok().filter(|path| !path.is_empty());
        start(named.as_deref().unwrap_or("mockbroker"))
    });
    shared.as_ref().map(|process| process.control_url.as_str()).map_err(Error::clone)
}

fn start(path: &str) -> Result<Process, Error> {
    let mut command = Command::new(path);
    command.args(OPTIONS).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| missing(path, &error))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) = (BufReader::new(stdout.expect("a pipe")), stderr.expect("a pipe"));
    let mut line = String::new();
    stdout.read_line(&mut line).map_err(Error::ended)?;
    if line.is_empty() {
        let mut said = String::new();
        stderr.read_to_string(&mut said).map_err(Error::ended)?;
        child.wait().map_err(Error::ended)?;
        return Err(Error::new(format!("{path} did not start: {}", said.trim())));
    }
    // The cluster stands still while a pipe is full and nobody reads it.
    thread::spawn(move || io::copy(&mut stdout, &mut io::sink()));
    thread::spawn(move || io::copy(&mut stderr, &mut io::sink()));
    let control_url = read(path, &line)?;
    Ok(Process { control_url, _child: child })
}

fn read(path: &str, line: &str) -> Result<String, Error> {
    let first: Value = serde_json::from_str(line).unwrap_or_default();
    let (contract, version) = (first["contract"].as_i64(), first["version"].as_str().unwrap_or_default());
    match (contract, first["control_url"].as_str()) {
        (Some(CONTRACT), Some(url)) => Ok(url.to_owned()),
        (Some(older), _) if older < CONTRACT => {
            Err(Error::new(format!("{path}: mockbroker {version} is too old for this crate: update it")))
        }
        (Some(newer), _) if newer > CONTRACT => Err(Error::new(format!(
            "{path}: mockbroker {version} is too new for this crate: update the crate"
        ))),
        _ => Err(Error::new(format!("{path}: its first line is not that of mockbroker: {}", line.trim()))),
    }
}

fn missing(path: &str, error: &io::Error) -> Error {
    let told = if error.kind() == ErrorKind::NotFound { "is not there" } else { "can't be started" };
    Error::new(format!(
        "{path} {told}: install it with `pip install mockbroker`, or set MOCKBROKER to the path of its executable ({error})"
    ))
}
