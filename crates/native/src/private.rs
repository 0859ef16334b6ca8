//! Directories that nobody else can look into.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use tempfile::TempDir;

const OWNER_ONLY: u32 = 0o700;

/// Makes a directory, and those above it, unless it is there.
pub fn create(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(OWNER_ONLY).create(directory)
}

/// Makes a directory in another, which disappears when it is dropped.
pub fn temporary_directory(place: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix("deadheat-")
        .permissions(Permissions::from_mode(OWNER_ONLY))
        .tempdir_in(place)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn nobody_else_can_look_in() {
        let place = tempfile::tempdir().unwrap();
        let below = place.path().join("a/b");
        create(&below).unwrap();
        let inner = temporary_directory(&below).unwrap();
        for directory in [&below, inner.path()] {
            assert_eq!(directory.metadata().unwrap().mode() & 0o777, 0o700);
        }
    }
}
