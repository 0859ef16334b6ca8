//! The process: its beginning, its ends, forks, and jumps out of functions.

use std::ffi::{CStr, c_char, c_int, c_void};

use deadheat_tape::findings::{Ending, digits};

use super::calls::{calls, went_well};
use super::real::real;

use crate::hooks::export;
use crate::order::sync;
use crate::order::thread::{Frame, enter, local};
use crate::output::recording;
use crate::platform::os;
use crate::platform::world::{World, world};

/// Runs before the program's own constructors.
extern "C" fn begin() {
    if let Some(entered) = enter() {
        entered.thread().variables = super::thread_local::range();
    }
    if World::exists() {
        // SAFETY: handlers of the runtime's own. Registered first, so that they run inside the program's.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
    }
}

/// Runs after the program's own destructors.
extern "C" fn finish() {
    end(Ending::Exit, None);
    if let Some(status) = failure() {
        // SAFETY: what the program has printed is not lost; then the process ends, as ThreadSanitizer would end it.
        unsafe {
            real!(fflush: fn(usize) -> c_int)(0);
            real!(_exit: fn(c_int))(status);
        }
    }
}

/// The exit status of a process that runs by itself and has found a race.
fn failure() -> Option<c_int> {
    let _entered = enter();
    World::exists().then(|| world().findings.failure())?
}

#[used]
#[unsafe(link_section = ".init_array.00001")]
static BEGIN: extern "C" fn() = begin;
#[used]
#[unsafe(link_section = ".fini_array.00001")]
static FINISH: extern "C" fn() = finish;

fn end(how: Ending, status: Option<c_int>) {
    if World::exists() && local().depth.get() == 0 {
        let entered = enter();
        if entered.is_some() || local().dead.get() {
            if recording::on() {
                world().findings.tell_modules();
            }
            world().findings.end(how, status);
        }
    }
}

extern "C" fn before_fork() {
    super::sockets::forks();
    local().depth.set(local().depth.get() + 1);
    std::mem::forget(crate::order::registry::pause());
}

extern "C" fn after_fork() {
    crate::order::registry::resume_all();
    leave();
}

extern "C" fn in_child() {
    crate::ALLOCATOR.reset_locks();
    let world = world();
    super::open_files::reset_locks();
    super::readiness::reset_locks();
    world.reset_locks();
    world.channels.reset_locks();
    world.threads.reset_locks();
    world.findings.forked();
    // SAFETY: the running thread's own.
    if let Some(thread) = unsafe { local().thread.get().as_ref() } {
        thread.wait.set(None);
    }
    recording::in_child();
    crate::order::threads::only_this();
    crate::order::registry::resume_all();
    leave();
}

fn leave() {
    let depth = &local().depth;
    depth.set(depth.get() - 1);
}

/// The program is about to fork by a system call of its own.
pub fn before_own_fork() {
    if World::exists() && local().depth.get() == 0 {
        before_fork();
    }
}

/// It has done so: 0 is what a child gets.
pub fn after_own_fork(child: c_int) {
    // Otherwise it was not told before.
    if World::exists() && local().depth.get() != 0 {
        forked(child);
    }
}

fn forked(child: c_int) {
    match child {
        0 => in_child(),
        _ => after_fork(),
    }
}

/// Starts a process that has memory of its own, and handlers of nobody's: by the C library's own `fork` the runtime's are called.
pub fn forks(fork: impl FnOnce() -> c_int) -> c_int {
    if !World::exists() || local().depth.get() != 0 {
        return fork();
    }
    before_fork();
    let child = fork();
    forked(child);
    child
}

unsafe extern "C" fn fork_without_handlers() -> c_int {
    // SAFETY: the program's own call.
    forks(|| unsafe { real!(_Fork: fn() -> c_int)() })
}

type Body = extern "C" fn(*mut c_void) -> c_int;

/// What a cloned process is to do.
struct Clone {
    body: Body,
    argument: *mut c_void,
}

extern "C" fn run_clone(clone: *mut c_void) -> c_int {
    in_child();
    // SAFETY: made by `clone`, of which this process has a copy.
    let clone = unsafe { Box::from_raw(clone.cast::<Clone>()) };
    let status = (clone.body)(clone.argument);
    // Where it returns to, it ends at once.
    end(Ending::ImmediateExit, Some(status));
    failure().unwrap_or(status)
}

