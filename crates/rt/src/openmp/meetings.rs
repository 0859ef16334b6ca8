//! Whether two iterations of a loop touch the same bytes, computed from where its accesses walk.
//!
//! The simple model: write down what each iteration touches, and compare each with each. Here it is one division for two accesses
//! that walk in step, as nearly all do, and one for each iteration otherwise.

/// Where one iteration after the other accesses something: so many bytes, and so many times the same a step further each.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    pub begin: usize,
    pub by: i64,
    pub size: i64,
    pub count: i64,
    pub step: i64,
}

/// See [`meet`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meeting {
    Never,
    /// The first access in this iteration meets the second in that one.
    Of(i64, i64),
    /// To find out would take too long.
    TooManyToSay,
}

/// What is computed at most.
const MOST: i128 = 1 << 22;

impl Walk {
    /// The bytes of all iterations are among these.
    fn hull(self, iterations: i64) -> (i128, i128) {
        let last = |by: i64, times: i64| i128::from(by) * i128::from(times - 1);
        let ends = [last(self.by, iterations), last(self.step, self.count)];
        let below: i128 = ends.iter().map(|end| (*end).min(0)).sum();
        let above: i128 = ends.iter().map(|end| (*end).max(0)).sum();
        let begin = self.begin as i128;
        (begin + below, begin + above + i128::from(self.size))
    }

    /// Where one of its pieces begins in the first iteration.
    fn piece(self, number: i64) -> i128 {
        self.begin as i128 + i128::from(self.step) * i128::from(number)
    }
}

/// Which iterations count as meeting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Apart {
    /// Any two.
    Any,
    /// The second access's has to come before the first's.
    Backwards,
}

/// Whether two different iterations, of so many, touch the same bytes by two accesses.
pub fn meet(one: Walk, other: Walk, iterations: i64, apart: Apart) -> Meeting {
    let touch_nothing = |walk: Walk| walk.size <= 0 || walk.count <= 0;
    if iterations < 2 || touch_nothing(one) || touch_nothing(other) {
        return Meeting::Never;
    }
    let (a, b) = (one.hull(iterations), other.hull(iterations));
    if a.1 <= b.0 || b.1 <= a.0 {
        return Meeting::Never;
    }
    let pieces = i128::from(one.count) * i128::from(other.count);
    let in_step = one.by == other.by;
    let rounds = if in_step { 1 } else { iterations };
    if pieces * i128::from(rounds) > MOST {
        return Meeting::TooManyToSay;
    }
    for piece in 0..one.count {
        for other_piece in 0..other.count {
            let distance = other.piece(other_piece) - one.piece(piece);
            let sizes = (one.size, other.size);
            let found = match in_step {
                true => in_step_at(distance, sizes, one.by, iterations, apart),
                false => (0..iterations).find_map(|first| {
                    let distance = distance - i128::from(one.by) * i128::from(first);
                    let end = match apart {
                        Apart::Any => iterations,
                        Apart::Backwards => first,
                    };
                    let second = meets(distance, sizes, other.by, end, first)?;
                    Some((first, second))
                }),
            };
            if let Some((first, second)) = found {
                return Meeting::Of(first, second);
            }
        }
    }
    Meeting::Never
}

/// Two accesses that go on by as much, of which the second begins at this distance from the first.
fn in_step_at(
    distance: i128,
    (size, other_size): (i64, i64),
    by: i64,
    iterations: i64,
    apart: Apart,
) -> Option<(i64, i64)> {
    // The second, so many iterations later (or earlier), is at this distance from the first.
    let later = iterations - 1;
    let last = match apart {
        Apart::Any => later,
        Apart::Backwards => -1,
    };
    let apart = overlapping(distance, (size, other_size), by, (-later, last))?;
    let pick = |(low, high)| if low != 0 { low } else { high };
    let apart: i64 = pick(apart);
    (apart != 0).then(|| ((-apart).max(0), apart.max(0)))
}

