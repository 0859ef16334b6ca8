//! From addresses to names: functions, files and lines from DWARF, inlined calls included, and globals from
//! the symbol table, with their members and elements as [`names`](crate::names) finds them. A stripped file gives its name
//! and an offset.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use addr2line::Loader;
use deadheat_model::finding::Frame;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use rustc_hash::FxHashMap;

use crate::arguments::is_fortran;
use crate::findings::{Module, Process, StackFrame};
use crate::names::allocation::{self, Hint};
use crate::names::symbol::{demangled, of_fortran, plain};
use crate::names::{Candidate, Content, Function, Names, Scope, nearby};
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
    /// What code may allocate, by file and address.
    candidates: FxHashMap<(String, u64), Rc<[Candidate]>>,
}

/// What a block of the heap holds.
#[derive(Clone, Debug)]
pub struct HeapContent {
    /// The file that knows the type.
    module: Rc<str>,
    content: Content,
}

#[derive(Default)]
struct ModuleSymbols {
    /// Functions and lines; none if the file is gone or has no DWARF.
    code: Option<Loader>,
    /// Globals: address, size and name, by address.
    globals: Vec<(u64, u64, String)>,
    /// The addresses it fills when loaded, data included.
    extent: Range<u64>,
    /// How far below the thread pointer the executable's thread-local variables begin, and how many bytes they are.
    thread_locals: (u64, u64),
    /// Those of its variables, where something of one is asked for.
    names: Names,
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

    /// The global at an address: `x`, `slots[3].count`, `array+12` where nothing is known of its type, or
    /// `library.so+0x1f0`. The process names the modules by their code; their data lies where their files say.
    pub fn global(&mut self, process: &Process, address: u64) -> Option<String> {
        self.global_of(process, address, 0)
    }

    /// The same, where `size` bytes there are accessed: of a union, they are the member that they fit.
    pub fn global_of(&mut self, process: &Process, address: u64, size: u64) -> Option<String> {
        for module in process.modules.iter().rev() {
            let own = address.wrapping_sub(module.bias);
            let symbols = self.module(module);
            if symbols.extent.contains(&own) {
                return Some(match symbols.global(own) {
                    // The runtime's table of them, which has a word for each.
                    Some((name, offset)) if name == "file descriptor" && offset > 0 => {
                        format!("{name} {}", offset / 8)
                    }
                    known => symbols.named(&module.path, own, size, known),
                });
            }
        }
        None
    }

    /// The thread-local variable so far below a thread's pointer, in what the executable has of them.
    pub fn thread_local(&mut self, process: &Process, below: u64, size: u64) -> Option<String> {
        let program = process
            .modules
            .iter()
            .find(|module| module.path == process.program)?;
        let symbols = self.module(program);
        let (start, length) = symbols.thread_locals;
        let offset = start.checked_sub(below).filter(|&offset| offset < length)?;
        let name = symbols.names.thread_local(&program.path, offset, size)?;
        Some(name.variable + &name.path)
    }

    /// The variable of `main` at an address, if no other one of its variables is ever there.
    pub fn of_main(&mut self, process: &Process, address: u64, size: u64) -> Option<String> {
        let frame = process.main.as_ref()?;
        let range = frame.stack_pointer..frame.base;
        let is_there = frame.outermost && range.contains(&address);
        let place = is_there.then_some((address, size))?;
        let (name, function) = self.local_of(process, frame, place, Scope::Any)?;
        (function == "main").then_some(name)
    }

    /// The local variable at an address in a function's frame, and the function.
    pub fn local(
        &mut self,
        process: &Process,
        frame: &StackFrame,
        address: u64,
        size: u64,
    ) -> Option<(String, String)> {
        self.local_of(process, frame, (address, size), Scope::Now)
    }

