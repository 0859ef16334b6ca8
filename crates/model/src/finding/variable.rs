//! What accesses touch, as the source calls it.
//!
//! Names are spelt here, and only here, so that a running program and a trace of it call the same memory the same:
//! `thumbnails.misses`, `table[3].count`, `heap block of 16 bytes+4`; what lies on the heap by its type, `Node.value`. A trace
//! gives each location a name of its own: a second one of the same spelling ends in `#2`, and an object on the heap is
//! `heap Node#2.value`.

use std::fmt;
use std::sync::Arc;

use super::Frame;

/// What accesses touch.
#[derive(Clone, Debug, Default)]
pub struct Variable {
    /// As the source calls it, or a description of the memory.
    pub name: Arc<str>,
    /// Where it lies, where that is known.
    pub storage: Storage,
}

/// Where a variable lies.
#[derive(Clone, Debug, Default)]
pub enum Storage {
    /// Its name is all that is known.
    #[default]
    Named,
    /// A local variable of a function, on a thread's stack.
    Local {
        /// The function.
        function: Arc<str>,
    },
    /// A variable of which each thread has its own.
    ThreadLocal {
        /// Whose.
        thread: Arc<str>,
    },
    /// A block of the heap.
    Heap(Arc<Allocation>),
    /// A block of the heap; who allocated it is not known.
    Object,
    /// The name only describes the memory: `stack of T1`, `memory at 0x7f00`.
    Described,
}

/// A block of the heap.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// How many bytes.
    pub size: u64,
    /// Which byte of it was accessed.
    pub offset: u64,
    /// Who allocated it.
    pub thread: Arc<str>,
    /// The calls that allocated it, innermost first.
    pub stack: Arc<[Arc<Frame>]>,
}

/// Words that descriptions of memory begin with, and no variable does.
const DESCRIPTIONS: [&str; 7] = [
    "heap block",
    "stack of ",
    "thread-local variable of ",
    "memory at ",
    "mapped memory",
    "data of task",
    "file descriptor ",
];

impl Variable {
    /// A variable of this name. The number by which a trace tells memory of one description apart is not part of it.
    pub fn named(name: impl Into<Arc<str>>) -> Variable {
        let name = name.into();
        if is_description(&name) {
            return Variable {
                name: without_number(&name, '#').into(),
                storage: Storage::Described,
            };
        }
        match object(&name) {
            Some(name) => Variable {
                name: name.into(),
                storage: Storage::Object,
            },
            None => Variable {
                name,
                storage: Storage::Named,
            },
        }
    }

    /// The block of the heap that it is part of, if it is.
    pub fn allocation(&self) -> Option<&Allocation> {
        match &self.storage {
            Storage::Heap(allocation) => Some(allocation),
            _ => None,
        }
    }

    /// Whether its name describes memory that has none.
    pub fn is_described(&self) -> bool {
        is_description(&self.name)
    }

    /// A name for a byte of a block of the heap whose type is not known.
    pub fn heap_block(size: u64, offset: u64) -> String {
        let bytes = if size == 1 { "byte" } else { "bytes" };
        match offset {
            0 => format!("heap block of {size} {bytes}"),
            _ => format!("heap block of {size} {bytes}+{offset}"),
        }
    }

    /// A trace's name for what lies in an object on the heap of a known type, which it tells from others by a number.
    pub fn heap_object(ty: &str, number: u64, path: &str) -> String {
        format!("{OBJECT}{ty}#{number}{path}")
    }

    /// A name for what lies on a thread's stack.
    pub fn stack_of(thread: &str) -> String {
        format!("stack of {thread}")
    }

    /// A name for a thread-local variable that has none.
    pub fn thread_local_of(thread: &str) -> String {
        format!("thread-local variable of {thread}")
    }

    /// A name for memory of which only the address is known.
    pub fn memory_at(address: u64) -> String {
        format!("memory at {address:#x}")
    }

    /// A name for a file descriptor.
    pub fn file_descriptor(number: u64) -> String {
        format!("file descriptor {number}")
    }

    /// Whether it is a file descriptor.
    pub fn is_file_descriptor(&self) -> bool {
        self.name.starts_with("file descriptor ")
    }
}

