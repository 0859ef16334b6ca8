//! The runtime travels inside the command and is unpacked when a program is linked.
//!
//! It lies in a directory of the user's cache whose name is a digest of its content: another version of the
//! command has another directory, and what lies there is never changed. It appears by renaming a finished
//! directory, so parallel builds (`make -j`) see it whole or not at all.

use std::collections::BTreeSet;
use std::fs;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol, SymbolScope};
use siphasher::sip128::{Hasher128, SipHasher13};
use thiserror::Error;

static ARCHIVE: &[u8] = include_bytes!(env!("DEADHEAT_RUNTIME"));
/// Headers that come before those of the C library and the C++ library, by name.
static HEADERS: [(&str, &str); 2] = [
    ("string.h", include_str!("string.h")),
    ("bits/basic_string.tcc", include_str!("basic_string.tcc")),
];

/// The runtime on disk.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// The static library that goes into an executable.
    pub archive: PathBuf,
    /// The symbols that libraries loaded later must find in the executable, as a linker's dynamic list.
    pub exports: PathBuf,
    /// Options for the linker, one a line: calls of these functions of the C++ library are led through the runtime.
    pub wraps: PathBuf,
    /// A directory of headers that come before those of the C library and the C++ library.
    pub headers: PathBuf,
}

/// Why the runtime could not be unpacked.
#[derive(Debug, Error)]
#[error(
    "the runtime could not be unpacked into `{}`: {error}; set DEADHEAT_CACHE to a directory that can be written to",
    directory.display()
)]
pub struct RuntimeError {
    directory: PathBuf,
    error: io::Error,
}

impl Runtime {
    /// Where the runtime lies, after it has been unpacked if need be.
    pub fn unpack() -> Result<Runtime, RuntimeError> {
        Runtime::unpack_into(&cache_directory())
    }

    fn unpack_into(cache: &Path) -> Result<Runtime, RuntimeError> {
        let mut hasher = SipHasher13::new();
        hasher.write(ARCHIVE);
        for (_, header) in HEADERS {
            hasher.write(header.as_bytes());
        }
        let directory = cache.join(format!("runtime-{:032x}", hasher.finish128().as_u128()));
        let runtime = Runtime {
            archive: directory.join("libdeadheat_rt.a"),
            exports: directory.join("exports.list"),
            wraps: directory.join("wraps.list"),
            headers: directory.join("include"),
        };
        if directory.is_dir() {
            return Ok(runtime);
        }
        let failure = |error| RuntimeError {
            directory: directory.clone(),
            error,
        };
        fs::create_dir_all(cache).map_err(failure)?;
        let unfinished = tempfile::Builder::new()
            .prefix("unfinished-")
            .tempdir_in(cache)
            .map_err(failure)?;
        let write = |name: &str, content: &[u8]| {
            fs::write(unfinished.path().join(name), content).map_err(failure)
        };
        fs::create_dir_all(unfinished.path().join("include/bits")).map_err(failure)?;
        for (name, header) in HEADERS {
            write(&format!("include/{name}"), header.as_bytes())?;
        }
        write("libdeadheat_rt.a", ARCHIVE)?;
        let (exports, wraps) = lists();
        write("exports.list", exports.as_bytes())?;
        write("wraps.list", wraps.as_bytes())?;
        match fs::rename(unfinished.path(), &directory) {
            // Someone else was faster: theirs is the same.
            Err(_) if directory.is_dir() => Ok(runtime),
            Err(error) => Err(failure(error)),
            Ok(()) => Ok(runtime),
        }
    }
}

/// Whether a path is that of a header of ours, wherever the cache was when it was used.
pub(crate) fn is_own_header(path: &str) -> bool {
    HEADERS.iter().any(|(name, _)| {
        let directory = path.strip_suffix(name);
        directory.is_some_and(|path| path.ends_with("/include/") && path.contains("runtime-"))
    })
}

/// `$DEADHEAT_CACHE`, or what the user's cache is called here, or, where there is no home, a directory of this
/// user's among the temporary ones.
fn cache_directory() -> PathBuf {
    let variable = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(own) = variable("DEADHEAT_CACHE") {
        return own;
    }
    let cache = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let cache = cache.or_else(|| variable("HOME").map(|home| home.join(".cache")));
    match cache.map(|cache| cache.join("deadheat")) {
        Some(cache) if fs::create_dir_all(&cache).is_ok() => cache,
        _ => {
            // SAFETY: getuid has no preconditions and always succeeds.
            #[allow(unsafe_code)]
            let user = unsafe { libc::getuid() };
            std::env::temp_dir().join(format!("deadheat-{user}"))
        }
    }
}

/// Two lists for the linker: the names that the runtime defines for others (the compiler's hooks and what it
/// interposes), as a dynamic list, and options for those by which calls are led through it.
fn lists() -> (String, String) {
    let mut exports = BTreeSet::new();
    let mut wraps = BTreeSet::new();
    let archive = ArchiveFile::parse(ARCHIVE).expect("the linker accepts it, too");
    for member in archive.members().flatten() {
        let Ok(file) = member.data(ARCHIVE).and_then(object::File::parse) else {
            continue;
        };
        for symbol in file
            .symbols()
            .filter(|symbol| symbol.is_global() && symbol.is_definition())
        {
            let Ok(name) = symbol.name() else { continue };
            if let Some(name) = name.strip_prefix("__wrap_") {
                wraps.insert(name.to_string());
            }
            // Rust's own symbols serve nobody outside.
            if symbol.scope() == SymbolScope::Dynamic
                && !name.starts_with("_ZN")
                && !name.starts_with("_R")
                && !name.contains("rust")
            {
                exports.insert(name.to_string());
            }
        }
    }
    let lines = |names: BTreeSet<String>, line: fn(String) -> String| {
        names.into_iter().map(line).collect::<String>()
    };
    let exports = lines(exports, |name| format!("  \"{name}\";\n"));
    (
        format!("{{\n{exports}}};\n"),
        lines(wraps, |name| format!("--wrap={name}\n")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_unpack_at_once_and_all_find_it_whole() {
        let cache = tempfile::tempdir().unwrap();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let cache = cache.path().to_path_buf();
                std::thread::spawn(move || Runtime::unpack_into(&cache).unwrap())
            })
            .collect();
        for thread in threads {
            let runtime = thread.join().unwrap();
            assert_eq!(fs::read(&runtime.archive).unwrap(), ARCHIVE);
            let exports = fs::read_to_string(&runtime.exports).unwrap();
            assert!(exports.contains("\"__tsan_read4\";"), "{exports}");
        }
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Runtime::unpack_into(&file.path().join("below"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("DEADHEAT_CACHE"), "{error}");
    }
}
