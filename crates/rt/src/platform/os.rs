//! System calls without the C library: it may be interposed by this very crate, and `errno` belongs to the
//! program.

use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

/// A system call with up to six arguments. Returns what the kernel does: errors are negative.
///
/// # Safety
/// The arguments must mean what the call expects.
#[cfg(target_arch = "x86_64")]
#[inline]
pub unsafe fn call(number: libc::c_long, a: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel clobbers rcx and r11 only; the caller answers for the arguments.
    unsafe {
        std::arch::asm!("syscall", inlateout("rax") number as isize => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2], in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

#[cfg(target_arch = "aarch64")]
#[allow(missing_docs)]
#[inline]
pub unsafe fn call(number: libc::c_long, a: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the caller answers for the arguments.
    unsafe {
        std::arch::asm!("svc 0", in("x8") number, inlateout("x0") a[0] as isize => result,
            in("x1") a[1], in("x2") a[2], in("x3") a[3], in("x4") a[4], in("x5") a[5], options(nostack));
    }
    result
}

/// Memory of this many bytes, all zero, which costs nothing until it is touched. None: there is none.
pub fn reserve(bytes: usize) -> Option<usize> {
    reserve_with(bytes, libc::PROT_READ | libc::PROT_WRITE)
}

/// As [`reserve`], but it stays all zero: who writes there ends the process.
pub fn reserve_unwritable(bytes: usize) -> Option<usize> {
    reserve_with(bytes, libc::PROT_READ)
}

fn reserve_with(bytes: usize, protection: i32) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let arguments = [0, bytes, protection as usize, flags as usize, usize::MAX, 0];
    // SAFETY: a new mapping, at a place the kernel chooses.
    let address = unsafe { call(libc::SYS_mmap, arguments) };
    let address = usize::try_from(address).ok()?;
    if bytes >= 1 << 30 {
        advise(address, bytes, libc::MADV_NOHUGEPAGE);
        advise(address, bytes, libc::MADV_DONTDUMP);
    }
    Some(address)
}

/// Tells the kernel how a piece of the runtime's own memory is used.
pub fn advise(address: usize, bytes: usize, advice: i32) {
    // SAFETY: such advice does not change what is in memory.
    unsafe {
        call(
            libc::SYS_madvise,
            [address, bytes, advice as usize, 0, 0, 0],
        )
    };
}

/// As [`reserve`]; ends the process if there is no memory.
pub fn reserve_or_die(bytes: usize) -> usize {
    match reserve(bytes) {
        Some(address) => address,
        None => die("deadheat: no memory left for the checker\n"),
    }
}

/// Gives memory back to the system. It is all zero when it is touched again.
///
/// # Safety
/// The pages are the runtime's own private mapping.
pub unsafe fn forget(address: usize, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        call(
            libc::SYS_madvise,
            [address, bytes, libc::MADV_DONTNEED as usize, 0, 0, 0],
        )
    };
}

/// Unmaps.
///
/// # Safety
/// Nobody uses the mapping any more.
pub unsafe fn unmap(address: usize, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { call(libc::SYS_munmap, [address, bytes, 0, 0, 0, 0]) };
}

/// A limit of the process, and how far it may be raised; `usize::MAX` is none.
pub fn limit(what: u32) -> [usize; 2] {
    let mut limit = [0; 2];
    let place = limit.as_mut_ptr() as usize;
    // SAFETY: the kernel writes two words.
    unsafe { call(libc::SYS_getrlimit, [what as usize, place, 0, 0, 0, 0]) };
    limit
}

/// Whether the process has more rights than who has started it, as `setuid` programs do.
pub fn is_privileged() -> bool {
    // SAFETY: asks for numbers.
    let [user, acting_user, group, acting_group] = [
        libc::SYS_getuid,
        libc::SYS_geteuid,
        libc::SYS_getgid,
        libc::SYS_getegid,
    ]
    .map(|ask| unsafe { call(ask, [0; 6]) });
    user != acting_user || group != acting_group
}

/// What is known of the program's limit for the length of files.
static LENGTH_LIMIT: AtomicU32 = AtomicU32::new(NOT_ASKED);
const NOT_ASKED: u32 = 0;
const NO_LIMIT: u32 = 1;
const LIMIT: u32 = 2;

/// The program is going to set a limit.
pub fn limit_may_change() {
    LENGTH_LIMIT.store(LIMIT, Ordering::SeqCst);
}

/// The program has set a limit.
pub fn limit_changed() {
    LENGTH_LIMIT.store(NOT_ASKED, Ordering::SeqCst);
}

