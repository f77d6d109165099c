//! What cargo prints of tests that fail. These are played by the other tests of this file.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use mockbroker::{Action, Cluster, Fault, Options};

fn cluster() -> Cluster {
    Cluster::start(Options::new().brokers(1).topics([("orders", 1)]))
}

/// Runs the tests of this file that have these names, and are ignored otherwise.
fn these(tests: &[&str]) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--ignored", "--exact"]).args(tests).env_remove("RUST_BACKTRACE");
    command
}

/// What is printed of tests that fail.
fn printed(command: &mut Command) -> String {
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.code(), Some(101), "{said}");
    said
}

/// What is printed of one of those that fail, all of which are played at once.
fn said_by(test: &str) -> &'static str {
    static PRINTED: OnceLock<String> = OnceLock::new();
    let printed = PRINTED.get_or_init(|| printed(&mut these(&FAILING)));
    let (_, rest) = printed.split_once(&format!("---- {test} stdout ----")).expect(printed);
    rest.split("\n---- ").next().unwrap()
}

const FAILING: [&str; 3] = [
    "finds_an_error_with_a_fault_that_never_fired",
    "lets_a_fault_never_fire",
    "stops_a_broker_that_is_not_there",
];

#[test]
#[ignore = "played by another test"]
fn finds_an_error_with_a_fault_that_never_fired() {
    let cluster = cluster();
    cluster.add_fault(Fault::new(Action::Disconnect).api("Produce").nth(3));
    cluster.produce("orders", "order 1");
    panic!("one order is missing");
}

#[test]
fn what_the_test_found_comes_first_and_then_what_happened_last() {
    let said = said_by("finds_an_error_with_a_fault_that_never_fired");
    let found = said.find("one order is missing").expect(said);
    let last = said.find(" orders-0: high watermark 1, ").expect(said);
    assert!(found < last && !said.contains("never fired"), "{said}");
}

#[test]
#[ignore = "played by another test"]
fn lets_a_fault_never_fire() {
    cluster().add_fault(Fault::new(Action::Disconnect).api("Produce"));
}

#[test]
fn a_fault_that_never_fired_is_told_once() {
    let said = said_by("lets_a_fault_never_fire");
    assert_eq!(said.matches("fault 1 never fired: no client sent anything").count(), 1, "{said}");
}

#[test]
#[ignore = "played by another test"]
fn stops_a_broker_that_is_not_there() {
    cluster().stop_broker(9);
}

#[test]
fn a_refusal_is_told_at_the_line_that_asked() {
    let said = said_by("stops_a_broker_that_is_not_there");
    assert!(said.contains("panicked at tests/failing.rs:"), "{said}");
    assert!(said.contains("mockbroker: no broker 9"), "{said}");
}

/// Instead of mockbroker.
fn script(folder: &Path, lines: &str) -> String {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join("mockbroker");
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_is_wrong_with_the_process_is_told_with_what_to_do() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let first_line = |contract| format!("echo '{{\"contract\": {contract}, \"version\": \"9.9\"}}'");
    for (name, lines, told) in [
        ("older", first_line(0), "mockbroker 9.9 is too old for this crate: update it"),
        ("newer", first_line(2), "mockbroker 9.9 is too new for this crate: update the crate"),
        ("another", "echo hello".to_owned(), "its first line is not that of mockbroker: hello"),
        ("failing", "echo no port is free >&2; exit 2".to_owned(), "did not start: no port is free"),
    ] {
        let path = script(&folder.join(name), &lines);
        let said = printed(these(&["lets_a_fault_never_fire"]).env("MOCKBROKER", path));
        assert!(said.contains(told), "{name}: {said}");
    }
    let mut without = these(&["lets_a_fault_never_fire"]);
    let said = printed(without.env_remove("MOCKBROKER").env("PATH", ""));
    assert!(said.contains("pip install mockbroker"), "{said}");
}

/// Without it, who plays all tests that are ignored would wait for ever.
const HELD: &str = "MOCKBROKER_TEST_HELD";

#[test]
#[ignore = "played by another test"]
fn holds_a_cluster() {
    if env::var_os(HELD).is_none() {
        return;
    }
    let held = cluster();
    println!("\n{}", held.control_url());
    thread::park();
}

#[test]
fn nothing_is_left_of_a_test_process_that_was_killed() {
    let mut command = these(&["holds_a_cluster"]);
    command.env(HELD, "1");
    let mut child = command.arg("--nocapture").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.strip_prefix("http://").map(str::to_owned)).expect("an address");
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let address = url.split('/').next().unwrap();
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < deadline, "mockbroker still serves");
        thread::yield_now();
    }
}
