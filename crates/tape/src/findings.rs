//! Findings: the lines that the runtime writes and the command reads.
#![doc = include_str!("findings.md")]
//!
//! # One definition for both sides
//! Every object of a line is one struct here. Its fields' names are the names in the file, and [`Json`], which writes it, and
//! serde's `Deserialize` (with the feature `read`), which reads it, are made of the same list. Where a struct has a list or a
//! text, that is a type parameter: the reader's (a vector, a string) unless given; the writer gives a [`List`] of an
//! iterator, or a [`Text`], so that nothing is allocated but the line itself.

use deadheat_model::finding::{AccessCause, DependenceKind, TaskKind};
pub use deadheat_model::guarantee::Obstacle;

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
        pub enum $Name:ident<$($Parameter:ident = $Default:ty),*> {
            $($(#[$variant_meta:meta])* $Variant:ident = $word:literal {
                $($(#[$field_meta:meta])* $field:ident: $Type:ty,)*
            },)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        #[cfg_attr(feature = "read", derive(serde::Deserialize), serde(tag = "kind"))]
        pub enum $Name<$($Parameter = $Default),*> {
            $(
                $(#[$variant_meta])*
                #[cfg_attr(feature = "read", serde(rename = $word))]
                $Variant { $($(#[$field_meta])* $field: $Type,)* },
            )*
        }

        impl<$($Parameter: Json),*> Json for $Name<$($Parameter),*> {
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
        LockTaken = "lock-taken",
        LockDestroyed = "lock-destroyed",
        LockLife = "lock-life",
        Loop = "loop",
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
    Obstacle {
        NotBuilt = "not-built",
        Silent = "silent",
        AddressSpace = "address-space",
        NoTape = "no-tape",
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
    "main" => Main<Frame>,
    "race" => Race<First, Second, Place>,
    "count" => Count<>,
    "end" => End<>,
    "unchecked" => Unchecked<>,
    "started" => Started<String>,
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

    /// The process runs unchecked.
    #[derive(Copy)]
    pub struct Unchecked {
        /// Why.
        #[cfg_attr(feature = "read", serde(deserialize_with = "read_word"))]
        pub why: Obstacle,
    }

    /// A process is about to become another program, or has started one.
    pub struct Started<Path = String> {
        /// The process that runs it.
        pub pid: u64,
        /// The executable: its whole path, unless it was looked up by its name.
        pub program: Path,
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

    /// The frame of the first thread's outermost function, which lives as long as the program runs: when the program creates
    /// its first thread, in a recorded process.
    pub struct Main<Frame = StackFrame> {
        /// Where it is.
        pub frame: Frame,
    }

    /// The part of a thread's stack that a function has which runs.
    #[derive(Default)]
    pub struct StackFrame<Code = Vec<u64>, Pointers = Vec<(u64, u64)>> {
        /// Where the stack pointer was before the function was called.
        pub base: u64,
        /// Where it is in the function.
        pub stack_pointer: u64,
        /// Where the function returns to.
        pub caller: u64,
        /// No checked function has called it.
        pub outermost: bool,
        /// Words found where a call puts what it returns to, the likeliest first: one that is an address of code may be where
        /// the function has called from.
        pub code: Code,
        /// If the byte in question lies in no variable of fixed size: words of the frame that may point to what it lies in (an
        /// array of variable length). Where they lie, and to where they point.
        pub pointers: Pointers,
    }

    /// Two accesses that nothing orders.
    pub struct Race<First = Access, Second = Access, Place = Memory> {
        /// From 1; unique in its process.
        pub id: u64,
        /// In another order of critical sections, or on other threads, the two accesses might not be made.
        #[cfg_attr(feature = "read", serde(default))]
        pub possible: bool,
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
    pub struct Lock<Place = Memory> {
        /// Where it lies.
        pub address: u64,
        /// Held alone, or shared with other readers.
        pub write: bool,
        /// What lies there, if not a module's data; nothing where there are very many.
        pub memory: Option<Place>,
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
    pub struct Depend<Place = Memory> {
        /// What it names.
        pub address: u64,
        /// How.
        #[cfg_attr(feature = "read", serde(deserialize_with = "read_word"))]
        pub kind: DependenceKind,
        /// It names all memory (`omp_all_memory`).
        pub all_memory: bool,
        /// What lies there, as for a [`Lock`].
        pub memory: Option<Place>,
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
        /// Code for which it matters which thread ran what: the verdict is about those that did.
        pub threads_choose: bool,
        /// Order by atomic variables or locks of threads.
        pub messages: bool,
        /// A team of one thread.
        pub team_of_one: bool,
    }
}

tagged! {
    /// What kind of memory a race is about.
    pub enum Memory<Stack = Vec<u64>, Frame = StackFrame> {
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
            /// The frame of the function whose part of the stack it is, at the time of the race, if that is known.
            frame: Option<Frame>,
        },
        /// A thread-local variable.
        Tls = "tls" {
            /// The number of the thread that it belongs to.
            thread: u64,
            /// How many bytes below the thread's pointer it lies.
            below: u64,
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
            threads_choose: self.threads_choose | other.threads_choose,
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

/// A list of two.
impl<A: Json, B: Json> Json for (A, B) {
    fn write(self, line: &mut Vec<u8>) {
        line.push(b'[');
        self.0.write(line);
        comma(line);
        self.1.write(line);
        line.push(b']');
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

    #[cfg(feature = "read")]
    type Frame = StackFrame<List<Vec<u64>>, List<Vec<(u64, u64)>>>;
    #[cfg(feature = "read")]
    type Place = Memory<List<Vec<u64>>, Frame>;

    #[cfg(feature = "read")]
    fn frame() -> Frame {
        StackFrame {
            base: 9,
            stack_pointer: 1,
            caller: 7,
            outermost: true,
            code: List(vec![5, 6]),
            pointers: List(vec![(2, 3), (4, 5)]),
        }
    }

    #[cfg(feature = "read")]
    fn same_frame(frame: StackFrame) -> Frame {
        StackFrame {
            base: frame.base,
            stack_pointer: frame.stack_pointer,
            caller: frame.caller,
            outermost: frame.outermost,
            code: List(frame.code),
            pointers: List(frame.pointers),
        }
    }

    #[cfg(feature = "read")]
    fn same_place(memory: Memory) -> Place {
        match memory {
            Memory::Heap {
                start,
                size,
                thread,
                stack,
            } => Memory::Heap {
                start,
                size,
                thread,
                stack: List(stack),
            },
            Memory::Stack { thread, frame } => Memory::Stack {
                thread,
                frame: frame.map(same_frame),
            },
            Memory::Tls { thread, below } => Memory::Tls { thread, below },
            Memory::Global {} => Memory::Global {},
            Memory::Mapped {} => Memory::Mapped {},
            Memory::Unknown {} => Memory::Unknown {},
        }
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
            locks: List([Some(frame()), None].map(|frame| Lock {
                address: 3,
                write: false,
                memory: Some(Place::Stack { thread: 2, frame }),
            })),
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
                    memory: None::<Place>,
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
            locks: List(access.locks.into_iter().map(|lock| Lock {
                address: lock.address,
                write: lock.write,
                memory: lock.memory.map(same_place),
            })),
            tasks: List(access.tasks.into_iter().map(|task| Task {
                kind: task.kind,
                id: task.id,
                number: task.number,
                iterations: task.iterations,
                stack: List(task.stack),
                depends: List(task.depends.into_iter().map(|depend| Depend {
                    address: depend.address,
                    kind: depend.kind,
                    all_memory: depend.all_memory,
                    memory: depend.memory.map(same_place),
                })),
            })),
        };
        for (cause, kind) in std::iter::zip(AccessCause::ALL.iter().cycle(), TaskKind::ALL) {
            let line = written(Race {
                possible: true,
                id: 2,
                address: 17,
                size: 1,
                first: access(*cause, *kind),
                second: access(*cause, *kind),
                memory: Place::Heap {
                    start: 0,
                    size: 64,
                    thread: 1,
                    stack: List(vec![1, 2]),
                },
            });
            let Ok(AnyLine::Race(race)) = serde_json::from_str(&line) else {
                panic!("{line}");
            };
            let race = Race {
                possible: race.possible,
                id: race.id,
                address: race.address,
                size: race.size,
                first: again(race.first),
                second: again(race.second),
                memory: same_place(race.memory),
            };
            assert_eq!(written(race), line);
        }
        let line = written(Main { frame: frame() });
        assert!(line.contains(r#""code":[5,6],"pointers":[[2,3],[4,5]]"#));
        let Ok(AnyLine::Main(main)) = serde_json::from_str(&line) else {
            panic!("{line}");
        };
        let frame = same_frame(main.frame);
        assert_eq!(written(Main { frame }), line);
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
        for frame in ["", r#","frame":null"#] {
            let stack = format!(r#"{{"kind":"stack","thread":1{frame}}}"#);
            let read = serde_json::from_str::<Memory>(&stack);
            assert!(matches!(read, Ok(Memory::Stack { frame: None, .. })));
        }
    }
}
