//! Random pauses where OpenMP's tasks and threads meet: a test of this runtime sees schedules that otherwise come once in thousands of runs.
//!
//! `DEADHEAT_OPTIONS=pauses=SEED` asks for them. At each scheduling point, before and after it is told of, a thread goes on, lets others
//! run, or sleeps for a moment. A seed gives a sequence of pauses, not a schedule: which thread meets which of them is the system's choice.
//! A process sleeps a limited number of times, so that programs with very many tasks end as well.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::platform::os;

/// Odd where pauses are asked for, 0 where not.
static STATE: AtomicU64 = AtomicU64::new(0);
/// How often the process may sleep still.
static SLEEPS: AtomicU32 = AtomicU32::new(400);

/// The longest sleep.
const LONGEST: u64 = 100_000;

/// From now on there are pauses.
pub fn begin(seed: u64) {
    STATE.store(seed << 1 | 1, Ordering::Relaxed);
}

/// A scheduling point: there may be a pause now, and one when this is dropped.
pub struct Around(());

#[inline]
pub fn around() -> Around {
    pause();
    Around(())
}

impl Drop for Around {
    #[inline]
    fn drop(&mut self) {
        pause();
    }
}

#[inline]
fn pause() {
    if STATE.load(Ordering::Relaxed) != 0 {
        choose();
    }
}

#[cold]
fn choose() {
    // Even: the state stays odd. What follows mixes its bits.
    let state = STATE.fetch_add(0x9e37_79b9_7f4a_7c16, Ordering::Relaxed);
    let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    let mixed = mixed ^ mixed >> 31;
    match mixed % 16 {
        0..8 => {}
        8..14 => os::yield_now(),
        _ => {
            let one_less = |left: u32| left.checked_sub(1);
            let may = SLEEPS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
            if may.is_ok() {
                os::sleep((mixed >> 32) % LONGEST);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_come_where_they_are_asked_for_and_sleeps_end() {
        let most = SLEEPS.load(Ordering::Relaxed);
        drop(around());
        assert_eq!(STATE.load(Ordering::Relaxed), 0);
        begin(0);
        for _ in 0..most * 16 {
            drop(around());
        }
        assert_eq!(SLEEPS.load(Ordering::Relaxed), 0);
        assert_eq!(STATE.load(Ordering::Relaxed) & 1, 1);
        STATE.store(0, Ordering::Relaxed);
    }
}
