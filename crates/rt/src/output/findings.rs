//! Races, written down as they are found: `deadheat_tape::findings` has the format.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use deadheat_model::finding::AccessCause;
use deadheat_online::fasttrack::Record;
use deadheat_order::Step;
use deadheat_tape::findings::{self as tape, Ending, Json, List, Obstacle, Text};
use deadheat_tape::mailbox::{WAITING, WAITS, Wait};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::check::origin::{Origin, Stack};
#[cfg(feature = "interpose")]
use crate::hooks::memory::is_of_loop;
use crate::openmp::descriptions::{Description, Kind};
use crate::openmp::{Seen, Tasks, dependences};
use crate::order::thread::Thread;
use crate::output::frames::{self, Found};
use crate::output::line::LineBuffer;
use crate::output::mailbox::{self, Mailbox, Stream};
use crate::platform::modules;
use crate::platform::options::Options;
use crate::platform::os::{self, Spin};
use crate::platform::world::world;

const MANY: usize = 200_000;
const SAME_CODE: u32 = 8;
const DEEP: usize = 256;
/// How many of the tasks are told of that have created each other.
const LINEAGE: usize = 4;
/// How far below an address its block is looked for at first.
const NEAR: usize = 1 << 20;
/// How many bytes of stacks are searched for the ends of frames, in all.
const SEARCH: usize = 1 << 30;
/// Of how many locks and dependences of a race is told where they lie.
const PLACES: usize = 64;

/// What lies at an address.
type Memory = tape::Memory<Stack, Found>;

/// Two accesses to a word that race.
#[derive(Clone, Copy, Debug)]
pub struct RacyAccess {
    /// Of the word.
    pub address: usize,
    pub first: Record,
    pub second: Record,
    /// In another order of critical sections, or on other threads, the two accesses might not be made.
    pub possible: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Findings {
    lock: Spin,
    inner: UnsafeCell<Inner>,
    /// Whether a race was found.
    any: AtomicBool,
    /// Whether somebody reads what is found.
    is_read: bool,
    options: Options,
}

// SAFETY: the inner part is only touched with the lock held.
unsafe impl Sync for Findings {}

#[derive(Debug, Default)]
struct Inner {
    /// Where findings go; nowhere if nobody asked for them.
    mailbox: Option<Mailbox>,
    stream: Option<Stream>,
    forked: bool,
    /// How many threads the parent had had, but for the one that forked.
    inherited: usize,
    /// Where its threads say what they wait for, once one has.
    waits: Option<&'static [Wait; WAITS]>,
    /// The path of the executable.
    program: Vec<u8>,
    /// What the program and its user do not want to hear of.
    suppressions: Vec<u8>,
    /// How often each race was seen, in the order of their numbers (from 1).
    counts: Vec<u64>,
    /// The races by their two stacks.
    by_stacks: FxHashMap<(Stack, Stack, u8), u32>,
    /// How many were written of each pair of code addresses, and the last of them.
    by_code: FxHashMap<(u64, u64, bool), (u32, u32)>,
    threads: FxHashSet<u32>,
    modules: modules::Modules,
    unreported: u64,
    /// Memory whose races are none, by annotation.
    benign: Vec<(usize, usize)>,
    /// How many bytes of stacks have been searched.
    searched: usize,
    line: LineBuffer,
}

impl Findings {
    pub fn new(mailbox: Option<Mailbox>, mut options: Options) -> Findings {
        let mut inner = Inner {
            mailbox,
            suppressions: suppressions(&mut options),
            program: modules::executable(),
            ..Inner::default()
        };
        if inner.mailbox.is_some() {
            inner.open();
            // Later the program may have no descriptor left to look them up with.
            inner.write_new_modules();
        }
        Findings {
            lock: Spin::new(),
            inner: UnsafeCell::new(inner),
            any: AtomicBool::new(false),
            is_read: mailbox.is_some(),
            options,
        }
    }

    /// Says why this process, which has no room for the mailbox or for what a check keeps, goes on unchecked.
    pub fn leave_note(mailbox: i32, why: Obstacle) {
        let program = modules::executable();
        let mut note = Vec::new();
        tape::write_line(start(ids(), &program, false), &mut note);
        tape::write_line(tape::Unchecked { why }, &mut note);
        mailbox::leave_note(mailbox, &note);
    }

    fn with<T>(&self, what: impl FnOnce(&mut Inner) -> T) -> T {
        let _guard = self.lock.lock();
        // SAFETY: the lock is held.
        what(unsafe { &mut *self.inner.get() })
    }