/// Whether files may not become as long as they like (`RLIMIT_FSIZE`). It is asked for once: a limit set by another process
/// meanwhile is not noticed.
fn is_length_limited() -> bool {
    if LENGTH_LIMIT.load(Ordering::SeqCst) == NOT_ASKED {
        let known = match limit(libc::RLIMIT_FSIZE)[0] {
            usize::MAX => NO_LIMIT,
            _ => LIMIT,
        };
        let (before, order) = (NOT_ASKED, Ordering::SeqCst);
        let _ = LENGTH_LIMIT.compare_exchange(before, known, order, order);
    }
    LENGTH_LIMIT.load(Ordering::SeqCst) != NO_LIMIT
}

/// A call that may make one of the runtime's files longer than the program's limit allows: it fails then, and the signal that
/// would end the program is taken back.
///
/// # Safety
/// As for [`call`].
unsafe fn grow(number: libc::c_long, arguments: [usize; 6]) -> isize {
    if !is_length_limited() {
        // SAFETY: the caller's promise.
        return unsafe { call(number, arguments) };
    }
    const SIZE_OF_SET: usize = 8;
    let set = 1_u64 << (libc::SIGXFSZ - 1);
    let mut before = 0_u64;
    let mask = |how: i32, new: &u64, old: *mut u64| {
        let pointers = [std::ptr::from_ref(new) as usize, old as usize];
        let arguments = [how as usize, pointers[0], pointers[1], SIZE_OF_SET, 0, 0];
        // SAFETY: a set of signals is a word, and the old one has room.
        unsafe { call(libc::SYS_rt_sigprocmask, arguments) };
    };
    mask(libc::SIG_BLOCK, &set, &mut before);
    // SAFETY: the caller's promise.
    let result = unsafe { call(number, arguments) };
    if result == -libc::EFBIG as isize {
        let now = [0_u64; 2];
        let pointers = [std::ptr::from_ref(&set), now.as_ptr()].map(|pointer| pointer as usize);
        let arguments = [pointers[0], 0, pointers[1], SIZE_OF_SET, 0, 0];
        // SAFETY: a set of signals, and a time of no length.
        unsafe { call(libc::SYS_rt_sigtimedwait, arguments) };
    }
    mask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
    result
}

/// Writes all bytes, as far as the file takes them. False: it does not take them all.
pub fn write_all(file: i32, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let arguments = [file as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0];
        // SAFETY: the kernel reads the slice.
        match unsafe { grow(libc::SYS_write, arguments) } {
            written if written > 0 => bytes = &bytes[(written as usize).min(bytes.len())..],
            error if error == -libc::EINTR as isize => (),
            _ => return false,
        }
    }
    true
}

/// Writes all bytes at a place of a file. False: they did not all fit.
pub fn write_at(file: i32, mut offset: u64, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let place = [bytes.as_ptr() as usize, bytes.len(), offset as usize];
        let arguments = [file as usize, place[0], place[1], place[2], 0, 0];
        // SAFETY: the kernel reads the slice.
        match unsafe { grow(libc::SYS_pwrite64, arguments) } {
            written if written > 0 => {
                bytes = &bytes[(written as usize).min(bytes.len())..];
                offset += written as u64;
            }
            error if error == -libc::EINTR as isize => (),
            _ => return false,
        }
    }
    true
}

/// Opens a file; the path ends with a zero byte.
pub fn open(path: &[u8], flags: i32) -> Option<i32> {
    debug_assert_eq!(path.last(), Some(&0));
    let arguments = [
        libc::AT_FDCWD as usize,
        path.as_ptr() as usize,
        flags as usize,
        // What a program does is its owner's business only.
        0o600,
        0,
        0,
    ];
    // SAFETY: the kernel reads the path up to its zero byte.
    i32::try_from(unsafe { call(libc::SYS_openat, arguments) })
        .ok()
        .filter(|file| *file >= 0)
}

/// Where a symbolic link leads; the path ends with a zero byte. Nothing if it is none.
pub fn link(path: &[u8]) -> Vec<u8> {
    debug_assert_eq!(path.last(), Some(&0));
    let mut target = vec![0; 4096];
    let (from, to) = (path.as_ptr() as usize, target.as_mut_ptr() as usize);
    let arguments = [libc::AT_FDCWD as usize, from, to, target.len(), 0, 0];
    // SAFETY: the kernel reads the path up to its zero byte, and writes at most the length of the buffer.
    let length = unsafe { call(libc::SYS_readlinkat, arguments) };
    target.truncate(usize::try_from(length).unwrap_or(0));
    target
}