fn is_description(name: &str) -> bool {
    DESCRIPTIONS.iter().any(|words| name.starts_with(words))
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A name without the number after a sign at its end.
fn without_number(name: &str, sign: char) -> &str {
    match name.rsplit_once(sign) {
        Some((start, number))
            if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            start
        }
        _ => name,
    }
}

/// What a trace's names of objects on the heap begin with.
const OBJECT: &str = "heap ";

/// What a running program calls an object on the heap: `Node.value` of a trace's `heap Node#2.value`.
fn object(name: &str) -> Option<String> {
    let (ty, rest) = name.strip_prefix(OBJECT)?.split_once('#')?;
    let path = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    Some(format!("{ty}{path}"))
}

/// What of a name stays the same from run to run: `table[].count` of `table[3].count#2`, `table` of `table+12` and
/// `table[3]`, `heap` of a block of the heap.
pub fn stable_name(name: &str) -> String {
    if is_description(name) {
        let kind = name.split(' ').next().unwrap_or_default();
        // A running program knows mapped memory by its address only.
        return if kind == "mapped" { "memory" } else { kind }.to_string();
    }
    let object = object(name);
    let name = object.as_deref().unwrap_or(name);
    let name = without_number(without_number(name, '#'), '+');
    let mut stable = String::with_capacity(name.len());
    let mut depth = 0_usize;
    for (at, c) in name.char_indices() {
        depth = depth.saturating_sub((c == ']' || c == ')' && depth > 0) as usize);
        if depth == 0 {
            stable.push(c);
        }
        depth += (c == '[' || c == '(' && is_index(&name[at + 1..])) as usize;
    }
    // A bracket that nobody closes is no index.
    if depth > 0 {
        return name.to_string();
    }
    while stable.ends_with("[]") || stable.ends_with("()") && !name.ends_with("()") {
        stable.truncate(stable.len() - 2);
    }
    stable
}

/// Whether a text begins with an element's numbers as Fortran has them: `3,-2)`.
fn is_index(text: &str) -> bool {
    let numbers = text.split_once(')').map_or("", |(numbers, _)| numbers);
    let is_number = |number: &str| number.parse::<i64>().is_ok();
    numbers.split(',').all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_bytes_and_numbers_are_not_part_of_a_stable_name() {
        for (name, stable) in [
            ("x", "x"),
            ("x[7]", "x"),
            ("A[1][0][0]", "A"),
            ("x+12", "x"),
            ("x#2", "x"),
            ("slots[3].count", "slots[].count"),
            ("a(3,-2)", "a"),
            ("bodies(3)%speed(1)", "bodies()%speed"),
            ("of(int)::x", "of(int)::x"),
            ("call()", "call()"),
            ("slots[3].count#12", "slots[].count"),
            ("heap Node#2.value", "Node.value"),
            ("heap int#6[3]", "int"),
            ("heap int#6", "int"),
            ("heap acct#7[2].limit", "acct[].limit"),
            ("a[b[1]].c", "a[].c"),
            ("map[", "map["),
            ("Cache<int, 4>::hits", "Cache<int, 4>::hits"),
            ("operator new[]", "operator new"),
            ("a b", "a b"),
            ("c++", "c++"),
            ("heap block of 24 bytes+4", "heap"),
            ("stack of T1 (worker)", "stack"),
            ("memory at 0x7f", "memory"),
            ("mapped memory 1+5", "memory"),
            ("alloc@3#1", "alloc@3"),
        ] {
            assert_eq!(stable_name(name), stable, "{name}");
        }
    }

    #[test]
    fn descriptions_are_told_from_names() {
        for described in [
            Variable::heap_block(8, 4),
            Variable::stack_of("T1"),
            Variable::thread_local_of("main"),
            Variable::memory_at(9),
            Variable::file_descriptor(3),
        ] {
            assert!(
                Variable::named(described.clone()).is_described(),
                "{described}"
            );
        }
        let numbered = Variable::named("heap block of 8 bytes+4#3");
        assert_eq!(&*numbered.name, Variable::heap_block(8, 4));
        assert_eq!(&*Variable::named("x#3").name, "x#3");
        assert_eq!(
            &*Variable::named(Variable::heap_object("Node", 2, ".value")).name,
            "Node.value"
        );
        assert!(!Variable::named("heap").is_described());
        assert!(!Variable::named("stack").is_described());
    }
}
