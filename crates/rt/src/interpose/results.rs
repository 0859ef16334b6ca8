//! Functions of the C library that leave their result where the program says, or in a place of their own that all
//! threads share.

use libc::{
    group, itimerspec, itimerval, passwd, regex_t, regmatch_t, rlimit, rusage, stat as status,
    statvfs as volume, sysinfo as system, timespec, timeval, tm, tms, utsname,
};
use std::ffi::{c_int, c_long};
use std::sync::atomic::AtomicU64;

use super::calls::{calls, count, went_well};
use super::memory::{reads, writes};
use super::real::real;
use super::strings::{length, reads_text, writes_text};
use crate::hooks::export;
use crate::platform::os;

unsafe extern "C" {
    static environ: *const *const u8;
}

/// What all names and values of the environment stand for.
fn environment() -> usize {
    &raw const environ as usize
}

/// A result has been left in memory, if there is one.
fn leaves<T>(at: usize, pc: usize) {
    if at != 0 {
        writes(at, size_of::<T>(), pc);
    }
}

fn leaves_text(at: usize, pc: usize) {
    if at != 0 {
        writes_text(at, pc);
    }
}

fn takes<T>(at: usize, pc: usize) {
    if at != 0 {
        reads(at, size_of::<T>(), pc);
    }
}

/// As many bytes have been left in memory as is said beside.
fn leaves_counted(at: usize, length: usize, pc: usize) {
    if length != 0 {
        leaves::<u32>(length, pc);
        // SAFETY: the C library has just written it.
        writes(at, unsafe { *(length as *const u32) } as usize, pc);
    }
}

/// An entry has been looked for, and left in memory if it was found.
fn leaves_entry<T>(at: usize, found: usize, pc: usize) {
    leaves::<usize>(found, pc);
    // SAFETY: the C library has just written it.
    if unsafe { (found as *const usize).read() } != 0 {
        leaves::<T>(at, pc);
    }
}

