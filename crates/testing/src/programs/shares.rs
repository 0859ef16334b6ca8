//! Who may access what, while a program is written.
//!
//! A strand with the whole of a place may write it; one with a part of it may read it. A part is
//! only ever passed along an edge of the happens-before order, and the parts of a place never add up
//! to more than the whole. So when every access stays within what its strand has, accesses that
//! conflict are ordered. (These are the fractional permissions of J. Boyland, "Checking Interference
//! with Fractional Permissions", SAS 2003.)

/// A part of a place.
pub(super) type Share = u64;

/// All of a place. Parts are halved at most as often as a program nests, far less than 40 times.
pub(super) const WHOLE: Share = 1 << 40;

/// How much one has of each place, by the place's number.
#[derive(Clone, Default)]
pub(super) struct Shares(Vec<Share>);

impl Shares {
    pub(super) fn get(&self, place: usize) -> Share {
        self.0.get(place).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, place: usize, share: Share) {
        if place >= self.0.len() {
            self.0.resize(place + 1, 0);
        }
        self.0[place] = share;
    }

    pub(super) fn add(&mut self, place: usize, share: Share) {
        let sum = self.get(place) + share;
        debug_assert!(sum <= WHOLE, "there is more of place {place} than there is");
        self.set(place, sum);
    }

    /// Moves a share of a place from here to there.
    pub(super) fn pass(&mut self, place: usize, share: Share, to: &mut Shares) {
        self.set(place, self.get(place) - share);
        to.add(place, share);
    }

    pub(super) fn add_all(&mut self, others: &Shares) {
        for (place, share) in others.parts() {
            self.add(place, share);
        }
    }

    /// Takes away what `others` have, as far as it is here.
    pub(super) fn remove_all(&mut self, others: &Shares) {
        for (place, share) in others.parts() {
            self.set(place, self.get(place).saturating_sub(share));
        }
    }

    /// Keeps of each place what both have.
    pub(super) fn lower_to(&mut self, others: &Shares) {
        for (place, share) in self.0.iter_mut().enumerate() {
            *share = (*share).min(others.get(place));
        }
    }

    /// The places of which there is a part here, and the parts.
    pub(super) fn parts(&self) -> impl Iterator<Item = (usize, Share)> + '_ {
        let parts = self.0.iter().copied().enumerate();
        parts.filter(|(_, share)| *share > 0)
    }

    pub(super) fn places(&self) -> Vec<usize> {
        self.parts().map(|(place, _)| place).collect()
    }
}
