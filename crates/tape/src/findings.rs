//! Findings: the lines that the runtime writes and the command reads.
#![doc = include_str!("findings.md")]
//!
//! # One definition for both sides
//! Every object of a line is one struct here. Its fields' names are the names in the file, and [`Json`], which writes it, and
//! serde's `Deserialize` (with the feature `read`), which reads it, are made of the same list. Where a struct has a list or a
//! text, that is a type parameter: the reader's (a vector, a string) unless given; the writer gives a [`List`] of an
//! iterator, or a [`Text`], so that nothing is allocated but the line itself.

use deadheat_model::finding::{AccessCause, DependenceKind, TaskKind};

/// What can be written to a line.
pub trait Json {
    /// Writes it.
    fn write(self, line: &mut Vec<u8>);
}

/// An object that is a line of its own.
pub trait Line: Json {
    /// The kind of the line.
    const KIND: &'static str;
}

/// Writes a line, with its end.
pub fn write_line<L: Line>(object: L, line: &mut Vec<u8>) {
    line.extend_from_slice(b"{\"");
    line.extend_from_slice(L::KIND.as_bytes());
    line.extend_from_slice(b"\":");
    object.write(line);
    line.extend_from_slice(b"}\n");
}

/// The things that an iterator gives, to be written.
#[derive(Clone, Copy, Debug)]
pub struct List<I>(pub I);

/// A text, to be written. What is not UTF-8 is replaced.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(pub &'a [u8]);

/// Something that is written as a word.
pub trait Word: Copy + 'static {
    /// All there are.
    const ALL: &'static [Self];
    /// Its word.
    fn word(self) -> &'static str;
}

/// The words of enums.
macro_rules! words {
    ($($Name:ident { $($Variant:ident = $word:literal,)* })*) => {$(
        impl Word for $Name {
            const ALL: &'static [$Name] = &[$($Name::$Variant),*];

            fn word(self) -> &'static str {
                match self {
                    $($Name::$Variant => $word,)*
                }
            }
        }

        impl Json for $Name {
            fn write(self, line: &mut Vec<u8>) {
                Text(self.word().as_bytes()).write(line);
            }
        }
    )*};
}

