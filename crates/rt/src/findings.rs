//! Races, written down as they are found.
#![doc = include_str!("findings.md")]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use deadheat_online::fasttrack::Record;
use deadheat_order::Step;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::line::Line;
use crate::modules;
use crate::openmp::Seen;
use crate::openmp::descriptions::{Description, Kind};
use crate::origin::{Origin, Stack};
use crate::os::{self, Spin};
use crate::thread::Thread;
use crate::world::world;

const MANY: usize = 200_000;
const SAME_CODE: u32 = 8;
const DEEP: usize = 256;
/// How many of the tasks are told of that have created each other.
const LINEAGE: usize = 4;
/// How far below an address its block is looked for at first.
const NEAR: usize = 1 << 20;

/// Two accesses to a word that race.
#[derive(Clone, Copy, Debug)]
pub struct RacyAccess {
    /// Of the word.
    pub address: usize,
    pub first: Record,
    pub second: Record,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Findings {
    lock: Spin,
    inner: UnsafeCell<Inner>,
    /// Whether a race was found.
    any: AtomicBool,
}

// SAFETY: the inner part is only touched with the lock held.
unsafe impl Sync for Findings {}

#[derive(Debug, Default)]
struct Inner {
    path: Option<Vec<u8>>,
    file: Option<i32>,
    /// The path of the file, once it is open.
    own: Option<Vec<u8>>,
    forked: bool,
    /// How often each race was seen, in the order of their numbers (from 1).
    counts: Vec<u64>,
    /// The races by their two stacks.
    by_stacks: FxHashMap<(Stack, Stack, u8), u32>,
    /// How many were written of each pair of code addresses, and the last of them.
    by_code: FxHashMap<(u64, u64), (u32, u32)>,
    threads: FxHashSet<u32>,
    modules: modules::Modules,
    unreported: u64,
    /// Memory whose races are none, by annotation.
    benign: Vec<(usize, usize)>,
    line: Line,
}

impl Findings {
    pub fn new(path: Option<&[u8]>) -> Findings {
        let mut inner = Inner {
            path: path.map(<[u8]>::to_vec),
            ..Inner::default()
        };
        if inner.path.is_some() {
            inner.open();
            // Later the program may have no descriptor left to look them up with.
            inner.write_new_modules();
        }
        Findings {
            lock: Spin::new(),
            inner: UnsafeCell::new(inner),
            any: AtomicBool::new(false),
        }
    }

    fn with<T>(&self, what: impl FnOnce(&mut Inner) -> T) -> T {
        let _guard = self.lock.lock();
        // SAFETY: the lock is held.
        what(unsafe { &mut *self.inner.get() })
    }

    /// A race was found by the running thread.
    #[cold]
    pub fn race(&self, thread: &Thread, race: &RacyAccess) {
        let (is_race, is_new) = self.with(|inner| {
            let known = inner.counts.len();
            (inner.race(thread, race), inner.counts.len() > known)
        });
        if is_race {
            self.any.store(true, Ordering::Relaxed);
        }
        if is_new {
            crate::signals::tell_of_race();
        }
    }

    /// Races on this memory are none.
    pub fn benign(&self, address: usize, size: usize) {
        self.with(|inner| inner.benign.push((address, address + size)));
    }

    /// The process ends, or becomes another program.
    pub fn end(&self, how: &str, status: Option<i32>) {
        self.with(|inner| inner.end(how, status));
    }

    /// The path of this process's file, which is made if need be.
    pub fn own_path(&self) -> Option<Vec<u8>> {
        self.with(|inner| {
            inner.open();
            inner.own.clone()
        })
    }

    /// Tells of the modules that have not been told of.
    pub fn tell_modules(&self) {
        self.with(|inner| {
            inner.open();
            inner.write_new_modules();
        });
    }

    /// In a forked child: a file of its own, once there is something to write.
    pub fn forked(&self) {
        self.lock.reset();
        self.any.store(false, Ordering::Relaxed);
        self.with(|inner| {
            if let Some(file) = inner.file.take() {
                os::close(file);
            }
            let path = inner.path.take();
            *inner = Inner {
                path,
                forked: true,
                ..Inner::default()
            };
        });
    }
}

impl Inner {
    /// Whether it is one.
    fn race(&mut self, thread: &Thread, race: &RacyAccess) -> bool {
        let (first, second) = (&race.first, &race.second);
        let byte = race.address + (first.mask() & second.mask()).trailing_zeros() as usize;
        if self
            .benign
            .iter()
            .any(|(start, end)| (*start..*end).contains(&byte))
        {
            return false;
        }
        self.count(thread, race);
        true
    }

