//! Hashes that stand for what they are made of.

use std::hash::Hash;

use siphasher::sip128::{Hasher128, SipHasher13};

/// A hash wide enough that two different things never meet in one search: among a thousand
/// million states the chance is 1 in 10^20.
pub fn digest(of: impl Hash) -> u128 {
    let mut hasher = SipHasher13::new();
    of.hash(&mut hasher);
    hasher.finish128().as_u128()
}