unsafe extern "C" fn clone(
    body: Body,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parent_id: usize,
    thread_local: usize,
    child_id: usize,
    _pc: usize,
) -> c_int {
    // SAFETY: the program's own call.
    let clone = |body: Body, argument| unsafe {
        real!(clone: fn(Body, *mut c_void, c_int, *mut c_void, usize, usize, usize) -> c_int)(
            body,
            stack,
            flags,
            argument,
            parent_id,
            thread_local,
            child_id,
        )
    };
    let is_process = flags & (libc::CLONE_VM | libc::CLONE_SETTLS) == 0;
    if !is_process || !World::exists() || local().depth.get() != 0 {
        return clone(body, argument);
    }
    let own = Box::into_raw(Box::new(Clone { body, argument }));
    before_fork();
    let child = clone(run_clone, own.cast());
    after_fork();
    // SAFETY: the child has a copy of its own.
    drop(unsafe { Box::from_raw(own) });
    child
}

unsafe extern "C" fn vfork() -> c_int {
    // The child of a real one shares the parent's memory, and would do so in the midst of hooks.
    // SAFETY: the program's own call.
    unsafe { libc::fork() }
}

unsafe extern "C" fn exit_now(status: c_int) {
    end(Ending::ImmediateExit, Some(status));
    let status = failure().unwrap_or(status);
    // SAFETY: the program's own call.
    unsafe { real!(_exit: fn(c_int))(status) }
}

unsafe extern "C" fn quick_exit(status: c_int) {
    end(Ending::QuickExit, Some(status));
    let status = failure().unwrap_or(status);
    // SAFETY: the program's own call.
    unsafe { real!(quick_exit: fn(c_int))(status) }
}

unsafe extern "C" fn abort() {
    end(Ending::Abort, Some(libc::SIGABRT));
    // SAFETY: the program's own call.
    unsafe { real!(abort: fn())() }
}

/// Who is about to run another program can hand the mailbox on to it.
pub fn hands_over() {
    if let Some(_entered) = enter()
        && World::exists()
    {
        world().findings.hand_over();
    }
}

/// The process becomes another program, or goes on if it can not: notes the end, and which program that is.
fn becomes(program: &[u8]) {
    hands_over();
    if let Some(_entered) = enter()
        && World::exists()
    {
        world().findings.started(None, program);
    }
    end(Ending::Exec, None);
}

/// A path as it is for everybody, if it is one; a name that is looked up stays as it is.
///
/// # Safety
/// It ends with a zero byte.
unsafe fn whole_path(path: *const c_char) -> Vec<u8> {
    // SAFETY: the caller's promise.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    if path.first() == Some(&b'/') || !path.contains(&b'/') {
        return path.to_vec();
    }
    [&os::link(b"/proc/self/cwd\0"), &b"/"[..], path].concat()
}

/// What a descriptor is open on.
fn path_of(file: c_int) -> Vec<u8> {
    let mut link = b"/proc/self/fd/".to_vec();
    link.extend(digits(file.max(0) as u64, &mut [0; 20]));
    link.push(0);
    os::link(&link)
}

/// Notes that the process becomes what the first argument names, and gives the function that does it.
macro_rules! becomes {
    ($($name:ident),*) => {
        $(unsafe extern "C" fn $name(path: *const c_char) -> usize {
            // SAFETY: the program's own path.
            becomes(&unsafe { whole_path(path) });
            // SAFETY: it is called with the program's own arguments.
            unsafe { real!($name: fn()) as *const () as usize }
        })*
    };
}

becomes!(execve, execv, execvp, execvpe, execl, execlp, execle);

unsafe extern "C" fn fexecve(file: c_int) -> usize {
    becomes(&path_of(file));
    // SAFETY: it is called with the program's own arguments.
    unsafe { real!(fexecve: fn()) as *const () as usize }
}

unsafe extern "C" fn execveat(directory: c_int, path: *const c_char) -> usize {
    // SAFETY: the program's own path.
    let path_there = unsafe { CStr::from_ptr(path) }.to_bytes();
    if path_there.is_empty() {
        becomes(&path_of(directory));
    } else if directory == libc::AT_FDCWD || path_there.first() == Some(&b'/') {
        // SAFETY: the program's own path.
        becomes(&unsafe { whole_path(path) });
    } else {
        becomes(&[&path_of(directory), &b"/"[..], path_there].concat());
    }
    // SAFETY: it is called with the program's own arguments.
    unsafe { real!(execveat: fn()) as *const () as usize }
}

/// A process was started that runs a program.
fn has_spawned(pid: usize, path: usize, result: usize) {
    if pid != 0
        && went_well(result)
        && let Some(_entered) = enter()
        && World::exists()
    {
        // SAFETY: the program's own path, and the number that the C library has written.
        let (pid, program) = unsafe { (*(pid as *const c_int), whole_path(path as *const c_char)) };
        world().findings.started(Some(pid as u64), &program);
    }
}

