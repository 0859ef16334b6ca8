//! The runtime travels inside the command, compressed, and is unpacked when a program is linked.
//!
//! It lies in a directory of the user's cache whose name is a digest of its content: another version of the
//! command has another directory, and what lies there is never changed. It appears by renaming a finished
//! directory, so parallel builds (`make -j`) see it whole or not at all.
//!
//! What is linked into programs must be nobody else's: only its owner can write to the directory, which is this user or root, and what lies there is
//! compared with what the command carries each time before it is used.

use std::collections::BTreeSet;
use std::fs;
use std::hash::Hasher;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use deadheat_instrument::PLUGIN;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol, SymbolScope};
use siphasher::sip128::{Hasher128, SipHasher13};
use thiserror::Error;

use crate::private;

static PACKED: &[u8] = include_bytes!(env!("DEADHEAT_RUNTIME"));
/// To unpack it takes milliseconds: who only compiles does without.
static ARCHIVE: LazyLock<Vec<u8>> =
    LazyLock::new(|| zstd::decode_all(PACKED).expect("the build has packed it"));
const PLUGIN_NAME: &str = "deadheat-instrument.so";
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
    /// What [clang loads](deadheat_instrument), if there is one.
    pub plugin: Option<PathBuf>,
}

/// Why the runtime could not be unpacked.
#[derive(Debug, Error)]
#[error(
    "the runtime could not be unpacked into `{}`: {error}; set DEADHEAT_CACHE to a directory of your own that can be written to",
    directory.display()
)]
pub struct RuntimeError {
    directory: PathBuf,
    error: io::Error,
}

impl Runtime {
    /// Where the runtime lies, after it has been unpacked if need be.
    pub fn unpack() -> Result<Runtime, RuntimeError> {
        Runtime::unpack_into(&cache_directory(), Runtime::is_whole)
    }

    /// The same for who only compiles, and need not wait until what is linked has been compared.
    pub fn unpack_to_compile() -> Result<Runtime, RuntimeError> {
        Runtime::unpack_into(&cache_directory(), Runtime::serves_to_compile)
    }

    /// Unpacks it unless what lies there will do.
    fn unpack_into(cache: &Path, will_do: fn(&Runtime) -> bool) -> Result<Runtime, RuntimeError> {
        let headers = HEADERS.iter().map(|(_, header)| header.as_bytes());
        let contents = [PACKED].into_iter().chain(headers).chain(PLUGIN);
        let digest_of_all = u128::from_ne_bytes(digest(contents));
        let directory = cache.join(format!("runtime-{digest_of_all:032x}"));
        let runtime = Runtime {
            archive: directory.join("libdeadheat_rt.a"),
            exports: directory.join("exports.list"),
            wraps: directory.join("wraps.list"),
            headers: directory.join("include"),
            plugin: PLUGIN.map(|_| directory.join(PLUGIN_NAME)),
        };
        let failure = |error| RuntimeError {
            directory: directory.clone(),
            error,
        };
        private::create(cache).map_err(failure)?;
        keep_to_owner(cache).map_err(failure)?;
        if will_do(&runtime) {
            return Ok(runtime);
        }
        let room = || private::temporary_directory(cache).map_err(failure);
        let unfinished = room()?;
        let write = |name: &str, content: &[u8]| {
            fs::write(unfinished.path().join(name), content).map_err(failure)
        };
        fs::create_dir_all(unfinished.path().join("include/bits")).map_err(failure)?;
        for (name, header) in HEADERS {
            write(&format!("include/{name}"), header.as_bytes())?;
        }
        if let Some(plugin) = PLUGIN {
            write(PLUGIN_NAME, plugin)?;
        }
        write("libdeadheat_rt.a", &ARCHIVE)?;
        let (exports, wraps) = lists();
        write("exports.list", exports.as_bytes())?;
        write("wraps.list", wraps.as_bytes())?;
        write(LISTS, &digest([exports.as_bytes(), wraps.as_bytes()]))?;
        let Err(error) = fs::rename(unfinished.path(), &directory) else {
            return Ok(runtime);
        };
        // Someone else was faster: theirs is the same.
        if will_do(&runtime) {
            return Ok(runtime);
        }
        // Or it is damaged, and goes out of the way.
        let damaged = room()?;
        fs::rename(&directory, damaged.path().join("damaged")).map_err(|_| failure(error))?;
        match fs::rename(unfinished.path(), &directory) {
            Err(_) if will_do(&runtime) => Ok(runtime),
            Err(error) => Err(failure(error)),
            Ok(()) => Ok(runtime),
        }
    }

    /// Whether all is there as the command carries it, and only this user and root can have written it.
    fn is_whole(&self) -> bool {
        let lists = || {
            let [exports, wraps] = [fs::read(&self.exports).ok()?, fs::read(&self.wraps).ok()?];
            let digest = digest([&*exports, &*wraps]);
            Some(has(&self.archive.with_file_name(LISTS), &digest))
        };
        self.serves_to_compile() && has(&self.archive, &ARCHIVE) && lists() == Some(true)
    }

