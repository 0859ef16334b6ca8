//! Exceptions of C++ that threads pass on to each other.
//!
//! The C++ library counts who still has an exception, out of sight. Whoever gives it up comes before its destruction, and the
//! last one destroys it. So giving up is told before the library counts, and the destructor that it calls is one of ours, which
//! acquires and goes on to the exception's own.

use rustc_hash::FxHashMap;

use super::cxx_library::before;
use crate::openmp::strand::Shared;
use crate::order::sync;
use crate::order::thread::enter;
use crate::platform::optional_symbol::optional_symbol;

type Destructor = unsafe extern "C-unwind" fn(usize);

/// The destructors of the exceptions that there are, by the exception's address.
static DESTRUCTORS: Shared<Option<FxHashMap<usize, Destructor>>> = Shared::empty();

/// An exception is made: its address, its type, its destructor.
extern "C" fn makes(
    exception: usize,
    _: usize,
    destructor: Option<Destructor>,
    _: usize,
    _: usize,
    words: *mut [usize; 6],
) {
    /// Where the third word is kept.
    const THIRD: usize = 3;
    if let Some(destructor) = destructor
        && let Some(_entered) = enter()
    {
        DESTRUCTORS.with(|all| all.get_or_insert_default().insert(exception, destructor));
        // SAFETY: where the caller keeps the words.
        unsafe { (*words)[THIRD] = destroys as *const () as usize };
    }
}

extern "C" fn throws(
    exception: usize,
    kind: usize,
    destructor: Option<Destructor>,
    last: usize,
    pc: usize,
    words: *mut [usize; 6],
) {
    super::threads::throws();
    makes(exception, kind, destructor, last, pc, words);
}

extern "C" fn throws_again(_: usize, _: usize, _: usize, _: usize, _: usize) {
    super::threads::throws();
}

/// Nobody has the exception any more.
unsafe extern "C-unwind" fn destroys(exception: usize) {
    sync::acquire(channel(exception), 0);
    let destructor = DESTRUCTORS.with(|all| all.as_mut()?.remove(&exception));
    if let Some(destructor) = destructor {
        // SAFETY: the exception's own.
        unsafe { destructor(exception) };
    }
}

/// Before an exception lies what the library knows of it: the program has nothing there.
fn channel(exception: usize) -> usize {
    exception - 1
}

fn gives_up(exception: usize) {
    if exception != 0 {
        sync::release_more(channel(exception), 0);
    }
}

extern "C" fn releases(pointer: usize, _: usize, _: usize, _: usize, _: usize) {
    // SAFETY: a `std::exception_ptr`, which is an address.
    gives_up(unsafe { *(pointer as *const usize) });
}

/// What the ABI of C++ says of an exception that is caught, before the exception itself.
const HEADER: usize = 112;
const CLASS: usize = 80;
/// "GNUCC++" and 0, or 1 for one that was thrown again out of a `std::exception_ptr` and begins with the exception's address.
const OWN: u64 = 0x474e_5543_432b_2b00;

extern "C" fn ends_catch(_: usize, _: usize, _: usize, _: usize, _: usize) {
    type Globals = extern "C" fn() -> *const usize;
    let globals = optional_symbol!("__cxa_get_globals");
    // SAFETY: the library, which calls this, has the function. It keeps for each thread which exception it has caught last, and uses it now.
    unsafe {
        let globals = std::mem::transmute::<usize, Globals>(globals);
        let caught = *globals();
        if caught == 0 {
            return;
        }
        match *((caught + CLASS) as *const u64) {
            OWN => gives_up(caught + HEADER),
            class if class == OWN + 1 => gives_up(*(caught as *const usize)),
            _ => {}
        }
    }
}

before! {
    throws: "__cxa_throw";
    throws_again: "__cxa_rethrow";
    makes: "__cxa_init_primary_exception";
    releases: "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv" "_ZNSt15__exception_ptr13exception_ptrD1Ev"
        "_ZNSt15__exception_ptr13exception_ptrD2Ev";
    ends_catch: "__cxa_end_catch";
}