calls! { (pc, result)
    time(at) {} { leaves::<i64>(at, pc) };
    gettimeofday(at, zone) {} { leaves::<timeval>(at, pc) };
    clock_gettime(clock, at) {} { if went_well(result) { leaves::<timespec>(at, pc) } };
    clock_getres(clock, at) {} { if went_well(result) { leaves::<timespec>(at, pc) } };
    nanosleep(time, rest) { takes::<timespec>(time, pc); } {};
    times(at) {} { leaves::<tms>(at, pc) };
    localtime_r(time, at) { takes::<i64>(time, pc); } { leaves::<tm>(result, pc) };
    gmtime_r(time, at) { takes::<i64>(time, pc); } { leaves::<tm>(result, pc) };
    localtime(time) { takes::<i64>(time, pc); } { leaves::<tm>(result, pc) };
    gmtime(time) { takes::<i64>(time, pc); } { leaves::<tm>(result, pc) };
    mktime(at) { takes::<tm>(at, pc); } { leaves::<tm>(at, pc) };
    timegm(at) { takes::<tm>(at, pc); } { leaves::<tm>(at, pc) };
    ctime(time) { takes::<i64>(time, pc); } { leaves_text(result, pc) };
    ctime_r(time, to) { takes::<i64>(time, pc); } { leaves_text(result, pc) };
    asctime(at) { takes::<tm>(at, pc); } { leaves_text(result, pc) };
    asctime_r(at, to) { takes::<tm>(at, pc); } { leaves_text(result, pc) };
    strftime(to, size, format, at) { reads_text(format, pc); takes::<tm>(at, pc); } {
        if result > 0 { writes(to, result + 1, pc) }
    };
    strptime(text, format, at) { reads_text(format, pc); } {
        if result != 0 {
            reads(text, result - text + 1, pc);
            leaves::<tm>(at, pc);
        }
    };
    stat(path, at) { reads_text(path, pc); } { if went_well(result) { leaves::<status>(at, pc) } };
    stat64(path, at) { reads_text(path, pc); } { if went_well(result) { leaves::<status>(at, pc) } };
    lstat(path, at) { reads_text(path, pc); } { if went_well(result) { leaves::<status>(at, pc) } };
    lstat64(path, at) { reads_text(path, pc); } { if went_well(result) { leaves::<status>(at, pc) } };
    fstat(file, at) {} { if went_well(result) { leaves::<status>(at, pc) } };
    fstat64(file, at) {} { if went_well(result) { leaves::<status>(at, pc) } };
    statvfs(path, at) { reads_text(path, pc); } { if went_well(result) { leaves::<volume>(at, pc) } };
    fstatvfs(file, at) {} { if went_well(result) { leaves::<volume>(at, pc) } };
    strerror_r(number, to, size) {} { if result == to && size > 0 { writes_text(to, pc) } };
    __xpg_strerror_r(number, to, size) {} { if size > 0 { writes_text(to, pc) } };
    rand_r(seed) { takes::<u32>(seed, pc); leaves::<u32>(seed, pc); } {};
    srand48(seed) { leaves::<u64>(state_of_drand48(), pc); } {};
    getrandom(to, size, flags) {} { writes(to, count(result), pc) };
    getentropy(to, size) {} { if went_well(result) { writes(to, size, pc) } };
    getrusage(who, at) {} { if went_well(result) { leaves::<rusage>(at, pc) } };
    getrlimit(what, at) {} { if went_well(result) { leaves::<rlimit>(at, pc) } };
    getrlimit64(what, at) {} { if went_well(result) { leaves::<rlimit>(at, pc) } };
    setrlimit(what, at) { takes::<rlimit>(at, pc); os::limit_may_change(); } { os::limit_changed() };
    setrlimit64(what, at) { takes::<rlimit>(at, pc); os::limit_may_change(); } { os::limit_changed() };
    prlimit(process, what, new, old) { takes::<rlimit>(new, pc); os::limit_may_change(); } {
        os::limit_changed();
        if went_well(result) { leaves::<rlimit>(old, pc) }
    };
    prlimit64(process, what, new, old) { takes::<rlimit>(new, pc); os::limit_may_change(); } {
        os::limit_changed();
        if went_well(result) { leaves::<rlimit>(old, pc) }
    };
    getitimer(which, at) {} { if went_well(result) { leaves::<itimerval>(at, pc) } };
    setitimer(which, new, old) { takes::<itimerval>(new, pc); } { if went_well(result) { leaves::<itimerval>(old, pc) } };
    timerfd_gettime(file, at) {} { if went_well(result) { leaves::<itimerspec>(at, pc) } };
    getloadavg(to, most) {} { if result as c_int > 0 { writes(to, count(result) * size_of::<f64>(), pc) } };
    fstatat(folder, path, at, flags) { reads_text(path, pc); } { if went_well(result) { leaves::<status>(at, pc) } };
    fstatat64(folder, path, at, flags) { reads_text(path, pc); } { if went_well(result) { leaves::<status>(at, pc) } };
    statx(folder, path, flags, mask, at) { reads_text(path, pc); } { if went_well(result) { leaves::<libc::statx>(at, pc) } };
    access(path, how) { reads_text(path, pc); } {};
    unlink(path) { reads_text(path, pc); } {};
    mkdir(path, mode) { reads_text(path, pc); } {};
    rmdir(path) { reads_text(path, pc); } {};
    chdir(path) { reads_text(path, pc); } {};
    opendir(path) { reads_text(path, pc); } {};
    rename(from, to) { reads_text(from, pc); reads_text(to, pc); } {};
    getsockname(file, at, length) {} { if went_well(result) { leaves_counted(at, length, pc) } };
    getpeername(file, at, length) {} { if went_well(result) { leaves_counted(at, length, pc) } };
    getsockopt(file, level, name, at, length) {} { if went_well(result) { leaves_counted(at, length, pc) } };
    inet_aton(text, at) { reads_text(text, pc); } { if result as c_int != 0 { leaves::<u32>(at, pc) } };
    inet_pton(family, text, at) { reads_text(text, pc); } {
        if result as c_int == 1 { writes(at, if family as c_int == libc::AF_INET { 4 } else { 16 }, pc) }
    };
    regcomp(at, pattern, flags) { reads_text(pattern, pc); } { leaves::<regex_t>(at, pc) };
    regexec(regex, text, most, matches, flags) {
        takes::<regex_t>(regex, pc);
        if flags as c_int & libc::REG_STARTEND == 0 { reads_text(text, pc) }
    } { if went_well(result) && matches != 0 { writes(matches, most * size_of::<regmatch_t>(), pc) } };
    regfree(regex) { leaves::<regex_t>(regex, pc); } {};
    getpwnam_r(name, at, buffer, size, found) { reads_text(name, pc); } { leaves_entry::<passwd>(at, found, pc) };
    getpwuid_r(user, at, buffer, size, found) {} { leaves_entry::<passwd>(at, found, pc) };
    getgrnam_r(name, at, buffer, size, found) { reads_text(name, pc); } { leaves_entry::<group>(at, found, pc) };
    getgrgid_r(number, at, buffer, size, found) {} { leaves_entry::<group>(at, found, pc) };
    pthread_getname_np(thread, to, size) {} { if went_well(result) { writes_text(to, pc) } };
    sched_getaffinity(process, size, at) {} { if went_well(result) { writes(at, size, pc) } };
    sched_setaffinity(process, size, at) { reads(at, size, pc); } {};
    sigemptyset(at) {} { leaves::<u64>(at, pc) };
    sigfillset(at) {} { leaves::<u64>(at, pc) };
    sigaddset(at, signal) {} { leaves::<u64>(at, pc) };
    sigdelset(at, signal) {} { leaves::<u64>(at, pc) };
    sigpending(at) {} { leaves::<u64>(at, pc) };
    sysinfo(at) {} { if went_well(result) { leaves::<system>(at, pc) } };
    uname(at) {} { if went_well(result) { leaves::<utsname>(at, pc) } };
    gethostname(to, size) {} { if went_well(result) { writes(to, size.min(length(to) + 1), pc) } };
    sem_getvalue(semaphore, at) {} { if went_well(result) { leaves::<c_int>(at, pc) } };
    wait(at) {} { if result as c_int > 0 { leaves::<c_int>(at, pc) } };
    waitpid(process, at, options) {} { if result as c_int > 0 { leaves::<c_int>(at, pc) } };
    getpwnam(name) { reads_text(name, pc); } { leaves::<passwd>(result, pc) };
    getpwuid(user) {} { leaves::<passwd>(result, pc) };
    gethostbyname(name) { reads_text(name, pc); } { leaves::<[usize; 4]>(result, pc) };
    inet_ntop(family, from, to, size) {} { leaves_text(result, pc) };
    getenv(name) { reads_text(name, pc); takes::<usize>(environment(), pc); } {};
    secure_getenv(name) { reads_text(name, pc); takes::<usize>(environment(), pc); } {};
    setenv(name, value, again) { reads_text(name, pc); reads_text(value, pc); leaves::<usize>(environment(), pc); } {};
    unsetenv(name) { reads_text(name, pc); leaves::<usize>(environment(), pc); } {};
    // Of the text, which becomes part of the environment, only the name is read.
    putenv(text) { leaves::<usize>(environment(), pc); } {};
    // A tree is changed or looked at as a whole, whatever its nodes are: the program sees to it by its root.
    tsearch(key, root, compare) { leaves::<usize>(root, pc); } {};
    tdelete(key, root, compare) { leaves::<usize>(root, pc); } {};
    tfind(key, root, compare) { takes::<usize>(root, pc); } {};
    qsort(base, number, size, compare) { if number > 1 { writes(base, number.saturating_mul(size), pc) } } {};
    qsort_r(base, number, size, compare, more) { if number > 1 { writes(base, number.saturating_mul(size), pc) } } {};
}