    /// What a block of the heap holds, by the calls that allocated it, innermost first: the innermost that is the program's
    /// own, or the library's allocator inside it, says so.
    pub fn content(
        &mut self,
        process: &Process,
        stack: impl IntoIterator<Item = u64>,
        size: u64,
    ) -> Option<HeapContent> {
        for address in stack {
            let frames = self.frames(process, address);
            let speaks = |frame: &Arc<Frame>| {
                let function = frame.function.as_deref();
                frame.is_own() || function.and_then(allocation::of_allocator).is_some()
            };
            let Some(frame) = frames.iter().find(|frame| speaks(frame)) else {
                continue;
            };
            let key = (frame.module.clone(), frame.offset);
            let candidates = match self.candidates.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let module = process.module(address.saturating_sub(1))?;
                    let names = &mut self.module(module).names;
                    let candidates = hints(frame).into_iter();
                    let candidates: Rc<[Candidate]> = candidates
                        .filter_map(|hint| names.candidate(&module.path, frame.offset, &hint))
                        .collect();
                    self.candidates.insert(key, candidates.clone());
                    candidates
                }
            };
            let content = candidates
                .iter()
                .find_map(|candidate| candidate.fit(size))?;
            return Some(HeapContent {
                module: frame.module.as_str().into(),
                content,
            });
        }
        None
    }

    /// What a byte of such a block is called, where `size` bytes are accessed: the type, and from there to the byte.
    pub fn name_in<'c>(
        &self,
        content: &'c HeapContent,
        offset: u64,
        size: u64,
    ) -> Option<(&'c str, String)> {
        let module = self.modules.get(&*content.module)?;
        module.names.name_in(&content.content, offset, size)
    }

    fn local_of(
        &mut self,
        process: &Process,
        frame: &StackFrame,
        place: (u64, u64),
        scope: Scope,
    ) -> Option<(String, String)> {
        let called = process.module(frame.caller).and_then(|module| {
            let own = frame.caller.wrapping_sub(module.bias);
            let called = self.module(module).names.called(&module.path, own)?;
            Some((module.path.clone(), called))
        });
        for &code in &frame.code {
            // What a call returns to is behind it.
            let code = code.wrapping_sub(1);
            let Some(module) = process.module(code) else {
                continue;
            };
            let own = code.wrapping_sub(module.bias);
            let names = &mut self.module(module).names;
            let Some(function) = names.function(&module.path, own) else {
                continue;
            };
            let is_other =
                |(path, called): &(String, Function)| *path == module.path && *called != function;
            if called.as_ref().is_some_and(is_other) {
                continue;
            }
            let name = names.local(&module.path, (function, own, scope), frame, place)?;
            let frames = self.frames(process, code.wrapping_add(1));
            let function = frames.last()?.function.clone()?;
            return Some((name, function));
        }
        None
    }

    fn module(&mut self, module: &Module) -> &mut ModuleSymbols {
        let symbols = self.modules.entry(module.path.clone());
        symbols.or_insert_with(|| ModuleSymbols::open(&module.path))
    }
}

/// What a call says of the type that it allocates, what says it best first.
fn hints(frame: &Frame) -> Vec<Hint> {
    if let Some(hint) = frame.function.as_deref().and_then(allocation::of_allocator) {
        return vec![hint];
    }
    let (Some(file), Some(number)) = (&frame.file, frame.line) else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().nth(number as usize - 1).unwrap_or_default();
    if is_fortran(file.as_ref()) {
        return allocation::of_fortran_line(line);
    }
    // The call itself may be one of several in the line.
    let column = frame.column.map_or(0, |column| column as usize - 1);
    let call = line.get(column..).unwrap_or_default();
    let mut hints = allocation::of_line(call);
    hints.extend(allocation::of_line(line));
    hints
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
            symbols.thread_locals = thread_locals(&content);
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
                    .and_then(|name| Some(name.demangle().ok()?.into_owned()))
                    .map(|name| of_fortran(&name).unwrap_or(name));
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
            && let Some((file, line)) = nearby::line(code, address)
        {
            innermost.file = Some(shown_path(&file));
            innermost.line = Some(line);
            innermost.column = None;
            innermost.near = true;
        }
        if let Some(last) = frames.last_mut().filter(|last| last.function.is_none()) {
            let symbol = code.find_symbol(address);
            last.function = symbol.map(|name| of_fortran(name).unwrap_or_else(|| demangled(name)));
        }
        // What our own headers call, the program has called.
        let ours = |frame: &Frame| frame.file.as_deref().is_some_and(is_own_header);
        if frames.len() > 1 && ours(&frames[0]) {
            frames.remove(0);
        }
        frames.into_iter().map(Arc::new).collect()
    }

    /// What an address is called, where the symbol table knows so much of it.
    fn named(&mut self, path: &str, own: u64, size: u64, known: Option<(String, u64)>) -> String {
        if let Some((name, 0)) = &known
            && let Some(section) = critical_section(name)
        {
            return section;
        }
        match (known, self.names.at(path, own, size)) {
            // With its namespaces, and the class that it is a member of.
            (Some((symbol, _)), Some(name)) if symbol.contains("::") && !name.in_function => {
                symbol + &name.path
            }
            (_, Some(name)) => name.variable + &name.path,
            (Some((name, 0)), None) => name,
            (Some((name, offset)), None) => format!("{name}+{offset}"),
            (None, None) => format!("{}+{own:#x}", file_name(path)),
        }
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

/// Where the thread-local variables of an executable are: the loader puts them right below the thread pointer, as their
/// alignment asks for.
fn thread_locals(content: &[u8]) -> (u64, u64) {
    use object::read::elf::{FileHeader, ProgramHeader};
    let find = || {
        let header = object::elf::FileHeader64::<object::Endianness>::parse(content).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, content).ok()?;
        let piece = segments
            .iter()
            .find(|segment| segment.p_type(endian) == object::elf::PT_TLS)?;
        let length = piece.p_memsz(endian);
        Some((
            length.checked_next_multiple_of(piece.p_align(endian).max(1))?,
            length,
        ))
    };
    find().unwrap_or_default()
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
pub(crate) fn tidy_path(path: &str) -> String {
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
    fn paths_without_detours() {
        assert_eq!(tidy_path("/a/b/../c/./d.c"), "/a/c/d.c");
        assert_eq!(tidy_path("../../x.c"), "../../x.c");
        assert_eq!(tidy_path("./x.c"), "x.c");
        assert_eq!(tidy_path("/a//b.c"), "/a/b.c");
    }
}