/// Reads into the buffer; 0 at the end or on error.
pub fn read(file: i32, buffer: &mut [u8]) -> usize {
    let arguments = [
        file as usize,
        buffer.as_mut_ptr() as usize,
        buffer.len(),
        0,
        0,
        0,
    ];
    // SAFETY: the kernel writes into the slice.
    usize::try_from(unsafe { call(libc::SYS_read, arguments) }).unwrap_or(0)
}

/// The word at a place of a file.
pub fn read_at(file: i32, offset: u64) -> Option<u64> {
    let mut word = [0; 8];
    let place = word.as_mut_ptr() as usize;
    let arguments = [file as usize, place, word.len(), offset as usize, 0, 0];
    // SAFETY: the kernel writes into the array.
    let read = unsafe { call(libc::SYS_pread64, arguments) };
    (read == word.len() as isize).then(|| u64::from_ne_bytes(word))
}

/// What the kernel says of a descriptor, without touching the program's `errno`.
pub fn status(file: i32) -> Option<libc::stat> {
    // SAFETY: the kernel fills in what it is given.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let arguments = [file as usize, &raw mut status as usize, 0, 0, 0, 0];
        (call(libc::SYS_fstat, arguments) == 0).then_some(status)
    }
}

/// As [`status`], of a path that ends with a zero byte.
pub fn status_at(path: &[u8]) -> Option<libc::stat> {
    debug_assert_eq!(path.last(), Some(&0));
    // SAFETY: the kernel reads the path up to its zero byte, and fills in what it is given.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let (here, place) = (libc::AT_FDCWD as usize, &raw mut status as usize);
        let arguments = [here, path.as_ptr() as usize, place, 0, 0, 0];
        (call(libc::SYS_newfstatat, arguments) == 0).then_some(status)
    }
}

/// A longer file is not read to its end: it may have none.
const LONGEST_FILE: usize = 1 << 26;

/// What is in a file; the path ends with a zero byte. None: it cannot be read.
pub fn read_all(path: &[u8]) -> Option<Vec<u8>> {
    let file = open(path, libc::O_RDONLY | libc::O_CLOEXEC)?;
    let mut bytes = vec![0; 1 << 14];
    let mut length = 0;
    loop {
        if length == bytes.len() {
            bytes.resize(2 * length, 0);
        }
        match read(file, &mut bytes[length..]) {
            more if more == 0 || length > LONGEST_FILE => break,
            more => length += more,
        }
    }
    close(file);
    bytes.truncate(length);
    Some(bytes)
}

/// Closes a file.
pub fn close(file: i32) {
    for (own, _) in &OWN {
        let _ = own.compare_exchange(file, NONE, Ordering::Relaxed, Ordering::Relaxed);
    }
    // SAFETY: the runtime's own file.
    unsafe { call(libc::SYS_close, [file as usize, 0, 0, 0, 0, 0]) };
}

/// The files that the runtime keeps open, which a program that closes all it has must not close: their numbers, and what is
/// behind them.
static OWN: [(AtomicI32, AtomicU64); 4] = [const { (AtomicI32::new(NONE), AtomicU64::new(0)) }; 4];
const NONE: i32 = -1;

/// What is behind a descriptor.
fn identity(file: i32) -> Option<u64> {
    status(file).map(|status| status.st_ino ^ status.st_dev.rotate_left(32))
}

/// The numbers of the files that the runtime keeps open. The program can have put something of its own in the place of one.
pub fn own_files() -> impl Iterator<Item = i32> {
    OWN.iter().filter_map(|(own, behind)| {
        let file = own.load(Ordering::Relaxed);
        let known = Some(behind.load(Ordering::Relaxed));
        (file != NONE && identity(file) == known).then_some(file)
    })
}

/// Whether a descriptor is one of the runtime's own.
pub fn is_own(file: i32) -> bool {
    // Nearly always it is not: then the kernel is not asked.
    let mut numbers = OWN.iter().map(|(own, _)| own.load(Ordering::Relaxed));
    file != NONE && numbers.any(|own| own == file) && own_files().any(|own| own == file)
}

/// A file is to stay open, also when the program closes all it has.
pub fn keep(file: i32) {
    let Some(behind) = identity(file) else { return };
    let free = |(own, known): &&(AtomicI32, AtomicU64)| {
        let number = own.load(Ordering::Relaxed);
        number == NONE || number == file || identity(number) != Some(known.load(Ordering::Relaxed))
    };
    if let Some((own, known)) = OWN.iter().find(free) {
        known.store(behind, Ordering::Relaxed);
        own.store(file, Ordering::Relaxed);
    }
}

