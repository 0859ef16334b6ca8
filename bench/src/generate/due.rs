//! When to use something for the first time: spread over the trace, so that what is used at some
//! point of it is less than all there is.

/// How many of some things are due to be used for the first time.
pub struct Due {
    number: f64,
    /// How many more with each use.
    rate: f64,
}

impl Due {
    /// All of the things within the expected uses; a little early, so that at the end few are left.
    pub fn new(things: u64, expected: f64) -> Due {
        Due {
            number: 0.0,
            rate: 1.2 * things as f64 / expected.max(1.0),
        }
    }

    /// That many uses more.
    pub fn pass(&mut self, uses: usize) {
        self.number += self.rate * uses as f64;
    }

    /// Whether any is due; that many no longer are.
    pub fn take(&mut self, things: u64) -> bool {
        let due = self.number > 0.0;
        if due {
            self.number -= things as f64;
        }
        due
    }
}
