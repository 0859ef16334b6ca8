//! Programs of tasks to measure, written from their definitions: those that spd3-pldi12 and drdp-ecoop23 measure.
//!
//! Each computes something whose result it checks afterwards, in three sizes. Each has a seeded race as well, in a line that
//! says so.

pub mod grids;
pub mod loops;
pub mod molecules;
pub mod numbers;
pub mod pictures;
pub mod promises;
pub mod recursion;

use std::time::Instant;

use deadheat_task::Check;

/// How large.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Size {
    /// Some milliseconds: for tests.
    Small,
    /// Some tenths of a second.
    Medium,
    /// As in the paper.
    Paper,
}

/// What is asked of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// How large.
    pub size: Size,
    /// With a task for each smallest piece: for the kernels in [`FINE`].
    pub fine: bool,
    /// With the seeded race.
    pub racy: bool,
}

impl Job {
    /// The number for a size.
    pub fn pick<T>(&self, small: T, medium: T, paper: T) -> T {
        match self.size {
            Size::Small => small,
            Size::Medium => medium,
            Size::Paper => paper,
        }
    }
}

/// What a kernel did.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// How long the parallel part took.
    pub seconds: f64,
    /// Whether the result is right.
    pub right: bool,
}

/// Takes the time of the parallel part, and checks what it gives.
pub fn timed<R>(work: impl FnOnce() -> R, right: impl FnOnce(R) -> bool) -> Done {
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f64();
    Done {
        seconds,
        right: right(result),
    }
}

/// A kernel, and what its paper says about it.
pub struct Kernel {
    /// What it is called.
    pub name: &'static str,
    /// The engine it is checked by.
    pub check: Check,
    /// Runs it, as the first task.
    pub run: fn(&Job) -> Done,
    /// The paper's slowdown, where it gives a number.
    pub slowdown: Option<f64>,
    /// The paper's ratio of memory, where it gives a number.
    pub memory: Option<f64>,
}

const fn spd3(name: &'static str, run: fn(&Job) -> Done, slowdown: Option<f64>) -> Kernel {
    Kernel {
        name,
        check: Check::Spd3,
        run,
        slowdown,
        memory: None,
    }
}

const fn drdp(
    name: &'static str,
    run: fn(&Job) -> Done,
    time: [f64; 2],
    memory: [f64; 2],
) -> Kernel {
    Kernel {
        name,
        check: Check::Drdp,
        run,
        slowdown: Some(time[1] / time[0]),
        memory: Some(memory[1] / memory[0]),
    }
}

/// Every kernel. SPD3's slowdowns are those of its Table 2 (16 threads, chunked loops); its Figure 3 has no numbers for the others
/// but the mean of all, 2.78. DRDP's are those of its Table 2.
pub const KERNELS: &[Kernel] = &[
    spd3("series", numbers::series, Some(1.00)),
    spd3("lufact", grids::lufact, Some(1.08)),
    spd3("sor", grids::sor, Some(4.53)),
    spd3("crypt", loops::crypt, Some(1.84)),
    spd3("sparse", loops::sparse, Some(1.72)),
    spd3("moldyn", molecules::moldyn, Some(13.56)),
    spd3("montecarlo", numbers::montecarlo, Some(1.86)),
    spd3("raytracer", pictures::raytracer, Some(5.84)),
    spd3("fft", recursion::fft, None),
    spd3("health", recursion::health, None),
    spd3("nqueens", recursion::nqueens, None),
    spd3("strassen", grids::strassen, None),
    spd3("fannkuch", numbers::fannkuch, None),
    spd3("mandelbrot", pictures::mandelbrot, None),
    spd3("matmul", grids::matmul, None),
    drdp(
        "health-drdp",
        recursion::health,
        [1.51, 31.99],
        [0.45, 11.64],
    ),
    drdp("knapsack", recursion::knapsack, [1.61, 8.00], [0.38, 4.40]),
    drdp(
        "matmul-futures",
        promises::matmul,
        [2.52, 51.84],
        [0.06, 13.44],
    ),
    drdp("sort", recursion::sort, [0.99, 40.95], [0.18, 4.91]),
    drdp(
        "strassen-promises",
        promises::strassen,
        [1.37, 39.97],
        [0.20, 26.12],
    ),
    drdp("sparselu", promises::sparselu, [2.46, 69.01], [0.04, 16.70]),
    drdp("poisson", promises::poisson, [1.56, 71.92], [0.80, 20.09]),
];

/// The kernels that have a coarser grain than the papers' programs, and a finer one on demand: that of the papers.
pub const FINE: [&str; 3] = ["moldyn", "health", "nqueens"];

/// A number in 0..1 that follows from another one.
pub fn chance(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*seed ^ *seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// So many numbers in -1..1.
pub fn random(length: usize, mut seed: u64) -> Vec<f64> {
    (0..length).map(|_| 2.0 * chance(&mut seed) - 1.0).collect()
}

/// Whether two numbers are equal but for rounding.
pub fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs() + b.abs())
}
