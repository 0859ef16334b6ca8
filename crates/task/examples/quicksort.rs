//! A parallel quicksort: the two sides of the pivot are two tasks.

use deadheat_task::{Check, Options, SharedSlice, join};

/// Sorts `start..end`. With an `overlap` of 1, both sides have the pivot, which is in its place already.
fn quicksort(numbers: &SharedSlice<u32>, start: usize, end: usize, overlap: usize) {
    if end - start < 2 + overlap {
        return;
    }
    let pivot = {
        let mut part = numbers.write(start..end);
        let last = part.len() - 1;
        let mut small = 0;
        for i in 0..last {
            if part[i] < part[last] {
                part.swap(i, small);
                small += 1;
            }
        }
        part.swap(small, last);
        start + small
    };
    join(
        || quicksort(numbers, start, pivot + overlap, 0),
        || quicksort(numbers, pivot + 1 - overlap, end, 0),
    );
}

fn sort(overlap: usize) -> Vec<u32> {
    let numbers: Vec<u32> = (0..64).map(|i| i * 37 % 64).collect();
    let numbers = SharedSlice::named("numbers", numbers);
    quicksort(&numbers, 0, numbers.len(), overlap);
    numbers.into_vec()
}

fn main() {
    for overlap in [1, 0] {
        let options = Options::new().workers(1).check(Check::Spd3);
        let outcome = options.run(|| sort(overlap));
        print!("{}", outcome.report);
    }
}
