//! Numbers for strands that mean the same in every run.

use deadheat_model::path_name;
use rustc_hash::FxHashMap;

/// The path of a strand, which is the same in every schedule.
pub(super) type Path = Vec<u32>;

/// Paths of strands, numbered.
#[derive(Default)]
pub(super) struct Strands {
    numbers: FxHashMap<Path, u32>,
    paths: Vec<Path>,
}

impl Strands {
    pub(super) fn number(&mut self, path: &Path) -> u32 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        let number = self.paths.len() as u32;
        self.numbers.insert(path.clone(), number);
        self.paths.push(path.clone());
        number
    }

    pub(super) fn path(&self, number: u32) -> &Path {
        &self.paths[number as usize]
    }

    /// What they are called, by number.
    pub(super) fn names(&self) -> Vec<String> {
        self.paths.iter().map(|path| path_name(path)).collect()
    }
}