/// Defines structs, how they are written, and how they are read.
macro_rules! objects {
    ($(
        $(#[$meta:meta])*
        pub struct $Name:ident $(<$($Parameter:ident = $Default:ty),*>)? {
            $($(#[$field_meta:meta])* pub $field:ident: $Type:ty,)*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug)]
        #[cfg_attr(feature = "read", derive(serde::Deserialize))]
        pub struct $Name $(<$($Parameter = $Default),*>)? {
            $($(#[$field_meta])* pub $field: $Type,)*
        }

        impl $(<$($Parameter: Json),*>)? Json for $Name $(<$($Parameter),*>)? {
            fn write(self, line: &mut Vec<u8>) {
                line.push(b'{');
                $(member(stringify!($field), self.$field, line);)*
                line.push(b'}');
            }
        }
    )*};
}

/// Defines an enum of objects that are told apart by their member `kind`, how they are written, and how they are read.
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident<$Parameter:ident = $Default:ty> {
            $($(#[$variant_meta:meta])* $Variant:ident = $word:literal {
                $($(#[$field_meta:meta])* $field:ident: $Type:ty,)*
            },)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        #[cfg_attr(feature = "read", derive(serde::Deserialize), serde(tag = "kind"))]
        pub enum $Name<$Parameter = $Default> {
            $(
                $(#[$variant_meta])*
                #[cfg_attr(feature = "read", serde(rename = $word))]
                $Variant { $($(#[$field_meta])* $field: $Type,)* },
            )*
        }

        impl<$Parameter: Json> Json for $Name<$Parameter> {
            fn write(self, line: &mut Vec<u8>) {
                line.push(b'{');
                match self {
                    $($Name::$Variant { $($field,)* } => {
                        member("kind", Text($word.as_bytes()), line);
                        $(member(stringify!($field), $field, line);)*
                    })*
                }
                line.push(b'}');
            }
        }
    };
}

/// Says which objects are lines, and of which kind.
macro_rules! lines {
    ($($kind:literal => $Name:ident<$($Parameter:ident),*>,)*) => {
        $(impl<$($Parameter: Json),*> Line for $Name<$($Parameter),*> {
            const KIND: &'static str = $kind;
        })*

        /// A line, to be read.
        #[cfg(feature = "read")]
        #[derive(Clone, Debug, serde::Deserialize)]
        pub enum AnyLine {
            $(
                #[doc = concat!("`", $kind, "`")]
                #[serde(rename = $kind)]
                $Name(Box<$Name>),
            )*
        }
    };
}

words! {
    AccessCause {
        Instruction = "access",
        Range = "range",
        Free = "free",
        VirtualTable = "vptr",
    }
    TaskKind {
        Explicit = "explicit",
        Implicit = "implicit",
        Iterations = "iterations",
        Section = "section",
        Single = "single",
        Region = "region",
        Thread = "thread",
    }
    DependenceKind {
        In = "in",
        Out = "out",
        InOut = "inout",
        MutexInOutSet = "mutexinoutset",
        InOutSet = "inoutset",
    }
    Ending {
        Exit = "exit",
        ImmediateExit = "_exit",
        QuickExit = "quick_exit",
        Abort = "abort",
        Exec = "exec",
    }
}

/// How a process ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// By `exit`, or by returning from `main`.
    Exit,
    /// By `_exit`.
    ImmediateExit,
    /// By `quick_exit`.
    QuickExit,
    /// By `abort`.
    Abort,
    /// It becomes another program, unless that fails.
    Exec,
}

lines! {
    "start" => Start<String>,
    "suppressions" => Suppressions<String>,
    "module" => Module<String>,
    "thread" => Thread<Name, Stack>,
    "race" => Race<First, Second, Place>,
    "count" => Count<>,
    "end" => End<>,
}

objects! {
    /// The process has begun.
    pub struct Start<Path = String> {
        /// [`VERSION`](crate::VERSION): a command reads no other.
        pub version: u64,
        /// The process.
        pub pid: u64,
        /// The process that has started it.
        pub parent: u64,
        /// The path of the executable.
        pub program: Path,
        /// Whether it is a forked child: addresses are as in the parent.
        pub forked: bool,
    }

    /// What the program does not want to hear of (`__tsan_default_suppressions`).
    pub struct Suppressions<Rules = String> {
        /// Rules as ThreadSanitizer has them.
        pub text: Rules,
    }

    /// Where a file lies in memory. A later line wins over an earlier one that overlaps.
    pub struct Module<Path = String> {
        /// First address.
        pub start: u64,
        /// First address behind it.
        pub end: u64,
        /// What to subtract from an address to get the file's own.
        pub bias: u64,
        /// The file.
        pub path: Path,
    }

    /// A thread. Written before the first line that names it.
    pub struct Thread<Name = String, Stack = Vec<u64>> {
        /// 0 is the main thread.
        pub id: u64,
        /// Who created it.
        pub parent: Option<u64>,
        /// What the program calls it.
        pub name: Option<Name>,
        /// Where it was created: return addresses, innermost first.
        pub stack: Stack,
        /// Whether it had ended when this was written.
        pub finished: bool,
    }

    /// Two accesses that nothing orders.
    pub struct Race<First = Access, Second = Access, Place = Memory> {
        /// From 1; unique in its process.
        pub id: u64,
        /// First byte both touched.
        pub address: u64,
        /// How many bytes both touched.
        pub size: u64,
        /// The earlier access.
        pub first: First,
        /// The one that found it.
        pub second: Second,
        /// What lies there.
        pub memory: Place,
    }

    /// One side of a race.
    pub struct Access<Stack = Vec<u64>, Locks = Vec<Lock>, Tasks = Vec<Task>> {
        /// The number of the thread that accesses.
        pub thread: u64,
        /// First byte. Exact within the aligned 8 bytes where the two accesses meet: a longer one is shown by its part there.
        pub address: u64,
        /// How many bytes, within those 8.
        pub size: u64,
        /// Write or read.
        pub write: bool,
        /// By an atomic operation.
        pub atomic: bool,
        /// What it is part of.
        #[cfg_attr(feature = "read", serde(deserialize_with = "read_word"))]
        pub cause: AccessCause,
        /// Return addresses, innermost first; empty if not known.
        pub stack: Stack,
        /// What was held.
        pub locks: Locks,
        /// In a program of OpenMP: the task that made it, the one that created that, and so on outwards.
        pub tasks: Tasks,
    }

    /// A lock that was held.
    #[derive(Copy)]
    pub struct Lock {
        /// Where it lies.
        pub address: u64,
        /// Held alone, or shared with other readers.
        pub write: bool,
    }

    /// A task of OpenMP, or what counts as one.
    pub struct Task<Stack = Vec<u64>, Depends = Vec<Depend>> {
        /// What it is.
        #[cfg_attr(feature = "read", serde(deserialize_with = "read_word"))]
        pub kind: TaskKind,
        /// The same for the same task.
        pub id: u64,
        /// The thread's number in its team, or the first iteration.
        pub number: u64,
        /// How many iterations.
        pub iterations: u64,
        /// Where the construct stands.
        pub stack: Stack,
        /// What it depends on, the last one first.
        pub depends: Depends,
    }

    /// A dependence of a task.
    #[derive(Copy)]
    pub struct Depend {
        /// What it names.
        pub address: u64,
        /// How.
        #[cfg_attr(feature = "read", serde(deserialize_with = "read_word"))]
        pub kind: DependenceKind,
        /// It names all memory (`omp_all_memory`).
        pub all_memory: bool,
    }

    /// How often a race was seen in all, if more than once.
    #[derive(Copy)]
    pub struct Count {
        /// Its id.
        pub race: u64,
        /// How often.
        pub count: u64,
    }

    /// The process ends. Lines may follow after [`Ending::Exec`], if that fails, and another end, which is the one to believe.
    #[derive(Copy)]
    pub struct End {
        /// How.
        #[cfg_attr(feature = "read", serde(deserialize_with = "read_word"))]
        pub how: Ending,
        /// The exit status or signal, if known.
        pub status: Option<u64>,
        /// How many races were written.
        pub races: u64,
        /// How many were seen, with repetitions.
        pub seen: u64,
        /// How many threads there were.
        pub threads: u64,
        /// Accesses or threads that could not be tracked: 0 means the check was exact.
        pub dropped: u64,
        /// Races that were counted but not written, for the limits.
        pub unreported: u64,
        /// In a program of OpenMP.
        pub openmp: Option<OpenMp>,
    }

    /// What a run of OpenMP had that its verdict speaks of.
    #[derive(Copy, Default)]
    pub struct OpenMp {
        /// Explicit and implicit tasks, iterations handed out, regions.
        pub tasks: u64,
        /// Explicit tasks that were created, and had not begun when the program ended.
        pub never_run: u64,
        /// Critical sections or locks.
        pub locks: bool,
        /// Loops with a static schedule.
        pub static_loops: bool,
        /// Code that asks for the number of its thread.
        pub thread_numbers: bool,
        /// Order by atomic variables or locks of threads.
        pub messages: bool,
        /// A team of one thread.
        pub team_of_one: bool,
    }
}

tagged! {
    /// What kind of memory a race is about.
    pub enum Memory<Stack = Vec<u64>> {
        /// A block of the heap.
        Heap = "heap" {
            /// Its first byte.
            start: u64,
            /// Its bytes.
            size: u64,
            /// Who allocated it.
            thread: u64,
            /// Where: return addresses, innermost first.
            stack: Stack,
        },
        /// A thread's stack.
        Stack = "stack" {
            /// The number of the thread that it belongs to.
            thread: u64,
        },
        /// A thread-local variable.
        Tls = "tls" {
            /// The number of the thread that it belongs to.
            thread: u64,
        },
        /// A module's data; the address tells which.
        Global = "global" {},
        /// Mapped by the program.
        Mapped = "mapped" {},
        /// Nobody knows.
        Unknown = "unknown" {},
    }
}

impl OpenMp {
    /// What two processes had.
    #[must_use]
    pub fn and(self, other: OpenMp) -> OpenMp {
        OpenMp {
            tasks: self.tasks + other.tasks,
            never_run: self.never_run + other.never_run,
            locks: self.locks | other.locks,
            static_loops: self.static_loops | other.static_loops,
            thread_numbers: self.thread_numbers | other.thread_numbers,
            messages: self.messages | other.messages,
            team_of_one: self.team_of_one | other.team_of_one,
        }
    }
}

/// Reads a word; any that is not known is an error.
#[cfg(feature = "read")]
fn read_word<'de, W: Word, D: serde::Deserializer<'de>>(reader: D) -> Result<W, D::Error> {
    let text = <String as serde::Deserialize>::deserialize(reader)?;
    let known = W::ALL.iter().find(|known| known.word() == text);
    known.copied().ok_or_else(|| {
        let message = format_args!("`{text}` is no word that is used here").to_string();
        <D::Error as serde::de::Error>::custom(message)
    })
}

/// Writes a member of an object.
fn member(name: &str, value: impl Json, line: &mut Vec<u8>) {
    comma(line);
    Text(name.as_bytes()).write(line);
    line.push(b':');
    value.write(line);
}

/// Separates what comes from what was before it in an object or a list.
fn comma(line: &mut Vec<u8>) {
    if !matches!(line.last(), None | Some(b'{' | b'[')) {
        line.push(b',');
    }
}

/// The decimal digits of a number.
pub fn digits(mut number: u64, room: &mut [u8; 20]) -> &[u8] {
    let mut at = room.len();
    loop {
        at -= 1;
        room[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &room[at..];
        }
    }
}

impl Json for u64 {
    fn write(self, line: &mut Vec<u8>) {
        line.extend_from_slice(digits(self, &mut [0; 20]));
    }
}

impl Json for bool {
    fn write(self, line: &mut Vec<u8>) {
        line.extend_from_slice(if self { b"true" } else { b"false" });
    }
}

impl<T: Json> Json for Option<T> {
    fn write(self, line: &mut Vec<u8>) {
        match self {
            Some(value) => value.write(line),
            None => line.extend_from_slice(b"null"),
        }
    }
}

impl<I: IntoIterator<Item: Json>> Json for List<I> {
    fn write(self, line: &mut Vec<u8>) {
        line.push(b'[');
        for value in self.0 {
            comma(line);
            value.write(line);
        }
        line.push(b']');
    }
}

impl Json for Text<'_> {
    fn write(self, line: &mut Vec<u8>) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        line.push(b'"');
        for chunk in self.0.utf8_chunks() {
            for byte in chunk.valid().bytes() {
                match byte {
                    b'"' | b'\\' => line.extend_from_slice(&[b'\\', byte]),
                    0..0x20 => {
                        let [high, low] = [byte >> 4, byte & 15].map(|digit| HEX[digit as usize]);
                        line.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
                    }
                    _ => line.push(byte),
                }
            }
            if !chunk.invalid().is_empty() {
                line.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
        line.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<L: Line>(object: L) -> String {
        let mut line = Vec::new();
        write_line(object, &mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_line_is_json() {
        let thread = Thread {
            id: u64::MAX,
            parent: None,
            name: Some(Text(b"a\"b\\c\x01\xffd")),
            stack: List([0, 10]),
            finished: true,
        };
        let expected = concat!(
            r#"{"thread":{"id":18446744073709551615,"parent":null,"name":"a\"b\\c\u0001"#,
            "\u{fffd}",
            r#"d","stack":[0,10],"finished":true}}"#,
            "\n"
        );
        assert_eq!(written(thread), expected);
        let none = Thread {
            id: 0,
            parent: Some(0),
            name: None::<Text>,
            stack: List([0; 0]),
            finished: false,
        };
        let expected = r#"{"thread":{"id":0,"parent":0,"name":null,"stack":[],"finished":false}}"#;
        assert_eq!(written(none).trim_end(), expected);
    }

    /// What was written, read, and written again.
    #[cfg(feature = "read")]
    #[test]
    fn what_is_written_is_read() {
        let access = |cause, kind| Access {
            thread: 1,
            address: 16,
            size: 8,
            write: true,
            atomic: false,
            cause,
            stack: List([7, 9]),
            locks: List([Lock {
                address: 3,
                write: false,
            }]),
            tasks: List([Task {
                kind,
                id: 5,
                number: 6,
                iterations: 0,
                stack: List([8]),
                depends: List(DependenceKind::ALL.iter().map(|&kind| Depend {
                    address: 4,
                    kind,
                    all_memory: true,
                })),
            }]),
        };
        let again = |access: Access| Access {
            thread: access.thread,
            address: access.address,
            size: access.size,
            write: access.write,
            atomic: access.atomic,
            cause: access.cause,
            stack: List(access.stack),
            locks: List(access.locks),
            tasks: List(access.tasks.into_iter().map(|task| Task {
                kind: task.kind,
                id: task.id,
                number: task.number,
                iterations: task.iterations,
                stack: List(task.stack),
                depends: List(task.depends),
            })),
        };
        for (cause, kind) in std::iter::zip(AccessCause::ALL.iter().cycle(), TaskKind::ALL) {
            let line = written(Race {
                id: 2,
                address: 17,
                size: 1,
                first: access(*cause, *kind),
                second: access(*cause, *kind),
                memory: Memory::Heap {
                    start: 0,
                    size: 64,
                    thread: 1,
                    stack: List([1, 2]),
                },
            });
            let Ok(AnyLine::Race(race)) = serde_json::from_str(&line) else {
                panic!("{line}");
            };
            let Memory::Heap {
                start,
                size,
                thread,
                stack,
            } = race.memory
            else {
                panic!("{line}");
            };
            let race = Race {
                id: race.id,
                address: race.address,
                size: race.size,
                first: again(race.first),
                second: again(race.second),
                memory: Memory::Heap {
                    start,
                    size,
                    thread,
                    stack: List(stack),
                },
            };
            assert_eq!(written(race), line);
        }
        for &how in Ending::ALL {
            let line = written(End {
                how,
                status: Some(3),
                races: 1,
                seen: 2,
                threads: 3,
                dropped: 4,
                unreported: 5,
                openmp: Some(OpenMp::default()),
            });
            let Ok(AnyLine::End(end)) = serde_json::from_str(&line) else {
                panic!("{line}");
            };
            assert_eq!(written(*end), line);
        }
    }

    #[cfg(feature = "read")]
    #[test]
    fn an_unknown_word_is_an_error() {
        let end = |how: &str| {
            format!(
                r#"{{"end":{{"how":"{how}","status":null,"races":0,"seen":0,"threads":1,"dropped":0,"unreported":0,"openmp":null}}}}"#
            )
        };
        assert!(serde_json::from_str::<AnyLine>(&end("exit")).is_ok());
        assert!(serde_json::from_str::<AnyLine>(&end("vanish")).is_err());
        assert!(serde_json::from_str::<Memory>(r#"{"kind":"mapped"}"#).is_ok());
        assert!(serde_json::from_str::<Memory>(r#"{"kind":"novel"}"#).is_err());
    }
}
