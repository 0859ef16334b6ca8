//! Room for very many events.

use deadheat_model::Event;

use crate::error::TraceError;

/// An empty vector with room for so many events; an error if there is not that much memory to ask for.
///
/// In large pages, where the system has them: to fill it then costs few page faults, which are half of
/// what reading a trace costs otherwise.
pub fn room_for(events: u64) -> Result<Vec<Event>, TraceError> {
    let too_large = || TraceError::TooLarge { events };
    let count = usize::try_from(events).map_err(|_| too_large())?;
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| too_large())?;
    advise(&room);
    Ok(room)
}

/// Up to how many bytes large pages are asked for. To make room for more of them the system may have to move
/// so much that they do not pay.
#[cfg(target_os = "linux")]
const MOST: usize = 256 << 20;

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn advise(room: &Vec<Event>) {
    const PAGE: usize = 4096;
    let start = (room.as_ptr() as usize).next_multiple_of(PAGE);
    let end = room.as_ptr() as usize + room.capacity() * size_of::<Event>();
    let length = end.saturating_sub(start) / PAGE * PAGE;
    if (1..=MOST).contains(&length) {
        // SAFETY: the pages are inside the vector's own memory, and the advice changes how the system
        // provides them, not what is in them. If it is not taken nothing is lost.
        let _ = unsafe { libc::madvise(start as *mut _, length, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &Vec<Event>) {}