    /// A race was found by the running thread.
    #[cold]
    pub fn race(&self, thread: &Thread, race: &RacyAccess) {
        #[cfg(test)]
        crate::check::against_definition::reported(race);
        let (is_race, is_new) = self.with(|inner| {
            let known = inner.counts.len();
            (inner.race(thread, race), inner.counts.len() > known)
        });
        if is_race && !race.possible {
            self.any.store(true, Ordering::Relaxed);
        }
        if is_new && !race.possible {
            crate::platform::signals::tell_of_race();
            if self.options.halt_on_error {
                self.halt();
            }
        }
    }

    /// Races on this memory are none.
    pub fn benign(&self, address: usize, size: usize) {
        self.with(|inner| inner.benign.push((address, address + size)));
    }

    /// The process ends, or becomes another program.
    pub fn end(&self, how: Ending, status: Option<i32>) {
        self.with(|inner| inner.end(how, status));
        if !self.is_read && self.any.swap(false, Ordering::Relaxed) && self.options.report_bugs {
            self.remind();
        }
    }

    /// The exit status of a process that nobody reports on, if it has found a race: what runs it has to know.
    pub fn failure(&self) -> Option<i32> {
        let reports = !self.is_read && self.options.report_bugs;
        let failed = reports && self.with(|inner| !inner.counts.is_empty());
        (failed && self.options.exit_code != 0).then_some(self.options.exit_code)
    }

    /// The process ends at once, as it was asked to.
    fn halt(&self) {
        let status = self.options.exit_code;
        self.end(Ending::ImmediateExit, Some(status));
        // SAFETY: ends the process.
        unsafe { os::call(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]) };
    }

    /// Nobody asked for a report, but there is something to report.
    fn remind(&self) {
        let mut line = LineBuffer::default();
        if !self.options.ignored.is_empty() {
            line.text("deadheat: ignores these options:");
            for name in &self.options.ignored {
                line.text(" ");
                line.bytes(name);
            }
            line.text("\n");
        }
        line.text("deadheat: there was a data race; run it as `deadheat run -- PROGRAM` to see it");
        if self.with(|inner| !inner.suppressions.is_empty()) {
            line.text(", and to have suppressions obeyed");
        }
        line.text("\n");
        let log = self.options.log_path.as_ref().and_then(|path| {
            let mut path = path.clone();
            path.push(b'.');
            path.extend(tape::digits(ids()[0], &mut [0; 20]));
            path.push(0);
            let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC;
            os::open(&path, flags)
        });
        line.print(log.unwrap_or(libc::STDERR_FILENO));
        if let Some(log) = log {
            os::close(log);
        }
    }

    /// Where this process's tape goes: the mailbox, and the number of the stream, which is that of the file.
    pub fn tape(&self) -> Option<(Mailbox, usize)> {
        self.with(|inner| {
            inner.open();
            Some((inner.mailbox?, inner.stream.as_ref()?.number))
        })
    }

