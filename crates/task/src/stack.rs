//! Stacks for fibers: small, lazily committed, guarded, and used again.
//!
//! A stack is a slot of address space whose lowest page is a guard: to run over the end is a fault, never a
//! write into the next stack. Slots are cut from chunks of one mapping each, so that a million stacks do not
//! need a million mappings (`vm.max_map_count` is 65,530 on most systems). Guards inside a mapping need Linux
//! 6.13 (`MADV_GUARD_INSTALL`). On an older kernel each guard splits its mapping in two, which
//! allows about 30,000 stacks at a time; beyond that, a run ends with an error that says so.
//!
//! Guarantee: whoever runs over a stack gets a message and an abort. Memory that a stack has
//! not used costs nothing. Large pages are off, since they would commit 2 MiB for a touch.
//!
//! Cost: a page or two for each stack in use; making one is a system call, using it again a push and a pop.

use std::cell::Cell;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use corosensei::stack::{Stack as FiberStack, StackPointer};

use crate::sync::{Mutex, lock};

/// How many stacks share a mapping.
const CHUNK: usize = 64;

/// `MADV_GUARD_INSTALL`, which the libc crate does not know.
const GUARD_INSTALL: i32 = 102;

/// A stack. Whoever drops one keeps the address space until the [`Stacks`] are dropped.
#[derive(Debug)]
pub(crate) struct Stack {
    top: NonZeroUsize,
    size: usize,
}

impl Stack {
    /// The lowest address in use, above the guard.
    pub(crate) fn lowest(&self) -> usize {
        self.top.get() - self.size + page()
    }
}

// SAFETY: `Stacks` maps `size` bytes below `top`, both multiples of the page's size, with at least 16 KiB
// to use, and makes the lowest page a guard before it gives the stack away. Each slot is given away once.
#[allow(unsafe_code)]
unsafe impl FiberStack for Stack {
    fn base(&self) -> StackPointer {
        self.top
    }

    fn limit(&self) -> StackPointer {
        // `top` is above `size` bytes that are mapped, and nothing is mapped at 0.
        NonZeroUsize::new(self.top.get() - self.size).unwrap_or(NonZeroUsize::MIN)
    }
}

/// Where stacks come from.
#[derive(Debug)]
pub(crate) struct Stacks {
    size: usize,
    chunks: Mutex<Chunks>,
    /// The kernel cannot guard a page inside a mapping.
    splits: AtomicBool,
}

#[derive(Debug, Default)]
struct Chunks {
    mapped: Vec<usize>,
    /// How many slots of the last chunk were given away.
    used: usize,
}

impl Stacks {
    /// Stacks of so many bytes at least; with guards that split mappings, if need be or if told so.
    pub(crate) fn new(size: usize, splits: bool) -> Stacks {
        let pages = size.max(16 << 10).div_ceil(page()) + 1;
        Stacks {
            size: pages * page(),
            chunks: Mutex::default(),
            splits: AtomicBool::new(splits),
        }
    }

    /// How many bytes a stack has.
    pub(crate) fn usable(&self) -> usize {
        self.size - page()
    }

    /// A stack that was never used.
    pub(crate) fn make(&self) -> io::Result<Stack> {
        catch_overflows();
        let mut chunks = lock(&self.chunks);
        if chunks.mapped.is_empty() || chunks.used == CHUNK {
            let chunk = map(self.size * CHUNK)?;
            chunks.mapped.push(chunk);
            chunks.used = 0;
        }
        let chunk = chunks.mapped.last().copied().unwrap_or_default();
        let lowest = chunk + chunks.used * self.size;
        self.guard(lowest)?;
        chunks.used += 1;
        Ok(Stack {
            top: NonZeroUsize::new(lowest + self.size).ok_or(io::ErrorKind::OutOfMemory)?,
            size: self.size,
        })
    }

    /// Makes the page at an address a guard.
    fn guard(&self, lowest: usize) -> io::Result<()> {
        let address = lowest as *mut libc::c_void;
        if !self.splits.load(Ordering::Relaxed) {
            // SAFETY: the page is the lowest of a slot of ours that nobody uses.
            #[allow(unsafe_code)]
            let done = unsafe { libc::madvise(address, page(), GUARD_INSTALL) };
            if done == 0 {
                return Ok(());
            }
            self.splits.store(true, Ordering::Relaxed);
        }
        // SAFETY: as above.
        #[allow(unsafe_code)]
        match unsafe { libc::mprotect(address, page(), libc::PROT_NONE) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        for &chunk in &lock(&self.chunks).mapped {
            // SAFETY: we have mapped it, and a run drops its stacks when all its fibers have ended.
            #[allow(unsafe_code)]
            unsafe {
                libc::munmap(chunk as *mut libc::c_void, self.size * CHUNK);
            }
        }
    }
}

fn map(bytes: usize) -> io::Result<usize> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, at an address of the kernel's choice, touches nothing that is there.
    #[allow(unsafe_code)]
    unsafe {
        let address = libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0);
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // Best effort: without it, stacks take more memory.
        libc::madvise(address, bytes, libc::MADV_NOHUGEPAGE);
        Ok(address as usize)
    }
}

pub(crate) fn page() -> usize {
    static PAGE: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *PAGE.get_or_init(|| {
        // SAFETY: asks for a number.
        #[allow(unsafe_code)]
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(page).unwrap_or(4096)
    })
}

thread_local! {
    /// The guard of the stack that this thread is on, as its address; 0 on a thread's own stack.
    pub(crate) static GUARD: Cell<usize> = const { Cell::new(0) };
}

static mut BEFORE: std::mem::MaybeUninit<libc::sigaction> = std::mem::MaybeUninit::uninit();

/// Has faults in the guard of the current stack told as what they are.
fn catch_overflows() {
    static ONCE: Once = Once::new();
    page();
    ONCE.call_once(|| {
        // SAFETY: the handler does only what a handler may do: it reads a thread-local that needs no
        // initialisation, writes, and aborts or calls the handler that was there before. `BEFORE` is written here, before
        // the handler is in place. Rust gives every thread of its own an alternate signal stack to run on.
        #[allow(unsafe_code)]
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            let before = (&raw mut BEFORE).cast::<libc::sigaction>();
            libc::sigaction(libc::SIGSEGV, std::ptr::null(), before);
            libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
        }
    });
}

extern "C" fn on_fault(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel hands over a valid `info` for a handler with SA_SIGINFO, and `BEFORE` was written before
    // this handler was put in place.
    #[allow(unsafe_code)]
    unsafe {
        let address = (*info).si_addr() as usize;
        let guard = GUARD.get();
        if guard != 0 && (guard..guard + page()).contains(&address) {
            let message = "\ndeadheat-task: a task has overflowed its stack. Recursion inside a task is bounded by \
                           the stack: spawn or join to go deeper, or give Options::stack_size more\n";
            libc::write(2, message.as_ptr().cast(), message.len());
            libc::abort();
        }
        let before = &*(&raw const BEFORE).cast::<libc::sigaction>();
        match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => {
                // Returning makes the fault happen again, and then it is the system's.
                libc::sigaction(signal, before, std::ptr::null_mut());
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                let handler: Handler = std::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}
