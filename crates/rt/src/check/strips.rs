//! Many neighbouring words change at once, by plain stores, in a program of OpenMP.
//!
//! The simple model: each word's number is exchanged by itself, if it is still as expected. That costs as much for each word of a
//! copied array as for one by itself.
//!
//! A *strip* is the numbers of 4 KB of the program's memory. Who takes it may load numbers of it and store others without asking
//! whether they still are what they were. Everybody else may still exchange a number, and looks afterwards whether the strip was
//! taken meanwhile ([`exchange`]): what was exchanged then may have been stored over, and is exchanged anew.
//!
//! Guarantee: no update of a number is lost. Strips share counters, which costs time at worst.
//! Cost: two instructions of a processor's lock for a strip; two loads for each exchange.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::check::shadow::Shadow;
use crate::platform::os;

/// How many bytes of the program's memory a strip tells of.
pub const STRIP: usize = 4096;
/// How many bytes of it a group does: as many numbers as are loaded and stored at once.
pub const GROUP: usize = 32;

const COUNTER_BITS: u32 = 7;

/// Odd while a strip is taken.
#[repr(align(64))]
struct Counter(AtomicU64);

static COUNTERS: [Counter; 1 << COUNTER_BITS] =
    [const { Counter(AtomicU64::new(0)) }; 1 << COUNTER_BITS];

#[inline(always)]
fn counter(cell: *const AtomicU32) -> &'static AtomicU64 {
    // A number takes half as many bytes as what it tells of.
    let strip = (cell as usize / (STRIP / 2)) as u64;
    &COUNTERS[(strip.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - COUNTER_BITS)) as usize].0
}

/// Exchanges one number, or two of one strip, of which this is one: `exchange` does it, if they are as expected; `is_there` says
/// whether they are what they became.
///
/// False: they were not as expected, or what they became was stored over or exchanged since.
#[inline(always)]
pub fn exchange(
    cell: &AtomicU32,
    exchange: impl FnOnce() -> bool,
    is_there: impl FnOnce() -> bool,
) -> bool {
    let counter = counter(cell);
    let mut before = counter.load(Ordering::Acquire);
    if before & 1 != 0 {
        before = wait(counter);
    }
    if !exchange() {
        return false;
    }
    fence_after_exchange();
    if counter.load(Ordering::Acquire) == before {
        return true;
    }
    wait(counter);
    is_there()
}

/// Waits for whoever has taken a strip, and says what its counter is then.
#[cold]
#[inline(never)]
fn wait(counter: &AtomicU64) -> u64 {
    let mut patience = 100;
    loop {
        let now = counter.load(Ordering::Acquire);
        if now & 1 == 0 {
            return now;
        }
        match patience {
            0 => os::yield_now(),
            _ => {
                patience -= 1;
                spin_loop();
            }
        }
    }
}

/// A strip that is taken, until dropped.
///
/// The taker is in the runtime, where no signal handler of the program runs, and does nothing that waits.
#[derive(Debug)]
pub struct Strip {
    base: usize,
    counter: &'static AtomicU64,
    taken: u64,
}

impl Strip {
    /// The strip that tells of an address, given where the numbers begin. None: somebody has taken it.
    pub fn take(base: usize, address: usize) -> Option<Strip> {
        let counter = counter(Shadow::cell_at(base, address));
        let before = counter.load(Ordering::Relaxed) & !1;
        let taken = before + 1;
        counter
            .compare_exchange(before, taken, Ordering::SeqCst, Ordering::Relaxed)
            .ok()?;
        // What others exchange from now on they find out to be in question.
        fence_after_exchange();
        Some(Strip {
            base,
            counter,
            taken,
        })
    }