/// Who waits for its parent's end waits for this number.
const INIT: c_int = 1;

/// For the program, its orphans are adopted by whom they are adopted by without `deadheat run`.
extern "C" fn parent() -> c_int {
    let entered = enter();
    if entered.is_some() && World::exists() && world().findings.is_orphan() {
        return INIT;
    }
    // SAFETY: asks for a number.
    unsafe { real!(getppid: fn() -> c_int)() }
}

calls! { (_pc, result)
    posix_spawn(pid, path, actions, attributes, arguments, environment) { hands_over() } {
        has_spawned(pid, path, result)
    };
    posix_spawnp(pid, path, actions, attributes, arguments, environment) { hands_over() } {
        has_spawned(pid, path, result)
    };
    system(command) { hands_over() } {};
}

type Handler = extern "C" fn(*mut c_void);

struct AtExit {
    handler: Handler,
    argument: *mut c_void,
}

/// What is registered happens before the handler, whichever thread calls `exit`.
extern "C" fn run_at_exit(at_exit: *mut c_void) {
    sync::acquire(at_exit as usize, 0);
    // SAFETY: made by `cxa_atexit`, and never freed.
    let at_exit = unsafe { &*at_exit.cast::<AtExit>() };
    (at_exit.handler)(at_exit.argument);
}

unsafe extern "C" fn cxa_atexit(
    handler: Handler,
    argument: *mut c_void,
    library: *mut c_void,
) -> c_int {
    let at_exit = match enter() {
        Some(_entered) => Box::into_raw(Box::new(AtExit { handler, argument })),
        None => std::ptr::null_mut(),
    };
    // SAFETY: the program's own call.
    unsafe {
        let register = real!(__cxa_atexit: fn(Handler, *mut c_void, *mut c_void) -> c_int);
        if at_exit.is_null() {
            return register(handler, argument, library);
        }
        sync::release(at_exit as usize, 0);
        register(run_at_exit, at_exit.cast(), library)
    }
}

/// The stack pointer that a jump goes back to, as the C library keeps it: mangled.
#[cfg(target_arch = "x86_64")]
fn target(buffer: *const u64) -> u32 {
    let guard: u64;
    // SAFETY: the thread's pointer guard, at its place in every thread of the C library.
    unsafe { std::arch::asm!("mov {}, fs:[0x30]", out(reg) guard, options(nostack, readonly)) };
    // SAFETY: a jump buffer has eight words; the seventh is the stack pointer.
    let mangled = unsafe { *buffer.add(6) };
    (mangled.rotate_right(17) ^ guard) as u32
}

/// The functions that a jump leaves behind are no longer entered.
fn jumps(buffer: *const u64) {
    let local = local();
    let target = target(buffer);
    while local.frame.get() != local.frames_begin.get() {
        // SAFETY: frames below the top have been written.
        let frame: Frame = unsafe { *local.frame.get().sub(1) };
        // The hook was called from within the function: a frame that stays is above the target.
        if (frame.stack_pointer.wrapping_sub(target) as i32) >= -8 {
            break;
        }
        local.frame.set(local.frame.get().wrapping_sub(1));
    }
}

macro_rules! jump {
    ($($function:ident $name:ident),*) => {
        $(unsafe extern "C" fn $function(buffer: *const u64, value: c_int) {
            jumps(buffer);
            // SAFETY: the program's own call.
            unsafe { real!($name: fn(*const u64, c_int))(buffer, value) }
        })*
    };
}

jump!(longjmp longjmp, longjmp_plain _longjmp, siglongjmp siglongjmp, longjmp_checked __longjmp_chk);

export! {
    "getppid" plain => parent;
    "vfork" plain => vfork;
    "_Fork" plain => fork_without_handlers;
    "clone" 7 => clone;
    "_exit" plain => exit_now;
    "_Exit" plain => exit_now;
    "quick_exit" plain => quick_exit;
    "abort" plain => abort;
    "execve" before => execve;
    "execv" before => execv;
    "execvp" before => execvp;
    "execvpe" before => execvpe;
    "execl" before => execl;
    "execlp" before => execlp;
    "execle" before => execle;
    "fexecve" before => fexecve;
    "execveat" before => execveat;
    "__cxa_atexit" plain => cxa_atexit;
    "longjmp" plain => longjmp;
    "_longjmp" plain => longjmp_plain;
    "siglongjmp" plain => siglongjmp;
    "__longjmp_chk" plain => longjmp_checked;
}
