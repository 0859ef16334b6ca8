//! What a first look at a tape finds: who there is, where pieces of memory begin and end, and what orders anything.

use deadheat_tape::{AtomicDetail, Stamped};
use rustc_hash::FxHashSet;

use super::grain::Grain;
use super::tape::{Record, Stamp, Tape};
use super::thread_name;

/// See the [module](self).
#[derive(Default)]
pub struct Contents {
    pub grain: Grain,
    /// What the threads are called.
    pub threads: Vec<String>,
    pub has_fences: bool,
    /// Whether there are tasks of OpenMP.
    pub has_tasks: bool,
    /// Where somebody acquires what others release.
    pub acquired: FxHashSet<u64>,
    /// How many accesses and other steps there are.
    pub steps: u64,
}

impl Contents {
    pub fn of(tape: &Tape) -> Contents {
        let mut contents = Contents::default();
        for thread in tape.threads() {
            contents.thread(thread);
            for record in tape.records(thread) {
                match record {
                    Record::Access { address, code } => {
                        contents.steps += 1;
                        contents.grain.note(address, code.size);
                    }
                    Record::Name(name) => contents.name(thread, &name),
                    Record::Stamp(stamped) => {
                        contents.steps += 1;
                        contents.stamped(&stamped);
                    }
                    Record::Entered(_)
                    | Record::Left(_)
                    | Record::Time(_)
                    | Record::Stack { .. } => {}
                }
            }
        }
        contents.grain.seal();
        contents
    }

    fn stamped(&mut self, stamped: &Stamp) {
        match stamped.what {
            Stamped::Atomic => {
                if let Ok(atomic) = AtomicDetail::try_from(stamped.detail) {
                    self.grain.note(stamped.address, atomic.size);
                }
                self.acquired.insert(stamped.address);
            }
            Stamped::Acquire => drop(self.acquired.insert(stamped.address)),
            Stamped::Freed | Stamped::Allocated | Stamped::New => {
                self.grain.note(stamped.address, stamped.size);
            }
            Stamped::Create | Stamped::Join => self.thread(stamped.address as u32),
            Stamped::Fence => self.has_fences = true,
            Stamped::Task => self.has_tasks = true,
            Stamped::Lock
            | Stamped::Unlock
            | Stamped::Take
            | Stamped::Give
            | Stamped::Arrive
            | Stamped::Leave
            | Stamped::Release
            | Stamped::ReleaseMore
            | Stamped::Begin
            | Stamped::End
            | Stamped::Destroy
            | Stamped::Run => {}
        }
    }

    /// There is such a thread.
    fn thread(&mut self, thread: u32) {
        // Numbers are given out one after the other: one that is far from all others is damage.
        let most = self.threads.len() + (1 << 20);
        for number in self.threads.len()..=(thread as usize).min(most) {
            self.threads.push(thread_name(number as u32));
        }
    }

    fn name(&mut self, thread: u32, name: &[u8]) {
        let length = name
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(name.len());
        let name = String::from_utf8_lossy(&name[..length]);
        if let Some(known) = self.threads.get_mut(thread as usize).filter(|_| thread > 0) {
            *known = format!("T{thread} ({name})");
        }
    }
}
