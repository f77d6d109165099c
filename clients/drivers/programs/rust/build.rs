//! Tells the program which version of rdkafka it is built with.

use std::fs;

fn main() {
    let locked = fs::read_to_string("Cargo.lock").expect("Cargo.lock");
    let rest = locked
        .split("name = \"rdkafka\"\nversion = \"")
        .nth(1)
        .expect("rdkafka in Cargo.lock");
    println!(
        "cargo::rustc-env=RDKAFKA={}",
        rest.split('"').next().unwrap_or_default()
    );
    println!("cargo::rerun-if-changed=Cargo.lock");
}
