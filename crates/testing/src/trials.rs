//! How many random things a test tries, and which.
//!
//! Simple model: a test tries the seeds n, n + 1, n + 2, …, and a seed decides everything about its
//! trial. Where n lies depends on the base seed and on the test.
//!
//! Three environment variables say what to try; only this file reads them:
//! - `DEADHEAT_PROGRAMS`: how many programs of each kind, or traces, each test tries.
//! - `DEADHEAT_SEED`: the base seed. Without it the base seed is 0, so that `cargo test` does the same
//!   each time; `make soak` draws one and prints it.
//! - `DEADHEAT_ONLY`: the seed of one trial; nothing else is tried.
//!
//! Guarantee: if a test panics during a trial, it prints the command that repeats this trial alone.

use std::fmt::Display;

use fastrand::Rng;

/// The random things that a test tries.
///
/// ```
/// let trials = deadheat_testing::Trials::new(1, 100);
/// let mut heads = 0;
/// for trial in &trials {
///     heads += u64::from(trial.rng().bool());
/// }
/// trials.expect(heads > trials.count() / 4, format!("{heads} heads"));
/// ```
#[derive(Clone, Debug)]
pub struct Trials {
    first: u64,
    count: u64,
    /// How many there are unless the environment says otherwise.
    usual: u64,
    only: Option<u64>,
}

impl Trials {
    /// So many trials, unless the environment says otherwise. Tests with different salts try
    /// different things.
    pub fn new(salt: u64, usual: u64) -> Trials {
        Trials::from_environment(salt, usual, |name| std::env::var(name).ok())
    }

    fn from_environment(
        salt: u64,
        usual: u64,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Trials {
        let number = |name: &str| {
            let value = variable(name)?;
            let number = value.trim().parse::<u64>();
            Some(number.unwrap_or_else(|_| panic!("{name}: expected a number, found `{value}`")))
        };
        let base = number("DEADHEAT_SEED").unwrap_or(0);
        Trials {
            first: mix(base ^ mix(salt)) >> 16,
            count: number("DEADHEAT_PROGRAMS").unwrap_or(usual),
            usual,
            only: number("DEADHEAT_ONLY"),
        }
    }

    /// So many times as many: one for each kind, say.
    pub fn times(self, factor: u64) -> Trials {
        Trials {
            count: self.count * factor,
            usual: self.usual * factor,
            ..self
        }
    }

    /// So many times fewer, for a test that takes long.
    pub fn divided_by(self, divisor: u64) -> Trials {
        Trials {
            count: self.count.div_ceil(divisor),
            usual: self.usual.div_ceil(divisor),
            ..self
        }
    }

    /// How many trials there are.
    pub fn count(&self) -> u64 {
        match self.only {
            Some(_) => 1,
            None => self.count,
        }
    }

    /// Asserts what is true of many trials together. If there were fewer than usual, chance may have
    /// it otherwise, and nothing is asserted.
    #[track_caller]
    pub fn expect(&self, holds: bool, found: impl Display) {
        match self.count() >= self.usual {
            true => assert!(holds, "{found}"),
            false => println!("{} trials are too few to judge by: {found}", self.count()),
        }
    }
}

impl IntoIterator for &Trials {
    type Item = Trial;
    type IntoIter = Box<dyn Iterator<Item = Trial>>;

    fn into_iter(self) -> Self::IntoIter {
        let first = self.only.unwrap_or(self.first);
        let seeds = (0..self.count()).map(move |number| first.wrapping_add(number));
        Box::new(seeds.map(|seed| Trial { seed }))
    }
}

/// Spreads nearby numbers over all of them (the last step of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// One trial. Hold it while its program or trace is looked at.
#[derive(Debug)]
pub struct Trial {
    /// What decides everything about it.
    pub seed: u64,
}

impl Trial {
    /// A generator that depends on the seed alone.
    pub fn rng(&self) -> Rng {
        Rng::with_seed(self.seed)
    }

    /// Which of several kinds this trial is of: each is tried as often.
    pub fn one_of<'k, T>(&self, kinds: &'k [T]) -> &'k T {
        &kinds[(self.seed % kinds.len() as u64) as usize]
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let command = command();
            eprintln!(
                "to repeat this trial alone:\n  DEADHEAT_ONLY={} {command}",
                self.seed
            );
        }
    }
}

/// The command that runs this test and no other.
fn command() -> String {
    let mut command = "cargo test".to_string();
    if !cfg!(debug_assertions) {
        command += " --release";
    }
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    if !package.is_empty() {
        command += &format!(" -p {package}");
    }
    // Cargo calls a test's binary by the name of its file and a hash.
    let binary = std::env::current_exe().unwrap_or_default();
    let binary = binary.file_stem().unwrap_or_default().to_string_lossy();
    let target = binary.rsplit_once('-').map_or(&*binary, |(name, _)| name);
    command += &match target == package.replace('-', "_") {
        true => " --lib".to_string(),
        false => format!(" --test {target}"),
    };
    // The harness calls a test's thread by the name of the test, if it has a thread of its own.
    match std::thread::current().name() {
        None | Some("main") => command,
        Some(test) => format!("{command} {test} -- --exact"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn seeds(salt: u64, usual: u64, environment: &[(&str, &str)]) -> Vec<u64> {
        let variable = |name: &str| {
            let mut all = environment.iter();
            let found = all.find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_string())
        };
        let trials = Trials::from_environment(salt, usual, variable);
        trials.into_iter().map(|trial| trial.seed).collect()
    }

    #[test]
    fn without_a_seed_the_same_is_tried_each_time() {
        assert_eq!(seeds(3, 10, &[]), seeds(3, 10, &[]));
        assert_eq!(seeds(3, 10, &[]).len(), 10);
    }

    #[test]
    fn other_seeds_and_other_tests_try_something_else() {
        let mut all = BTreeSet::new();
        for seed in ["0", "1", "2", "18446744073709551615"] {
            for salt in 0..4 {
                all.extend(seeds(salt, 1000, &[("DEADHEAT_SEED", seed)]));
            }
        }
        assert_eq!(all.len(), 16_000);
    }

    #[test]
    fn the_environment_says_how_many() {
        assert_eq!(seeds(1, 10, &[("DEADHEAT_PROGRAMS", "25")]).len(), 25);
    }

    #[test]
    fn one_trial_can_be_repeated_alone() {
        let seed = seeds(1, 10, &[])[7];
        let only = ("DEADHEAT_ONLY", &*seed.to_string());
        assert_eq!(seeds(1, 10, &[only]), [seed]);
        assert_eq!(seeds(9, 500, &[only]), [seed]);
    }

    #[test]
    fn each_kind_is_tried_as_often() {
        let kinds = ["a", "b", "c"];
        let mut counts = [0; 3];
        for trial in &Trials::from_environment(5, 1, |_| None).times(300) {
            let kind = trial.one_of(&kinds);
            counts[kinds.iter().position(|known| known == kind).unwrap()] += 1;
        }
        assert_eq!(counts, [100; 3]);
    }

    #[test]
    #[should_panic(expected = "DEADHEAT_SEED: expected a number, found `x`")]
    fn what_is_not_a_number_is_refused() {
        seeds(1, 10, &[("DEADHEAT_SEED", "x")]);
    }
}