    /// The same of what compiling needs.
    fn serves_to_compile(&self) -> bool {
        let mut headers = HEADERS.iter();
        let folder = self.archive.parent();
        folder.is_some_and(|folder| keep_to_owner(folder).is_ok())
            && headers.all(|(name, header)| has(&self.headers.join(name), header.as_bytes()))
            && (self.plugin.iter().zip(PLUGIN)).all(|(path, plugin)| has(path, plugin))
    }
}

fn has(path: &Path, content: &[u8]) -> bool {
    fs::read(path).is_ok_and(|there| there == content)
}

/// The digest of the two lists, beside them: to make them anew each time takes longer than to read all the rest.
const LISTS: &str = "lists.digest";

fn digest<'c>(contents: impl IntoIterator<Item = &'c [u8]>) -> [u8; 16] {
    let mut hasher = SipHasher13::new();
    contents
        .into_iter()
        .for_each(|content| hasher.write(content));
    hasher.finish128().as_u128().to_ne_bytes()
}

/// Makes sure that only this user and root can put something into a directory.
fn keep_to_owner(directory: &Path) -> io::Result<()> {
    const OTHERS_WRITE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    // SAFETY: geteuid has no preconditions and always succeeds.
    #[allow(unsafe_code)]
    let user = unsafe { libc::geteuid() };
    let status = fs::symlink_metadata(directory)?;
    // Links lead anywhere, and belong to whoever made them.
    let status = match status.is_symlink() && [0, user].contains(&status.uid()) {
        true => fs::metadata(directory)?,
        false => status,
    };
    let mode = status.mode();
    if !status.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    if ![0, user].contains(&status.uid()) {
        return Err(io::Error::other("it belongs to another user"));
    }
    // What others have put there, they cannot exchange where the bit is set, and what they own is not used.
    if mode & OTHERS_WRITE == 0 || mode & STICKY != 0 {
        return Ok(());
    }
    let private = fs::Permissions::from_mode(mode & 0o7777 & !OTHERS_WRITE);
    fs::set_permissions(directory, private)
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
        Some(cache) if private::create(&cache).is_ok() => cache,
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
    let archive = ArchiveFile::parse(&**ARCHIVE).expect("the linker accepts it, too");
    for member in archive.members().flatten() {
        let Ok(file) = member.data(&**ARCHIVE).and_then(object::File::parse) else {
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
                std::thread::spawn(move || Runtime::unpack_into(&cache, Runtime::is_whole).unwrap())
            })
            .collect();
        for thread in threads {
            let runtime = thread.join().unwrap();
            assert_eq!(fs::read(&runtime.archive).unwrap(), *ARCHIVE);
            let exports = fs::read_to_string(&runtime.exports).unwrap();
            assert!(exports.contains("\"__tsan_read4\";"), "{exports}");
        }
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_runtime_is_unpacked_again() {
        let cache = tempfile::tempdir().unwrap();
        let runtime = Runtime::unpack_into(cache.path(), Runtime::is_whole).unwrap();
        let header = runtime.headers.join("string.h");
        for file in [&runtime.archive, &runtime.exports, &runtime.wraps, &header] {
            let whole = fs::read(file).unwrap();
            for content in [
                Some(&b"something else"[..]),
                Some(&whole[..whole.len() - 1]),
                None,
            ] {
                match content {
                    Some(content) => fs::write(file, content).unwrap(),
                    None => fs::remove_file(file).unwrap(),
                }
                Runtime::unpack_into(cache.path(), Runtime::is_whole).unwrap();
                assert_eq!(fs::read(file).unwrap(), whole, "{}", file.display());
            }
        }
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }

    #[test]
    fn damaged_headers_are_unpacked_again_for_who_only_compiles() {
        let cache = tempfile::tempdir().unwrap();
        let runtime = Runtime::unpack_into(cache.path(), Runtime::serves_to_compile).unwrap();
        assert!(runtime.is_whole());
        for (name, header) in HEADERS {
            let path = runtime.headers.join(name);
            fs::write(&path, "something else").unwrap();
            Runtime::unpack_into(cache.path(), Runtime::serves_to_compile).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), header);
        }
    }

    #[test]
    fn nobody_else_can_put_a_runtime_into_the_cache() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        let runtime = Runtime::unpack_into(&cache, Runtime::is_whole).unwrap();
        let inner = runtime.archive.parent().unwrap().to_path_buf();
        assert_eq!((mode(&cache), mode(&inner)), (0o700, 0o700));
        // What an earlier version has left, others could have written to.
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).unwrap();
        Runtime::unpack_into(&cache, Runtime::is_whole).unwrap();
        assert_eq!(mode(&cache), 0o755);
        let other = Some(65534);
        if std::os::unix::fs::chown(&inner, other, None).is_err() {
            return println!("skipped: needs root");
        }
        // Another user's is not used.
        Runtime::unpack_into(&cache, Runtime::is_whole).unwrap();
        assert_ne!(fs::metadata(&inner).unwrap().uid(), 65534);
        std::os::unix::fs::chown(&cache, other, None).unwrap();
        let error = Runtime::unpack_into(&cache, Runtime::is_whole)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("it belongs to another user; set DEADHEAT_CACHE"),
            "{error}"
        );
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Runtime::unpack_into(&file.path().join("below"), Runtime::is_whole)
            .unwrap_err()
            .to_string();
        assert!(error.contains("DEADHEAT_CACHE"), "{error}");
    }
}