/// The iteration, but for `first`, in which the second access meets the first, from which it begins at this distance.
fn meets(distance: i128, sizes: (i64, i64), by: i64, iterations: i64, first: i64) -> Option<i64> {
    let (low, high) = overlapping(distance, sizes, by, (0, iterations - 1))?;
    [low, high].into_iter().find(|second| *second != first)
}

/// The first and last number within bounds for which `distance + number * by` is between `-other_size` and `size`.
fn overlapping(
    distance: i128,
    (size, other_size): (i64, i64),
    by: i64,
    (first, last): (i64, i64),
) -> Option<(i64, i64)> {
    let (size, other_size) = (i128::from(size), i128::from(other_size));
    let by = i128::from(by);
    // From the lowest to the highest place that will do.
    let (lowest, highest) = (1 - other_size - distance, size - 1 - distance);
    let (low, high) = match by.signum() {
        0 if lowest <= 0 && highest >= 0 => (first.into(), last.into()),
        0 => return None,
        1 => (div_up(lowest, by), highest.div_euclid(by)),
        _ => (div_up(-highest, -by), (-lowest).div_euclid(-by)),
    };
    let (low, high) = (low.max(first.into()), high.min(last.into()));
    (low <= high).then_some((low as i64, high as i64))
}

fn div_up(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touches(walk: Walk, iteration: i64, byte: i64) -> bool {
        (0..walk.count).any(|piece| {
            let begin = walk.begin as i64 + walk.by * iteration + walk.step * piece;
            (begin..begin + walk.size).contains(&byte)
        })
    }

    #[test]
    fn iterations_meet_where_they_touch_the_same_bytes() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut seen = [0; 3];
        for _ in 0..30_000 {
            let in_step = rng.i64(-9..9);
            let mut walk = || Walk {
                begin: 200 + rng.usize(..40),
                by: if rng.bool() { in_step } else { rng.i64(-9..9) },
                size: rng.i64(0..9),
                count: [1, 1, rng.i64(0..4)][rng.usize(..3)],
                step: rng.i64(-20..20),
            };
            let (one, other) = (walk(), walk());
            let iterations = rng.i64(0..8);
            let bytes = 0..500;
            let meets = |first, second| {
                (bytes.clone())
                    .any(|byte| touches(one, first, byte) && touches(other, second, byte))
            };
            let apart = [Apart::Any, Apart::Backwards][rng.usize(..2)];
            let counts = |first, second| match apart {
                Apart::Any => first != second,
                Apart::Backwards => second < first,
            };
            match meet(one, other, iterations, apart) {
                Meeting::Of(first, second) => {
                    let both = [first, second];
                    assert!(both.iter().all(|one| (0..iterations).contains(one)));
                    assert!(
                        counts(first, second) && meets(first, second),
                        "{one:?} {other:?}"
                    );
                    seen[0] += 1;
                }
                Meeting::Never => {
                    for first in 0..iterations {
                        for second in (0..iterations).filter(|second| counts(first, *second)) {
                            assert!(!meets(first, second), "{one:?} {other:?} {iterations}");
                        }
                    }
                    seen[1 + usize::from(iterations > 1)] += 1;
                }
                Meeting::TooManyToSay => panic!("{one:?} {other:?}"),
            }
        }
        assert!(seen.iter().all(|&times| times > 2000), "{seen:?}");
    }

    #[test]
    fn long_loops_take_no_time_in_step_and_are_given_up_otherwise() {
        let walk = |begin, by, count| Walk {
            begin,
            by,
            size: 8,
            count,
            step: 4096,
        };
        let long = 1 << 40;
        assert_eq!(
            meet(walk(1 << 41, 8, 1), walk(1 << 41, 8, 1), long, Apart::Any),
            Meeting::Never
        );
        assert_eq!(
            meet(
                walk(1 << 41, 8, 1),
                walk((1 << 41) + 8, 8, 1),
                long,
                Apart::Any
            ),
            Meeting::Of(1, 0)
        );
        assert_eq!(
            meet(walk(1 << 41, 8, 1), walk(1 << 41, 16, 1), long, Apart::Any),
            Meeting::TooManyToSay
        );
    }
}