/// Moves a file to a number that is at least `lowest`, if there is one. Programs that this one becomes inherit it.
pub fn move_up(file: i32, lowest: i32) -> i32 {
    duplicate(file, libc::F_DUPFD, lowest)
}

/// Moves a file that is to stay open to a high number, out of the way of programs that count on low ones.
pub fn high(file: i32) -> i32 {
    let kept = duplicate(file, libc::F_DUPFD_CLOEXEC, 900);
    keep(kept);
    kept
}

fn duplicate(file: i32, how: i32, lowest: i32) -> i32 {
    let arguments = [file as usize, how as usize, lowest as usize, 0, 0, 0];
    // SAFETY: the runtime's own file.
    match unsafe { call(libc::SYS_fcntl, arguments) } {
        moved if moved >= 0 => {
            close(file);
            moved as i32
        }
        _ => file,
    }
}

/// A piece of a file as memory: what is written there is in the file at once.
pub fn map_file(file: i32, offset: u64, bytes: usize) -> Option<usize> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED;
    let arguments = [
        0,
        bytes,
        protection as usize,
        flags as usize,
        file as usize,
        offset as usize,
    ];
    // SAFETY: a new mapping, at a place the kernel chooses.
    usize::try_from(unsafe { call(libc::SYS_mmap, arguments) }).ok()
}

/// Sleeps, or less if a signal comes.
pub fn sleep(nanoseconds: u64) {
    let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
    // SAFETY: reads two words.
    unsafe { call(libc::SYS_nanosleep, [time.as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// Lets others run.
pub fn yield_now() {
    // SAFETY: takes no arguments.
    unsafe { call(libc::SYS_sched_yield, [0; 6]) };
}

static BARRIERS: AtomicU32 = AtomicU32::new(0);
const REGISTER: usize = 1 << 4;
const BARRIER: usize = 1 << 3;

/// Asks the kernel for barriers on all threads of the process. False: it has none.
pub fn ask_for_barriers() -> bool {
    // SAFETY: takes numbers.
    let done = unsafe { call(libc::SYS_membarrier, [REGISTER, 0, 0, 0, 0, 0]) } == 0;
    BARRIERS.store(u32::from(done), Ordering::Relaxed);
    done
}

/// Whether [`barrier`] works on all threads.
#[inline]
pub fn barriers() -> bool {
    BARRIERS.load(Ordering::Relaxed) != 0
}

/// All threads of the process see what was stored before, as if each had a barrier of its own here.
pub fn barrier() {
    if barriers() {
        // SAFETY: takes numbers.
        unsafe { call(libc::SYS_membarrier, [BARRIER, 0, 0, 0, 0, 0]) };
    }
}

/// A few words on standard error, and the end.
pub fn die(words: &str) -> ! {
    write_all(2, words.as_bytes());
    // SAFETY: ends the process.
    unsafe { call(libc::SYS_exit_group, [70, 0, 0, 0, 0, 0]) };
    loop {
        yield_now();
    }
}

/// A lock for a few instructions. Its holder is never interrupted by the program's own code.
#[derive(Debug, Default)]
pub struct Spin(AtomicU32);

impl Spin {
    /// A lock nobody holds.
    pub const fn new() -> Spin {
        Spin(AtomicU32::new(0))
    }

    /// Takes it.
    #[inline]
    pub fn lock(&self) -> SpinGuard<'_> {
        if self.0.swap(1, Ordering::Acquire) != 0 {
            self.wait();
        }
        SpinGuard(self)
    }

    /// Takes it if nobody holds it.
    pub fn try_lock(&self) -> Option<SpinGuard<'_>> {
        (self.0.swap(1, Ordering::Acquire) == 0).then(|| SpinGuard(self))
    }

    #[cold]
    fn wait(&self) {
        let mut tries = 0;
        loop {
            while self.0.load(Ordering::Relaxed) != 0 {
                tries += 1;
                if tries > 100 {
                    yield_now();
                } else {
                    std::hint::spin_loop();
                }
            }
            if self.0.swap(1, Ordering::Acquire) == 0 {
                return;
            }
        }
    }

    /// Nobody holds it, whatever happened: for the only thread of a forked child.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Gives the lock back when dropped.
#[derive(Debug)]
pub struct SpinGuard<'a>(&'a Spin);

impl Drop for SpinGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(0, Ordering::Release);
    }
}