    /// The numbers of a group of the strip. Its address is a multiple of the group's size.
    #[inline(always)]
    pub fn load(&self, address: usize) -> [u32; 4] {
        let cell = Shadow::cell_at(self.base, address).as_ptr();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: four numbers in the mapping, at a multiple of their size. Others may exchange them meanwhile: each is loaded as a
        // whole, by an instruction that the compiler takes for one of unknown effect.
        unsafe {
            let (low, high): (u64, u64);
            std::arch::asm!(
                "mov {low}, [{cell}]",
                "mov {high}, [{cell} + 8]",
                low = out(reg) low,
                high = lateout(reg) high,
                cell = in(reg) cell,
                options(nostack, readonly, preserves_flags),
            );
            std::mem::transmute([low, high])
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: as above.
        [0, 1, 2, 3]
            .map(|at| unsafe { (*cell.add(at).cast::<AtomicU32>()).load(Ordering::Acquire) })
    }

    /// Stores the numbers of a group.
    #[inline(always)]
    pub fn store(&self, address: usize, numbers: [u32; 4]) {
        let cell = Shadow::cell_at(self.base, address).as_ptr();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as for `load`.
        unsafe {
            use std::arch::x86_64::__m128i;
            let numbers: __m128i = std::mem::transmute(numbers);
            std::arch::asm!("movdqa [{cell}], {numbers}", numbers = in(xmm_reg) numbers, cell = in(reg) cell,
                options(nostack, preserves_flags));
        }
        #[cfg(not(target_arch = "x86_64"))]
        for (at, number) in numbers.into_iter().enumerate() {
            // SAFETY: as for `load`.
            unsafe { (*cell.add(at).cast::<AtomicU32>()).store(number, Ordering::Release) };
        }
    }
}

impl Drop for Strip {
    fn drop(&mut self) {
        self.counter.store(self.taken + 1, Ordering::Release);
    }
}

/// What comes after an exchange is not done before it: some processors take care of that themselves.
#[inline(always)]
fn fence_after_exchange() {
    match cfg!(target_arch = "x86_64") {
        true => std::sync::atomic::compiler_fence(Ordering::SeqCst),
        false => std::sync::atomic::fence(Ordering::SeqCst),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some threads exchange, some store, and each counts in a byte of its own.
    #[test]
    fn no_update_is_lost() {
        const WORDS: usize = 64;
        const EACH: u32 = 20_000;
        let room = os::reserve_or_die(2 * STRIP) as *const AtomicU32 as usize;
        // The numbers of addresses from 0 on begin here.
        let cell = |word: usize| Shadow::cell_at(room, word * 8);
        // Each thread counts in a byte of its own, so that what is in question can be told from what was lost.
        let counted = |by: u32, word: usize| {
            let mut done = false;
            while !done {
                let old = cell(word).load(Ordering::Acquire);
                let before = old >> (8 * by) & 0xff;
                let new = old & !(0xff << (8 * by)) | ((before + 1) & 0xff) << (8 * by);
                let exchanged = exchange(
                    cell(word),
                    || {
                        cell(word)
                            .compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed)
                            .is_ok()
                    },
                    || false,
                );
                // Only this thread changes this byte: it is there or it is not.
                let now = cell(word).load(Ordering::Acquire) >> (8 * by) & 0xff;
                assert!(!exchanged || now == (before + 1) & 0xff);
                done = now == (before + 1) & 0xff;
            }
        };
        let stored = |by: u32| {
            let strip = loop {
                match Strip::take(room, 0) {
                    Some(strip) => break strip,
                    None => os::yield_now(),
                }
            };
            for group in 0..WORDS / 4 {
                let numbers = strip.load(group * GROUP).map(|number| {
                    let byte = (number >> (8 * by) & 0xff) + 1;
                    number & !(0xff << (8 * by)) | (byte & 0xff) << (8 * by)
                });
                strip.store(group * GROUP, numbers);
            }
        };
        let sums: Vec<u32> = std::thread::scope(|scope| {
            let counting = (0..2).map(|by| {
                scope.spawn(move || {
                    (0..EACH).for_each(|turn| counted(by, turn as usize % WORDS));
                    EACH / WORDS as u32
                })
            });
            let storing = (2..4).map(|by| {
                scope.spawn(move || {
                    (0..EACH).for_each(|_| stored(by));
                    EACH
                })
            });
            let threads: Vec<_> = counting.chain(storing).collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect()
        });
        for word in 0..WORDS {
            for (by, sum) in sums.iter().enumerate() {
                let extra = u32::from(by < 2 && word < EACH as usize % WORDS);
                let found = cell(word).load(Ordering::Acquire) >> (8 * by) & 0xff;
                assert_eq!(found, (sum + extra) & 0xff, "{word} {by}");
            }
        }
    }
}
