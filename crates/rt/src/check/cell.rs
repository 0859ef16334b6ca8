//! What is known of a word of a program of threads, in sixteen bytes: two [marks](deadheat_online::mark), or the number of a
//! history where two marks cannot say it.
//!
//! A cell changes as one, by one compare-and-swap. Its halves are read one after the other: what was read may never have
//! been there together, which a change finds out. That a half tells all of an access is true of that half alone.

use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_online::mark::Mark;

/// See the [module](self).
#[derive(Debug)]
#[repr(C, align(16))]
pub struct Cell([AtomicU64; 2]);

impl Cell {
    /// Its halves, to be compared only.
    #[inline(always)]
    pub fn halves(&self) -> [u64; 2] {
        [&self.0[0], &self.0[1]].map(|half| half.load(Ordering::Relaxed))
    }

    /// It is about to be changed: other processors may give up its line in the meantime.
    #[inline(always)]
    pub fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: what is fetched is there; a processor that knows no such instruction does nothing.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) self, options(nostack, preserves_flags, readonly));
        }
    }

    /// Its marks. If they were never there together, a change of them fails.
    #[inline(always)]
    pub fn load(&self) -> [Mark; 2] {
        [&self.0[0], &self.0[1]].map(|half| Mark(half.load(Ordering::Acquire)))
    }

    /// Replaces what it says, if that is as expected.
    #[inline(always)]
    pub fn replace(&self, old: [Mark; 2], new: [Mark; 2]) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let done: u64;
            // SAFETY: sixteen bytes that lie so: to the processor this is one atomic exchange. Rust's own atomics may
            // not mix sizes. rbx is LLVM's own, and put back: so registers are named that it may not take for it.
            unsafe {
                std::arch::asm!(
                    "xchg rbx, rsi",
                    "lock cmpxchg16b [rdi]",
                    "sete al",
                    "mov rbx, rsi",
                    inout("rsi") new[0].0 => _,
                    in("rdi") self,
                    inout("rax") old[0].0 => done,
                    inout("rdx") old[1].0 => _,
                    in("rcx") new[1].0,
                    options(nostack),
                );
            }
            done as u8 != 0
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            // No hooks are made for other processors yet: only tests come here, one thread at a time.
            let same = self.load() == old;
            if same {
                self.0[0].store(new[0].0, Ordering::Release);
                self.0[1].store(new[1].0, Ordering::Release);
            }
            same
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_changes_as_one_and_only_from_what_is_expected() {
        let cell = Cell([AtomicU64::new(1), AtomicU64::new(2)]);
        let marks = |a, b| [Mark(a), Mark(b)];
        assert!(!cell.replace(marks(1, 3), marks(5, 6)));
        assert!(!cell.replace(marks(0, 2), marks(5, 6)));
        assert_eq!(cell.load(), marks(1, 2));
        assert!(cell.replace(marks(1, 2), marks(u64::MAX, 7)));
        assert_eq!(cell.halves(), [u64::MAX, 7]);
    }

    #[test]
    fn threads_that_count_in_both_halves_lose_nothing() {
        let cell = Cell([AtomicU64::new(0), AtomicU64::new(0)]);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        loop {
                            let old @ [a, b] = cell.load();
                            let new = [Mark(a.0 + 1), Mark(b.0 + 2)];
                            if cell.replace(old, new) {
                                break;
                            }
                        }
                    }
                });
            }
        });
        assert_eq!(cell.halves(), [40_000, 80_000]);
    }
}
