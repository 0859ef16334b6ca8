//! What all threads of the process share, made by the first hook that runs.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use deadheat_tape::findings::Obstacle;

use crate::check::aliases::Aliases;
use crate::check::contents::Contents;
use crate::check::depot::Depot;
use crate::check::histories::Histories;
use crate::check::origin;
use crate::check::origins::Origins;
use crate::check::past::Past;
use crate::check::shadow::Shadow;
use crate::openmp::Tasks;
use crate::order::sync::Channels;
use crate::order::threads::Threads;
use crate::output::findings::Findings;
use crate::output::mailbox::{self, Mailbox};
use crate::output::recording::{self, Spool};
use crate::platform::heap::Blocks;
use crate::platform::options::Options;
use crate::platform::{modules, os, pauses};

/// What all threads share.
#[derive(Debug)]
pub struct World {
    pub shadow: Shadow,
    pub contents: Contents,
    pub histories: Histories,
    pub aliases: Aliases,
    pub past: Past,
    pub stacks: Depot,
    pub places: Depot,
    pub locksets: Depot,
    /// Origins by their numbers in marks.
    pub origins: Origins,
    pub channels: Channels,
    pub threads: Threads,
    pub blocks: Blocks,
    pub findings: Findings,
    /// Where a recording goes, in a process that is recorded.
    pub spool: Option<Spool>,
    /// In a program of OpenMP.
    pub tasks: Option<Tasks>,
    /// One thread lives, and it knows all that others have done: what it does happens before all that
    /// is still to come, and need not be looked at.
    pub alone: AtomicBool,
    /// How many things could not be tracked.
    pub dropped: AtomicU64,
}

struct Place(UnsafeCell<MaybeUninit<World>>);
// SAFETY: written once, before `STATE` says so, and only read afterwards.
unsafe impl Sync for Place {}

static PLACE: Place = Place(UnsafeCell::new(MaybeUninit::uninit()));
static STATE: AtomicU32 = AtomicU32::new(NEW);
const NEW: u32 = 0;
const BUSY: u32 = 1;
const READY: u32 = 2;
const OFF: u32 = 3;

/// What all threads share. Only for threads that the runtime knows: [`World::begin`] has run.
#[inline(always)]
pub fn world() -> &'static World {
    // SAFETY: see above.
    unsafe { (*PLACE.0.get()).assume_init_ref() }
}

impl World {
    /// Makes it, if nobody has. False: the program is to run unchecked.
    pub fn begin() -> bool {
        loop {
            match STATE.load(Ordering::Acquire) {
                READY => return true,
                OFF => return false,
                NEW => {
                    let busy =
                        STATE.compare_exchange(NEW, BUSY, Ordering::Acquire, Ordering::Acquire);
                    if busy.is_ok() {
                        let made = World::make();
                        STATE.store(if made { READY } else { OFF }, Ordering::Release);
                        return made;
                    }
                }
                _ => os::yield_now(),
            }
        }
    }

    /// Whether there is one.
    pub fn exists() -> bool {
        STATE.load(Ordering::Acquire) == READY
    }

    /// Apart from who asks for it, whose stack may be small.
    #[cold]
    #[inline(never)]
    fn make() -> bool {
        let environment = Environment::read();
        let file = match os::is_privileged() {
            true => None,
            false => mailbox::find(environment.get("DEADHEAT_REPORT")),
        };
        if file.is_none() && environment.get("DEADHEAT_MODE") == Some(b"off") {
            return false;
        }
        let options = options(&environment);
        if file.is_none() {
            start_under_run(&environment, &options);
        }
        let tasks = match is_openmp() {
            true => Tasks::new().map(Some),
            false => Some(None),
        };
        let mapped = file.map(Mailbox::map);
        let (Some(shadow), Some(contents), Some(channels), Some(blocks), Some(tasks), false) = (
            match tasks {
                Some(Some(_)) => Shadow::of_numbers(),
                _ => Shadow::of_cells(),
            },
            Contents::new(),
            Channels::new(),
            Blocks::new(),
            tasks,
            mapped.is_some_and(|mapped| mapped.is_none()),
        ) else {
            start_again(&environment);
            match file {
                Some(file) => Findings::leave_note(file, Obstacle::AddressSpace),
                None => {
                    os::write_all(
                        2,
                        b"deadheat: the address space is limited (ulimit -v?): running unchecked\n",
                    );
                }
            }
            return false;
        };
        let mailbox = mapped.flatten();
        os::ask_for_barriers();
        let record = mailbox.as_ref().is_some_and(Mailbox::records);
        if let Some(seed) = options.pauses {
            pauses::begin(seed);
        }
        let findings = Findings::new(mailbox, options);
        let limit = mailbox.map_or(u64::MAX, |mailbox| mailbox.limit());
        let spool = record.then(|| recording::spool(&findings, limit)).flatten();
        if record && spool.is_none() {
            findings.unchecked(Obstacle::NoTape);
            return false;
        }
        let world = World {
            shadow,
            contents,
            histories: Histories::new(),
            aliases: Aliases::new(),
            past: Past::new(),
            stacks: Depot::new(origin::CHAINS),
            places: Depot::new(origin::PLACES),
            locksets: Depot::new(origin::LOCKSETS),
            origins: Origins::new(),
            channels,
            threads: Threads::new(),
            blocks,
            findings,
            spool,
            tasks,
            alone: AtomicBool::new(true),
            dropped: AtomicU64::new(0),
        };
        // SAFETY: nobody reads before STATE says READY.
        unsafe { (*PLACE.0.get()).write(world) };
        true
    }

