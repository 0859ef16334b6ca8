//! Room for very many events.

use deadheat_model::Event;

use crate::error::TraceError;

/// An empty vector with room for so many events; an error if there is not that much memory to ask for.
pub fn room_for(events: u64) -> Result<Vec<Event>, TraceError> {
    let too_large = || TraceError::TooLarge { events };
    let count = usize::try_from(events).map_err(|_| too_large())?;
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| too_large())?;
    Ok(room)
}