    /// Where a thread says what it waits for. None: nobody reads it.
    pub fn wait(&self, thread: u32) -> Option<&'static Wait> {
        self.with(|inner| {
            inner.open();
            if inner.waits.is_none() {
                let stream = inner.stream.as_ref()?.number;
                let bytes = size_of::<[Wait; WAITS]>();
                let room = inner.mailbox?.room(WAITING, stream, bytes)?;
                // SAFETY: mapped all zero for as long as the process is this program; what changes is atomic.
                inner.waits = Some(unsafe { &*(room as *const [Wait; WAITS]) });
            }
            inner.waits?.get(thread as usize)
        })
    }

    /// Says why this process goes on unchecked.
    pub fn unchecked(&self, why: Obstacle) {
        self.with(|inner| inner.write_line(tape::Unchecked { why }));
    }

    /// A process is about to become another program, or has started one.
    pub fn started(&self, pid: Option<u64>, program: &[u8]) {
        self.with(|inner| {
            inner.open();
            let own = inner.stream.as_ref().map_or(0, |stream| stream.pid as u64);
            inner.write_line(tape::Started {
                pid: pid.unwrap_or(own),
                program: Text(program),
            });
        });
    }

    /// Whether this process is an orphan that `deadheat run` has adopted.
    pub fn is_orphan(&self) -> bool {
        let [pid, parent] = ids().map(|id| id as usize);
        self.with(|inner| {
            inner
                .mailbox
                .is_some_and(|mailbox| mailbox.adopts(pid, parent))
        })
    }

    /// What this process becomes, or starts, is to find its way to where the findings go.
    pub fn hand_over(&self) {
        self.with(|inner| inner.mailbox.map(mailbox::hand_over));
    }

    /// Tells of the modules that have not been told of.
    pub fn tell_modules(&self) {
        self.with(|inner| {
            inner.open();
            inner.write_new_modules();
        });
    }

    /// Tells of the frame of the first thread's outermost function, which lives as long as the program runs.
    pub fn tell_main(&self, frame: Found) {
        self.with(|inner| inner.write_line(tape::Main { frame }));
    }

    /// In a forked child: a stream of its own.
    pub fn forked(&self) {
        self.lock.reset();
        self.any.store(false, Ordering::Relaxed);
        self.with(|inner| {
            inner.forget();
            inner.open();
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
        self.open();
        self.count(thread, race);
        true
    }

    /// In a forked child: its parent has reported what was found before.
    fn forget(&mut self) {
        let mut modules = std::mem::take(&mut self.modules);
        modules.forked();
        *self = Inner {
            mailbox: self.mailbox,
            forked: true,
            inherited: world().threads.count() - 1,
            program: std::mem::take(&mut self.program),
            suppressions: std::mem::take(&mut self.suppressions),
            modules,
            benign: std::mem::take(&mut self.benign),
            ..Inner::default()
        };
    }

    fn count(&mut self, thread: &Thread, race: &RacyAccess) {
        let (first, second) = (&race.first, &race.second);
        let [stack1, stack2] = [first, second].map(|record| Origin(record.origin).stack());
        let possible = race.possible;
        let kinds = u8::from(first.kind().write)
            | u8::from(second.kind().write) << 1
            | u8::from(possible) << 2;
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
        let codes = (code1.min(code2), code1.max(code2), possible);
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
        if self.mailbox.is_some() {
            self.write(thread, race, number);
        }
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
            lineage(record).for_each(|task| self.write_modules(task.stack));
        }
        let byte = race.address + race.second.mask().trailing_zeros() as usize;
        let memory = match self.modules.is_data(byte) {
            true => Memory::Global {},
            false => self.memory(thread, byte),
        };
        for id in [first_thread, thread.id] {
            self.write_thread(id);
        }
        let places = self.places(thread, race);
        let common = race.first.mask() & race.second.mask();
        self.write_line(tape::Race {
            id: number.into(),
            possible: race.possible,
            address: race.address as u64 + u64::from(common.trailing_zeros()),
            size: common.count_ones().into(),
            first: access(race.first, race.address, first_thread, &places),
            second: access(race.second, race.address, thread.id, &places),
            memory,
        });
    }

    /// What kind of memory an address lies in that is no module's data, after the lines that it refers to.
    fn memory(&mut self, thread: &Thread, address: usize) -> Memory {
        let mut memory = memory_around(thread, address);
        let owner = match &mut memory {
            Memory::Heap { thread, stack, .. } => {
                self.write_modules(*stack);
                *thread
            }
            Memory::Stack { thread, frame } => {
                *frame = self.frame(*thread as u32, address);
                *thread
            }
            Memory::Tls { thread, .. } => *thread,
            Memory::Global {} | Memory::Mapped {} | Memory::Unknown {} => return memory,
        };
        self.write_thread(owner as u32);
        memory
    }

    /// The frame that an address on a thread's stack lies in.
    fn frame(&mut self, owner: u32, address: usize) -> Option<Found> {
        let mut budget = SEARCH.saturating_sub(self.searched);
        let found = crate::order::registry::of_thread(owner, |thread| {
            frames::around(thread.frames(), address, &mut budget)
        });
        self.searched = SEARCH - budget;
        found
    }

    /// Where the locks and dependences of a race lie, if not in the data of a module.
    fn places(&mut self, thread: &Thread, race: &RacyAccess) -> Places {
        let mut addresses = Vec::new();
        for record in [race.first, race.second] {
            let locks = world().locksets.addresses(Origin(record.origin).locks());
            addresses.extend(locks.map(|lock| lock >> 1));
            for task in lineage(record) {
                addresses.extend(dependences_of(task).map(|dependence| dependence >> 8));
            }
        }
        addresses.sort_unstable();
        addresses.dedup();
        let mut places = Places::new();
        for address in addresses.into_iter().take(PLACES) {
            // A lock that OpenMP's runtime has may be no address.
            if address >> 47 == 0 && !self.modules.is_data(address as usize) {
                places.push((address, self.memory(thread, address as usize)));
            }
        }
        places
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
        let name = info.name.split(|byte| *byte == 0).next();
        self.write_line(tape::Thread {
            id: id.into(),
            parent: info.parent.map(u64::from),
            name: name.filter(|name| !name.is_empty()).map(Text),
            stack: info.stack,
            finished: info.finished,
        });
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
        let (line, stream) = (&mut self.line, &mut self.stream);
        self.modules.update(|module| {
            let module = tape::Module {
                start: module.start as u64,
                end: module.end as u64,
                bias: module.bias as u64,
                path: Text(&module.path),
            };
            line.write(module, stream.as_mut());
        });
    }

    fn write_line(&mut self, line: impl tape::Line) {
        self.line.write(line, self.stream.as_mut());
    }

    /// Sees to it that this process has a stream. One that was made by a bare `clone` has its parent's.
    fn open(&mut self) {
        let Some(mailbox) = self.mailbox else { return };
        let ids = ids();
        match &self.stream {
            Some(stream) if stream.pid as u64 == ids[0] => return,
            Some(_) => self.forget(),
            None => {}
        }
        self.stream = mailbox.stream(ids[0] as usize);
        let program = std::mem::take(&mut self.program);
        self.write_line(start(ids, &program, self.forked));
        self.program = program;
        let suppressions = std::mem::take(&mut self.suppressions);
        if !suppressions.is_empty() {
            let text = Text(&suppressions);
            self.write_line(tape::Suppressions { text });
        }
        self.suppressions = suppressions;
    }

    fn end(&mut self, how: Ending, status: Option<i32>) {
        if self.mailbox.is_none() {
            return;
        }
        self.open();
        for index in 0..self.counts.len() {
            if self.counts[index] > 1 {
                self.write_line(tape::Count {
                    race: index as u64 + 1,
                    count: self.counts[index],
                });
            }
        }
        let seen = self.counts.iter().sum::<u64>() + self.unreported;
        self.write_line(tape::End {
            how,
            status: status.map(|status| status as u64),
            races: self.counts.len() as u64,
            seen,
            threads: (world().threads.count() - self.inherited) as u64,
            dropped: world().dropped.load(Ordering::Relaxed),
            unreported: self.unreported,
            openmp: world().tasks.as_ref().map(openmp),
        });
    }
}