    /// Whether accesses need not be looked at.
    #[inline]
    pub fn off(&self) -> bool {
        self.alone.load(Ordering::Relaxed)
    }

    /// Nobody holds a lock of what numbers things: for the only thread of a forked child.
    pub fn reset_locks(&self) {
        self.aliases.reset_lock();
        self.origins.reset_lock();
        for depot in [&self.stacks, &self.places, &self.locksets] {
            depot.reset_lock();
        }
    }

    /// Something could not be tracked.
    pub fn drop_one(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// What the program and its user want of a check.
fn options(environment: &Environment) -> Options {
    let mut options = Options::default();
    #[cfg(feature = "interpose")]
    options.take(crate::hooks::sanitizer::options());
    for name in ["TSAN_OPTIONS", "DEADHEAT_OPTIONS"] {
        options.take(environment.get(name).unwrap_or_default());
    }
    options
}

/// Whether the program is linked to a runtime of OpenMP that tells of its tasks.
fn is_openmp() -> bool {
    #[cfg(feature = "interpose")]
    return crate::interpose::ompt::is_there();
    #[cfg(not(feature = "interpose"))]
    false
}

/// Starts the program again with a limit for its stack, if it has none: the kernel then puts mappings where they leave
/// no room for the shadow. Returns if that is not the reason, or does not help.
fn start_again(environment: &Environment) {
    let mut limit = os::limit(libc::RLIMIT_STACK);
    if limit[0] != usize::MAX {
        return;
    }
    limit[0] = 1 << 28;
    // SAFETY: the kernel reads two words.
    unsafe {
        let number = libc::RLIMIT_STACK as usize;
        os::call(
            libc::SYS_setrlimit,
            [number, limit.as_mut_ptr() as usize, 0, 0, 0, 0],
        );
    }
    execute(b"/proc/self/exe\0", &own_arguments(), environment);
}

/// Starts the program again under `deadheat run`, if there is a file of suppressions to obey: only that command knows the names in it.
/// Returns if it is not in the `PATH`.
fn start_under_run(environment: &Environment, options: &Options) {
    const AGAIN: &str = "DEADHEAT_AGAIN";
    let Some(file) = &options.suppressions else {
        return;
    };
    let is_there = os::status_at(&[file, &b"\0"[..]].concat()).is_some();
    let is_again = environment.get(AGAIN).is_some() || os::is_privileged();
    if !is_there || is_again || !options.report_bugs {
        return;
    }
    let own = own_arguments().bytes;
    let name = own.split_inclusive(|byte| *byte == 0).next();
    let (name, arguments) = own.split_at(name.map_or(0, <[u8]>::len));
    let program = match name.contains(&b'/') {
        true => name.to_vec(),
        // It was found in the `PATH`, or is called otherwise than its file.
        false => [&*modules::executable(), b"\0"].concat(),
    };
    let status = options.exit_code.to_string();
    let run: [&[u8]; 5] = [
        b"deadheat\0run\0--error-exitcode=",
        status.as_bytes(),
        b"\0--\0",
        &program,
        arguments,
    ];
    let run = Environment {
        bytes: run.concat(),
    };
    let again = Environment {
        bytes: [&environment.bytes, AGAIN.as_bytes(), b"=1\0"].concat(),
    };
    let path = environment.get("PATH").unwrap_or_default();
    for directory in path.split(|byte| *byte == b':') {
        if !directory.is_empty() {
            execute(&[directory, b"/deadheat\0"].concat(), &run, &again);
        }
    }
}

/// What the program was called with, its own name first.
fn own_arguments() -> Environment {
    Environment::of(b"/proc/self/cmdline\0")
}

/// Becomes the program in a file, whose path ends with a zero byte. Returns if that cannot be.
fn execute(path: &[u8], arguments: &Environment, environment: &Environment) {
    let (arguments, environment) = (arguments.pointers(), environment.pointers());
    let words = [
        path.as_ptr() as usize,
        arguments.as_ptr() as usize,
        environment.as_ptr() as usize,
        0,
        0,
        0,
    ];
    // SAFETY: the kernel reads strings that end with zero bytes.
    unsafe { os::call(libc::SYS_execve, words) };
}

/// The environment, or a list of arguments, as the kernel has it: the C library may not be ready yet.
struct Environment {
    bytes: Vec<u8>,
}

impl Environment {
    fn read() -> Environment {
        Environment::of(b"/proc/self/environ\0")
    }

    /// What a file of strings says, each with a zero byte at its end.
    fn of(path: &[u8]) -> Environment {
        Environment {
            bytes: os::read_all(path).unwrap_or_default(),
        }
    }

    /// The addresses of the strings, and 0.
    fn pointers(&self) -> Vec<usize> {
        let mut pointers = Vec::new();
        let mut at = 0;
        for string in self.bytes.split_inclusive(|byte| *byte == 0) {
            pointers.push(self.bytes.as_ptr() as usize + at);
            at += string.len();
        }
        pointers.push(0);
        pointers
    }

    fn get(&self, name: &str) -> Option<&[u8]> {
        // Who runs a program with somebody else's rights must not steer it.
        if os::is_privileged() {
            return None;
        }
        let mut entries = self.bytes.split(|byte| *byte == 0);
        entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }
}