    fn count(&mut self, thread: &Thread, race: &RacyAccess) {
        let (first, second) = (&race.first, &race.second);
        let [stack1, stack2] = [first, second].map(|record| Origin(record.origin).stack());
        let kinds = u8::from(first.kind().write) | u8::from(second.kind().write) << 1;
        let stacks = if stack1 <= stack2 {
            (stack1, stack2, kinds)
        } else {
            (stack2, stack1, kinds)
        };
        if let Some(&known) = self.by_stacks.get(&stacks) {
            self.counts[known as usize - 1] += 1;
            return;
        }
        let code = |stack: Stack| stack.addresses().next().unwrap_or(0);
        let (code1, code2) = (code(stack1), code(stack2));
        let codes = (code1.min(code2), code1.max(code2));
        let (written, last) = self.by_code.get(&codes).copied().unwrap_or_default();
        if written >= SAME_CODE {
            self.counts[last as usize - 1] += 1;
            return;
        }
        if self.counts.len() >= MANY {
            self.unreported += 1;
            return;
        }
        self.counts.push(1);
        let number = self.counts.len() as u32;
        self.by_stacks.insert(stacks, number);
        self.by_code.insert(codes, (written + 1, number));
        if self.path.is_none() {
            return;
        }
        self.open();
        self.write(thread, race, number);
    }

    fn write(&mut self, thread: &Thread, race: &RacyAccess, number: u32) {
        let world = world();
        let first_thread = match world.tasks {
            None => world.threads.at(race.first.slot(), race.first.time()),
            // Times are steps, and slots are not shared.
            Some(_) => world.threads.at(race.first.slot(), u32::MAX),
        };
        let [first, second] = [race.first, race.second].map(|record| Origin(record.origin).stack());
        self.write_modules(first);
        self.write_modules(second);
        for record in [race.first, race.second] {
            lineage(&record).for_each(|task| self.write_modules(task.stack));
        }
        let byte = race.address + race.second.mask().trailing_zeros() as usize;
        let memory = match self.modules.is_data(byte) {
            true => Memory::Global,
            false => Memory::around(thread, byte),
        };
        self.write_modules(memory.stack());
        for id in [Some(first_thread), Some(thread.id), memory.thread()]
            .into_iter()
            .flatten()
        {
            self.write_thread(id);
        }
        let common = race.first.mask() & race.second.mask();
        let line = &mut self.line;
        line.begin("race");
        line.number("id", u64::from(number));
        line.number(
            "address",
            race.address as u64 + u64::from(common.trailing_zeros()),
        );
        line.number("size", u64::from(common.count_ones()));
        access(line, "first", &race.first, race.address, first_thread);
        access(line, "second", &race.second, race.address, thread.id);
        memory.write(line);
        self.finish();
    }

    fn write_thread(&mut self, id: u32) {
        if !self.threads.insert(id) {
            return;
        }
        let Some(info) = world().threads.info(id) else {
            return;
        };
        if let Some(parent) = info.parent {
            self.write_thread(parent);
        }
        self.write_modules(info.stack);
        let line = &mut self.line;
        line.begin("thread");
        line.number("id", u64::from(id));
        line.optional("parent", info.parent.map(u64::from));
        let name = info.name.split(|byte| *byte == 0).next().unwrap_or(&[]);
        line.name("name");
        match name.is_empty() {
            true => line.raw("null"),
            false => line.text(name),
        }
        stack(line, info.stack);
        line.flag("finished", info.finished);
        self.finish();
    }

    /// Tells of the modules of a stack that have not been told of.
    fn write_modules(&mut self, stack: Stack) {
        let strange = |address: &u64| !self.modules.contains(*address as usize);
        if !stack
            .addresses()
            .take(DEEP)
            .any(|address| strange(&address))
        {
            return;
        }
        self.write_new_modules();
    }

    fn write_new_modules(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        let file = self.file;
        self.modules.update(|module| {
            line.begin("module");
            line.number("start", module.start as u64);
            line.number("end", module.end as u64);
            line.number("bias", module.bias as u64);
            line.name("path");
            line.text(module.path);
            line.end(file);
        });
        self.line = line;
    }

