//! Tells the program which version of rskafka it is built with.

use std::fs;

fn main() {
    let locked = fs::read_to_string("Cargo.lock").expect("Cargo.lock");
    let rest = locked
        .split("name = \"rskafka\"\nversion = \"")
        .nth(1)
        .expect("rskafka in Cargo.lock");
    println!(
        "cargo::rustc-env=RSKAFKA={}",
        rest.split('"').next().unwrap_or_default()
    );
    println!("cargo::rerun-if-changed=Cargo.lock");
}
