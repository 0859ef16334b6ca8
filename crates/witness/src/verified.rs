//! Proofs that the checker has accepted.

/// A proof that the checker of this crate has accepted. Nobody else can make one: its only constructor is private to the
/// crate, and called where [`Witnesses`](crate::Witnesses) accepts.
///
/// ```compile_fail
/// let forged = deadheat_witness::Verified(deadheat_model::Witness::default());
/// ```
#[derive(Clone, Debug)]
pub struct Verified<P>(P);

impl<P> Verified<P> {
    /// For the checker, once it has accepted the proof.
    pub(crate) fn accepted(proof: P) -> Verified<P> {
        Verified(proof)
    }

    /// The proof.
    pub fn proof(&self) -> &P {
        &self.0
    }
}
