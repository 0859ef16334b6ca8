//! A table that all threads of the program share, behind a lock that is held for a few instructions.

use std::cell::UnsafeCell;

use crate::platform::os::Spin;

/// See the [module](self). Made when it is first used.
#[derive(Debug)]
pub struct Table<T> {
    lock: Spin,
    content: UnsafeCell<Option<T>>,
}

// SAFETY: the content is only touched with the lock held.
unsafe impl<T: Send> Sync for Table<T> {}

impl<T: Default> Table<T> {
    pub const fn new() -> Table<T> {
        Table {
            lock: Spin::new(),
            content: UnsafeCell::new(None),
        }
    }

    /// Does something with the content. Whoever calls is in the runtime: no handler of the program's may run meanwhile.
    pub fn with<R>(&self, what: impl FnOnce(&mut T) -> R) -> R {
        let _guard = self.lock.lock();
        // SAFETY: the lock is held.
        what(unsafe { &mut *self.content.get() }.get_or_insert_default())
    }

    /// In a forked child, whose only thread holds no lock.
    pub fn reset_lock(&self) {
        self.lock.reset();
    }
}