/// The suppressions of the program, and those of a file.
fn suppressions(options: &mut Options) -> Vec<u8> {
    let mut text = Vec::new();
    #[cfg(feature = "interpose")]
    text.extend(crate::hooks::sanitizer::suppressions());
    if let Some(mut path) = options.suppressions.clone() {
        path.push(0);
        match os::read_all(&path) {
            Some(rules) => text.extend([b"\n", &*rules].concat()),
            None => options.ignored.push(b"suppressions".to_vec()),
        }
    }
    text
}

/// The numbers of this process and of its parent.
fn ids() -> [u64; 2] {
    // SAFETY: asks for numbers.
    [libc::SYS_getpid, libc::SYS_getppid].map(|ask| unsafe { os::call(ask, [0; 6]) as u64 })
}

fn start([pid, parent]: [u64; 2], program: &[u8], forked: bool) -> tape::Start<Text<'_>> {
    tape::Start {
        version: deadheat_tape::VERSION,
        pid,
        parent,
        program: Text(program),
        forked,
    }
}

impl Json for Stack {
    fn write(self, line: &mut Vec<u8>) {
        List(self.addresses().take(DEEP)).write(line);
    }
}

/// Addresses, and what lies there.
type Places = Vec<(u64, Memory)>;

fn place(places: &Places, address: u64) -> Option<Memory> {
    let known = places.iter().find(|(known, _)| *known == address);
    known.map(|(_, memory)| memory.clone())
}

fn access(
    record: Record,
    word: usize,
    thread: u32,
    places: &Places,
) -> tape::Access<Stack, impl Json, impl Json> {
    let origin = Origin(record.origin);
    let locks = world().locksets.addresses(origin.locks());
    tape::Access {
        thread: thread.into(),
        address: word as u64 + u64::from(record.mask().trailing_zeros()),
        size: record.mask().count_ones().into(),
        write: record.kind().write,
        atomic: record.kind().atomic,
        cause: cause(origin),
        stack: origin.stack(),
        locks: List(locks.map(|lock| tape::Lock {
            address: lock >> 1,
            write: lock & 1 == 1,
            memory: place(places, lock >> 1),
        })),
        tasks: List(lineage(record).map(|found| task(found, places))),
    }
}

