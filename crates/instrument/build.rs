//! Builds the plug-in, where LLVM's headers are: a plug-in fits the version of clang whose headers it was built with.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The version that the passes are written for.
const VERSION: &str = "19";

fn main() {
    println!("cargo::rerun-if-changed=pass");
    println!("cargo::rerun-if-env-changed=LLVM_CONFIG");
    println!("cargo::rustc-check-cfg=cfg(plugin)");
    println!("cargo::rustc-env=DEADHEAT_PLUGIN_VERSION={VERSION}");
    let named = std::env::var("LLVM_CONFIG").ok();
    let name = named.clone().unwrap_or(format!("llvm-config-{VERSION}"));
    let Some(config) = Config::ask(&name) else {
        assert!(
            named.is_none(),
            "`{name}`, chosen by LLVM_CONFIG, is not there, not of version {VERSION}, or without headers"
        );
        // It may be installed later.
        println!("cargo::rerun-if-changed=/usr/bin/{name}");
        return;
    };
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
    let plugin = out.join("deadheat-instrument.so");
    config.build(&plugin);
    println!("cargo::rustc-cfg=plugin");
    println!("cargo::rustc-env=DEADHEAT_PLUGIN={}", plugin.display());
}

struct Config {
    compiler: PathBuf,
    includes: String,
    flags: String,
}

impl Config {
    fn ask(name: &str) -> Option<Config> {
        let ask = |option| {
            let output = Command::new(name).arg(option).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            output.status.success().then(|| text.trim().to_string())
        };
        let version = ask("--version")?;
        let includes = ask("--includedir")?;
        let there = Path::new(&includes).join("llvm/Passes/PassPlugin.h");
        if version.split('.').next() != Some(VERSION) || !there.exists() {
            return None;
        }
        let beside = Path::new(&ask("--bindir")?).join("clang++");
        Some(Config {
            compiler: match beside.exists() {
                true => beside,
                false => "c++".into(),
            },
            includes,
            flags: ask("--cxxflags")?,
        })
    }

    fn build(&self, plugin: &Path) {
        let status = Command::new(&self.compiler)
            .args(self.flags.split_whitespace())
            // Its headers are not ours to warn about.
            .arg("-isystem")
            .arg(&self.includes)
            .args(["-O2", "-g0", "-fPIC", "-fno-rtti", "-shared"])
            .arg("pass/plugin.cpp")
            .arg("-o")
            .arg(plugin)
            .status();
        let status = status.unwrap_or_else(|error| {
            panic!(
                "`{}` could not be started: {error}",
                self.compiler.display()
            )
        });
        assert!(status.success(), "the plug-in could not be built: {status}");
    }
}
