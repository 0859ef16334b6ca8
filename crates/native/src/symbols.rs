//! From addresses to names: functions, files and lines from DWARF, inlined calls included, and globals from
//! the symbol table. A stripped file gives its name and an offset.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use addr2line::Loader;
use deadheat_model::finding::Frame;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use rustc_hash::FxHashMap;

use crate::findings::{Module, Process};
use crate::runtime::is_own_header;

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What is known about the files a program was made of. Each is opened once, when first asked about.
#[derive(Default)]
pub struct Symbols {
    modules: FxHashMap<String, ModuleSymbols>,
    /// Calls by file and address: races share most of their stacks.
    frames: FxHashMap<(String, u64), Arc<[Arc<Frame>]>>,
}

#[derive(Default)]
struct ModuleSymbols {
    /// Functions and lines; none if the file is gone or has no DWARF.
    code: Option<Loader>,
    /// Globals: address, size and name, by address.
    globals: Vec<(u64, u64, String)>,
    /// The addresses it fills when loaded, data included.
    extent: Range<u64>,
}

impl Symbols {
    /// The calls a return address stands for, innermost first: several where functions were inlined, at least one.
    pub fn frames(&mut self, process: &Process, return_address: u64) -> Arc<[Arc<Frame>]> {
        let address = return_address.saturating_sub(1);
        let Some(module) = process.module(address) else {
            let frame = Frame {
                module: "?".to_string(),
                offset: address,
                ..Frame::default()
            };
            return Arc::new([Arc::new(frame)]);
        };
        let key = (module.path.clone(), address.wrapping_sub(module.bias));
        if let Some(known) = self.frames.get(&key) {
            return known.clone();
        }
        let frames: Arc<[Arc<Frame>]> = self.module(module).frames(&module.path, key.1).into();
        self.frames.insert(key, frames.clone());
        frames
    }

    /// All calls of a stack, innermost first.
    pub fn stack(&mut self, process: &Process, stack: &[u64]) -> Arc<[Arc<Frame>]> {
        let mut frames = Vec::new();
        for &address in stack {
            frames.extend(self.frames(process, address).iter().cloned());
        }
        frames.into()
    }

    /// The global at an address and the offset in it: `x`, `array+12`, or `library.so+0x1f0`. The process names
    /// the modules by their code; their data lies where their files say.
    pub fn global(&mut self, process: &Process, address: u64) -> Option<String> {
        for module in process.modules.iter().rev() {
            let own = address.wrapping_sub(module.bias);
            let symbols = self.module(module);
            if symbols.extent.contains(&own) {
                return Some(match symbols.global(own) {
                    Some((name, 0)) => critical_section(&name).unwrap_or(name),
                    // The runtime's table of them, which has four bytes for each.
                    Some((name, offset)) if name == "file descriptor" => {
                        format!("{name} {}", offset / 4)
                    }
                    Some((name, offset)) => format!("{name}+{offset}"),
                    None => format!("{}+{own:#x}", file_name(&module.path)),
                });
            }
        }
        None
    }

    fn module(&mut self, module: &Module) -> &ModuleSymbols {
        let symbols = self.modules.entry(module.path.clone());
        symbols.or_insert_with(|| ModuleSymbols::open(&module.path))
    }
}

/// A critical section of OpenMP, as the program calls it, by the variable that the compilers make for it.
fn critical_section(variable: &str) -> Option<String> {
    let name = variable
        .strip_prefix(".gomp_critical_user_")?
        .strip_suffix(".var")?;
    Some(match name {
        "" => "critical".to_string(),
        name => format!("critical({name})"),
    })
}

impl ModuleSymbols {
    fn open(path: &str) -> ModuleSymbols {
        let mut symbols = ModuleSymbols {
            code: Loader::new(path).ok(),
            ..ModuleSymbols::default()
        };
        if let Ok(content) = std::fs::read(path)
            && let Ok(file) = object::File::parse(&*content)
        {
            symbols.globals = globals(&file);
            let starts = file.segments().map(|segment| segment.address());
            let ends = file
                .segments()
                .map(|segment| segment.address().saturating_add(segment.size()));
            symbols.extent = starts.min().unwrap_or(0)..ends.max().unwrap_or(0);
        }
        symbols
    }

