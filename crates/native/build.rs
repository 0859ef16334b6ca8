//! Builds the runtime that `deadheat cc` links into programs, so that the command can carry it along: without the standard library's debug
//! information, and compressed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates the runtime is made of: when one changes, it is built again.
const SOURCES: [&str; 5] = ["rt", "online", "order", "model", "tape"];

/// Of zstd: higher ones make it hardly smaller.
const LEVEL: i32 = 19;

fn main() {
    let own = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let crates = own.parent().expect("crates/native lies in crates/");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
    // TARGET/PROFILE/build/PACKAGE/out: every profile, and the lints, share one runtime.
    let target = out.ancestors().nth(4).unwrap_or(&out).join("runtime");
    for name in SOURCES {
        println!("cargo::rerun-if-changed={}", crates.join(name).display());
    }
    let archive = without_debug_information(&build(crates, &target), &out);
    let packed = out.join("libdeadheat_rt.a.zst");
    let bytes = zstd::bulk::compress(&archive, LEVEL).expect("it fits into memory");
    std::fs::write(&packed, bytes).expect("OUT_DIR can be written to");
    println!("cargo::rustc-env=DEADHEAT_RUNTIME={}", packed.display());
}

/// Half of the archive is the standard library's lines, which no report of a program shows. Without `strip`, they stay.
fn without_debug_information(archive: &Path, out: &Path) -> Vec<u8> {
    let stripped = out.join("libdeadheat_rt.a");
    let strip = Command::new("strip")
        .arg("--strip-debug")
        .arg(archive)
        .arg("-o")
        .arg(&stripped)
        .status();
    let archive = match strip {
        Ok(status) if status.success() => &stripped,
        _ => archive,
    };
    std::fs::read(archive).expect("it was just made")
}

/// Runs cargo once more, with a target directory of its own: this build holds the lock of the other.
fn build(crates: &Path, target: &Path) -> PathBuf {
    let mut cargo = Command::new(std::env::var_os("CARGO").expect("set by cargo"));
    cargo
        .args([
            "rustc",
            "--quiet",
            "--lib",
            "--crate-type",
            "staticlib",
            "--profile",
            "rt",
        ])
        .args(["--features", "interpose", "--manifest-path"])
        .arg(crates.join("rt/Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        // Thread-local access in one instruction; fit for executables of either kind.
        .args(["--", "-C", "relocation-model=pie"]);
    // Flags meant for the command (lints, sanitizers, coverage) have no business in the runtime.
    for variable in [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
    ] {
        cargo.env_remove(variable);
    }
    let status = cargo.status().expect("cargo can be run");
    assert!(
        status.success(),
        "the runtime, crates/rt, could not be built: {status}"
    );
    target.join("rt/libdeadheat_rt.a")
}