unsafe extern "C" fn frexp(value: f64, at: usize, pc: usize) -> f64 {
    leaves::<c_int>(at, pc);
    // SAFETY: the program's own call.
    unsafe { real!(frexp: fn(f64, usize) -> f64)(value, at) }
}

unsafe extern "C" fn modf(value: f64, at: usize, pc: usize) -> f64 {
    leaves::<f64>(at, pc);
    // SAFETY: the program's own call.
    unsafe { real!(modf: fn(f64, usize) -> f64)(value, at) }
}

unsafe extern "C" fn sincos(value: f64, sine: usize, cosine: usize, pc: usize) {
    leaves::<f64>(sine, pc);
    leaves::<f64>(cosine, pc);
    // SAFETY: the program's own call.
    unsafe { real!(sincos: fn(f64, usize, usize))(value, sine, cosine) }
}

/// What `drand48` and its like keep for all threads.
#[unsafe(export_name = "state of drand48")]
static RANDOM: AtomicU64 = AtomicU64::new(0);

fn state_of_drand48() -> usize {
    RANDOM.as_ptr() as usize
}

unsafe extern "C" fn drand48(pc: usize) -> f64 {
    leaves::<u64>(state_of_drand48(), pc);
    // SAFETY: the program's own call.
    unsafe { real!(drand48: fn() -> f64)() }
}

unsafe extern "C" fn lrand48(pc: usize) -> c_long {
    leaves::<u64>(state_of_drand48(), pc);
    // SAFETY: the program's own call.
    unsafe { real!(lrand48: fn() -> c_long)() }
}

unsafe extern "C" fn mrand48(pc: usize) -> c_long {
    leaves::<u64>(state_of_drand48(), pc);
    // SAFETY: the program's own call.
    unsafe { real!(mrand48: fn() -> c_long)() }
}

export! {
    "drand48" 0 => drand48;
    "lrand48" 0 => lrand48;
    "mrand48" 0 => mrand48;
    // The numbers are passed apart from words.
    "frexp" 1 => frexp;
    "modf" 1 => modf;
    "sincos" 2 => sincos;
}