    fn frames(&self, path: &str, address: u64) -> Vec<Arc<Frame>> {
        let bare = || Frame {
            module: path.to_string(),
            offset: address,
            ..Frame::default()
        };
        let mut frames = Vec::new();
        let Some(code) = &self.code else {
            return vec![Arc::new(bare())];
        };
        if let Ok(mut inlined) = code.find_frames(address) {
            while let Ok(Some(frame)) = inlined.next() {
                let mut known = bare();
                known.function = frame
                    .function
                    .and_then(|name| Some(name.demangle().ok()?.into_owned()));
                if let Some(place) = frame.location {
                    known.file = place.file.map(shown_path);
                    known.line = place.line.filter(|&line| line > 0);
                    known.column = place.column.filter(|&column| column > 0);
                }
                frames.push(known);
            }
        }
        if frames.is_empty() {
            frames.push(bare());
        }
        if let Some(innermost) = frames.first_mut().filter(|frame| frame.line.is_none())
            && let Some(place) = nearby(code, address)
        {
            innermost.file = place.0;
            innermost.line = place.1;
            innermost.column = None;
            innermost.near = true;
        }
        if let Some(last) = frames.last_mut().filter(|last| last.function.is_none()) {
            last.function = code.find_symbol(address).map(demangled);
        }
        // What our own headers call, the program has called.
        let ours = |frame: &Frame| frame.file.as_deref().is_some_and(is_own_header);
        if frames.len() > 1 && ours(&frames[0]) {
            frames.remove(0);
        }
        frames.into_iter().map(Arc::new).collect()
    }

    fn global(&self, address: u64) -> Option<(String, u64)> {
        let after = self
            .globals
            .partition_point(|(start, ..)| *start <= address);
        let (start, size, name) = self.globals[..after].last()?;
        let offset = address - start;
        (offset < *size).then(|| (name.clone(), offset))
    }
}

/// How far back a line is looked for.
const NEARBY: u64 = 256;

/// The line of the nearest earlier code of the same function that has one: optimisers leave none to what they have moved
/// or merged.
fn nearby(code: &Loader, address: u64) -> Option<(Option<String>, Option<u32>)> {
    let function = code.find_symbol(address)?;
    let before = (1..NEARBY).map_while(|back| {
        let earlier = address.checked_sub(back)?;
        (code.find_symbol(earlier) == Some(function)).then_some(earlier)
    });
    before
        .filter_map(|earlier| code.find_location(earlier).ok().flatten())
        .find_map(|place| {
            let line = place.line.filter(|&line| line > 0)?;
            Some((place.file.map(shown_path), Some(line)))
        })
}

/// The variables in a file's symbol tables, by address.
fn globals(file: &object::File) -> Vec<(u64, u64, String)> {
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let data = symbols.filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0);
    let mut globals: Vec<(u64, u64, String)> = data
        .filter_map(|symbol| Some((symbol.address(), symbol.size(), plain(symbol.name().ok()?))))
        .collect();
    globals.sort();
    globals.dedup_by_key(|(address, ..)| *address);
    globals
}

/// C++'s and Rust's names start so; any other is C's, and a `x` of C is not a mangled `long long`.
fn demangled(name: &str) -> String {
    if !name.starts_with("_Z") && !name.starts_with("_R") {
        return name.to_string();
    }
    // Which of two layouts a type of GNU's library has is not part of a name that people write.
    addr2line::demangle_auto(Cow::from(name), None).replace("[abi:cxx11]", "")
}

/// A variable's name as the source has it: a static local of C is `worker.count` to clang and `count.0` to gcc.
fn plain(symbol: &str) -> String {
    let name = demangled(symbol);
    if name != symbol || name.starts_with('.') {
        return name;
    }
    match symbol.split_once('.') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            name.to_string()
        }
        Some((_, name)) if !name.is_empty() => plain(name),
        _ => name,
    }
}

/// A path as people write it: seen from the working directory if it lies below.
fn shown_path(path: &str) -> String {
    let path = tidy_path(path);
    let here = std::env::current_dir().unwrap_or_default();
    let below = std::path::Path::new(&path)
        .strip_prefix(&here)
        .ok()
        .and_then(|below| below.to_str());
    below.map(str::to_string).unwrap_or(path)
}

/// A path without the `./` and `x/../` that build systems leave in it.
fn tidy_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for (index, part) in path.split('/').enumerate() {
        match part {
            "." => {}
            "" if index > 0 => {}
            ".." if parts
                .last()
                .is_some_and(|last| !last.is_empty() && *last != "..") =>
            {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_the_source_has_them() {
        assert_eq!(plain("x"), "x");
        assert_eq!(plain("count.0"), "count");
        assert_eq!(plain("worker.count"), "count");
        assert_eq!(plain("worker.count.3"), "count");
        assert_eq!(plain("_ZN4bank5totalE"), "bank::total");
        assert_eq!(plain(".L.str"), ".L.str");
    }

    #[test]
    fn paths_without_detours() {
        assert_eq!(tidy_path("/a/b/../c/./d.c"), "/a/c/d.c");
        assert_eq!(tidy_path("../../x.c"), "../../x.c");
        assert_eq!(tidy_path("./x.c"), "x.c");
        assert_eq!(tidy_path("/a//b.c"), "/a/b.c");
    }
}