    fn finish(&mut self) {
        self.line.end(self.file);
    }

    fn open(&mut self) {
        let (None, Some(path)) = (self.file, &self.path) else {
            return;
        };
        // SAFETY: asks for numbers.
        let ids = unsafe {
            [
                os::call(libc::SYS_getpid, [0; 6]),
                os::call(libc::SYS_getppid, [0; 6]),
            ]
        };
        let flags =
            libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC;
        for attempt in 0..100 {
            let mut name = path.clone();
            if attempt > 0 || self.forked {
                name.push(b'.');
                name.extend(crate::line::digits(ids[0] as u64, &mut [0; 20]));
            }
            if attempt > 1 {
                name.push(b'.');
                name.extend(crate::line::digits(attempt, &mut [0; 20]));
            }
            name.push(0);
            self.file = os::open(&name, flags).map(os::high);
            if self.file.is_some() {
                name.pop();
                self.own = Some(name);
                break;
            }
        }
        let line = &mut self.line;
        line.begin("start");
        line.number("version", u64::from(deadheat_tape::VERSION));
        line.number("pid", ids[0] as u64);
        line.number("parent", ids[1] as u64);
        line.name("program");
        line.text(&modules::executable());
        line.flag("forked", self.forked);
        self.finish();
        #[cfg(feature = "interpose")]
        if let suppressions @ [_, ..] = crate::hooks::sanitizer::suppressions() {
            self.line.begin("suppressions");
            self.line.name("text");
            self.line.text(suppressions);
            self.finish();
        }
    }

    fn end(&mut self, how: &str, status: Option<i32>) {
        if self.path.is_none() {
            if !self.counts.is_empty() {
                self.remind();
            }
            return;
        }
        if self.forked && self.counts.is_empty() {
            return;
        }
        self.open();
        for index in 0..self.counts.len() {
            if self.counts[index] > 1 {
                self.line.begin("count");
                self.line.number("race", index as u64 + 1);
                self.line.number("count", self.counts[index]);
                self.finish();
            }
        }
        let seen = self.counts.iter().sum::<u64>() + self.unreported;
        let line = &mut self.line;
        line.begin("end");
        line.name("how");
        line.text(how.as_bytes());
        line.optional("status", status.map(|status| status as u64));
        line.number("races", self.counts.len() as u64);
        line.number("seen", seen);
        line.number("threads", world().threads.count() as u64);
        line.number("dropped", world().dropped.load(Ordering::Relaxed));
        line.number("unreported", self.unreported);
        if let Some(tasks) = &world().tasks {
            line.open_object("openmp");
            line.number("tasks", u64::from(tasks.descriptions.count()));
            line.number("never_run", tasks.waiting.load(Ordering::Relaxed).into());
            for (seen, name) in Seen::ALL {
                line.flag(name, tasks.has_seen(seen));
            }
            line.close_object();
        }
        self.finish();
    }

    /// Nobody asked for a report, but there is something to report.
    fn remind(&mut self) {
        let line = &mut self.line;
        let (races, count) = match self.counts.len() {
            1 => (" race", 1),
            count => (" races", count as u64),
        };
        line.clear();
        line.raw("deadheat: ");
        line.bytes(crate::line::digits(count, &mut [0; 20]));
        line.raw(races);
        line.raw(" found; run it as `deadheat run -- PROGRAM` to see ");
        line.raw(if count == 1 { "it\n" } else { "them\n" });
        line.flush(Some(2));
    }
}

fn stack(line: &mut Line, stack: Stack) {
    line.open_list("stack");
    for address in stack.addresses().take(DEEP) {
        line.element(address);
    }
    line.close_list();
}

fn access(line: &mut Line, name: &str, record: &Record, word: usize, thread: u32) {
    line.open_object(name);
    line.number("thread", u64::from(thread));
    line.number(
        "address",
        word as u64 + u64::from(record.mask().trailing_zeros()),
    );
    line.number("size", u64::from(record.mask().count_ones()));
    line.flag("write", record.kind().write);
    line.flag("atomic", record.kind().atomic);
    line.name("what");
    line.text(Origin(record.origin).what().as_bytes());
    stack(line, Origin(record.origin).stack());
    line.open_list("locks");
    for lock in world().locksets.addresses(Origin(record.origin).locks()) {
        line.open_element();
        line.number("address", lock >> 1);
        line.flag("write", lock & 1 == 1);
        line.close_object();
    }
    line.close_list();
    task(line, record);
    line.close_object();
}

/// In a program of OpenMP: the task that made an access, who created that, and so on.
fn lineage(record: &Record) -> impl Iterator<Item = &'static Description> {
    let tasks = world().tasks.as_ref();
    let first = tasks.map(|tasks| tasks.descriptions.of(Step(record.time())));
    let parent = move |task: &u32| {
        let description = tasks?.descriptions.get(*task);
        (description.kind != Kind::Thread).then_some(description.parent)
    };
    let numbers = std::iter::successors(first, parent).take(LINEAGE);
    numbers.filter_map(move |task| Some(tasks?.descriptions.get(task)))
}