/// The cause of an access. That it was one of a loop, its code says.
#[cfg(feature = "interpose")]
fn cause(origin: Origin) -> AccessCause {
    match origin.cause() {
        AccessCause::Instruction
            if (origin.stack().addresses().next()).is_some_and(|pc| is_of_loop(pc as usize)) =>
        {
            AccessCause::Loop
        }
        cause => cause,
    }
}

#[cfg(not(feature = "interpose"))]
fn cause(origin: Origin) -> AccessCause {
    origin.cause()
}

/// In a program of OpenMP: the task that made an access, who created that, and so on.
fn lineage(record: Record) -> impl Iterator<Item = &'static Description> {
    let tasks = world().tasks.as_ref();
    let first = tasks.map(|tasks| tasks.descriptions.of(Step(record.time())));
    let parent = move |task: &u32| {
        let description = tasks?.descriptions.get(*task);
        (description.kind != Kind::Thread).then_some(description.parent)
    };
    let numbers = std::iter::successors(first, parent).take(LINEAGE);
    numbers.filter_map(move |task| Some(tasks?.descriptions.get(task)))
}

/// The dependences of a task, each an address and how it depends on that.
fn dependences_of(task: &Description) -> impl Iterator<Item = u64> + use<> {
    let chain = task.dependences.load(Ordering::Relaxed);
    let tasks = world().tasks.iter();
    tasks.flat_map(move |tasks| tasks.descriptions.dependences.addresses(chain))
}

fn task<'p>(
    description: &'static Description,
    places: &'p Places,
) -> tape::Task<Stack, impl Json + use<'p>> {
    let depends = dependences_of(description);
    tape::Task {
        kind: description.kind.of_report(),
        id: std::ptr::from_ref(description) as u64,
        number: description.number,
        iterations: description.iterations().into(),
        stack: description.stack,
        depends: List(depends.map(|dependence| tape::Depend {
            address: dependence >> 8,
            kind: dependences::kind_of_report(dependence as u32),
            all_memory: dependence as u32 & dependences::ALL != 0,
            memory: place(places, dependence >> 8),
        })),
    }
}

fn openmp(tasks: &Tasks) -> tape::OpenMp {
    tape::OpenMp {
        tasks: tasks.descriptions.count().into(),
        never_run: tasks.waiting.load(Ordering::Relaxed).into(),
        locks: tasks.has_seen(Seen::Locks),
        static_loops: tasks.has_seen(Seen::StaticLoops),
        thread_numbers: tasks.has_seen(Seen::ThreadNumbers),
        threads_choose: tasks.has_seen(Seen::ThreadsChoose),
        messages: tasks.has_seen(Seen::Messages),
        team_of_one: tasks.has_seen(Seen::TeamOfOne),
    }
}

/// What kind of memory an address lies in that is no module's data.
fn memory_around(thread: &Thread, address: usize) -> Memory {
    if let Some(memory) = heap_block(address, address.saturating_sub(NEAR)) {
        return memory;
    }
    let stack_of = |id: u32| Memory::Stack {
        thread: id.into(),
        frame: None,
    };
    match crate::order::registry::owner(address) {
        Some((owner, Some(below))) => {
            return Memory::Tls {
                thread: owner.into(),
                below: below as u64,
            };
        }
        Some((owner, None)) => return stack_of(owner),
        None if (thread.stack.0..thread.stack.1).contains(&address) => return stack_of(thread.id),
        None => {}
    }
    match modules::region(address) {
        (modules::Region::Stack, _) => stack_of(0),
        (modules::Region::Global, _) => Memory::Global {},
        (modules::Region::Mapped, start) => heap_block(address, start).unwrap_or(Memory::Mapped {}),
        (modules::Region::Unknown, _) => Memory::Unknown {},
    }
}

/// The block around an address, or one that was freed lately.
fn heap_block(address: usize, lowest: usize) -> Option<Memory> {
    let blocks = &world().blocks;
    let live = blocks.around(address, lowest);
    let (start, header) = live.or_else(|| blocks.freed_around(address))?;
    let thread = match &world().tasks {
        Some(tasks) => tasks.descriptions.thread(header.owner),
        None => header.owner,
    };
    Some(Memory::Heap {
        start: start as u64,
        size: header.size() as u64,
        thread: thread.into(),
        stack: header.stack(),
    })
}
