//! Tells the program which version of krafka it is built with.

use std::fs;

fn main() {
    let locked = fs::read_to_string("Cargo.lock").expect("Cargo.lock");
    let rest = locked
        .split("name = \"krafka\"\nversion = \"")
        .nth(1)
        .expect("krafka in Cargo.lock");
    println!(
        "cargo::rustc-env=KRAFKA={}",
        rest.split('"').next().unwrap_or_default()
    );
    println!("cargo::rerun-if-changed=Cargo.lock");
}