fn task(line: &mut Line, record: &Record) {
    let Some(tasks) = &world().tasks else { return };
    line.open_list("tasks");
    for description in lineage(record) {
        line.open_element();
        line.name("kind");
        line.text(description.kind.name().as_bytes());
        line.number("id", std::ptr::from_ref(description) as u64);
        line.number("number", description.number);
        line.number("iterations", u64::from(description.iterations()));
        stack(line, description.stack);
        line.open_list("depends");
        let chain = description.dependences.load(Ordering::Relaxed);
        for dependence in tasks.descriptions.dependences.addresses(chain) {
            line.open_element();
            line.number("address", dependence >> 8);
            line.number("kind", dependence & 0xff);
            line.close_object();
        }
        line.close_list();
        line.close_object();
    }
    line.close_list();
}

/// What kind of memory an address lies in.
enum Memory {
    Heap {
        start: usize,
        size: usize,
        thread: u32,
        stack: Stack,
    },
    Stack(u32),
    ThreadLocal(u32),
    Global,
    Mapped,
    Unknown,
}

impl Memory {
    fn around(thread: &Thread, address: usize) -> Memory {
        if let Some(memory) = Memory::heap(address, address.saturating_sub(NEAR)) {
            return memory;
        }
        match crate::registry::owner(address) {
            Some((owner, true)) => return Memory::ThreadLocal(owner),
            Some((owner, false)) => return Memory::Stack(owner),
            None if (thread.stack.0..thread.stack.1).contains(&address) => {
                return Memory::Stack(thread.id);
            }
            None => {}
        }
        match modules::region(address) {
            (modules::Region::Stack, _) => Memory::Stack(0),
            (modules::Region::Global, _) => Memory::Global,
            (modules::Region::Mapped, start) => {
                Memory::heap(address, start).unwrap_or(Memory::Mapped)
            }
            (modules::Region::Unknown, _) => Memory::Unknown,
        }
    }

    /// The block around an address, or one that was freed lately.
    fn heap(address: usize, lowest: usize) -> Option<Memory> {
        let blocks = &world().blocks;
        let live = blocks.around(address, lowest);
        let (start, header) = live.or_else(|| blocks.freed_around(address))?;
        let thread = match &world().tasks {
            Some(tasks) => tasks.descriptions.thread(header.owner),
            None => header.owner,
        };
        let stack = header.stack();
        Some(Memory::Heap {
            start,
            size: header.size(),
            thread,
            stack,
        })
    }

    fn thread(&self) -> Option<u32> {
        match self {
            Memory::Heap { thread, .. } | Memory::Stack(thread) | Memory::ThreadLocal(thread) => {
                Some(*thread)
            }
            _ => None,
        }
    }

    fn stack(&self) -> Stack {
        match self {
            Memory::Heap { stack, .. } => *stack,
            _ => Stack::default(),
        }
    }

    fn write(&self, line: &mut Line) {
        line.open_object("memory");
        line.name("kind");
        match self {
            Memory::Heap {
                start,
                size,
                thread,
                stack: allocated,
            } => {
                line.text(b"heap");
                line.number("start", *start as u64);
                line.number("size", *size as u64);
                line.number("thread", u64::from(*thread));
                stack(line, *allocated);
            }
            Memory::Stack(thread) => {
                line.text(b"stack");
                line.number("thread", u64::from(*thread));
            }
            Memory::ThreadLocal(thread) => {
                line.text(b"tls");
                line.number("thread", u64::from(*thread));
            }
            Memory::Global => line.text(b"global"),
            Memory::Mapped => line.text(b"mapped"),
            Memory::Unknown => line.text(b"unknown"),
        }
        line.close_object();
    }
}
