//! The task library: what checking costs, what the scheduler costs, and shapes that hurt.

mod kernels;
mod measure;
mod rayon;
mod shapes;

pub use measure::{OneTask, one_task};

use std::error::Error;

use deadheat_task::Check;

use kernels::{FINE, KERNELS, Kernel};
use measure::Measurement;

/// How many workers there are in the tables.
const WORKERS: usize = 2;

/// The names of the tables.
pub const TABLES: [&str; 3] = ["task-kernels", "task-scheduler", "task-shapes"];

/// Prints a table.
pub fn print(table: &str) -> Result<(), Box<dyn Error>> {
    match table {
        "task-kernels" => kernel_table(),
        "task-scheduler" => {
            rayon::print();
            Ok(())
        }
        _ => shape_table(),
    }
}

/// Geometric mean.
fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

fn kernel_table() -> Result<(), Box<dyn Error>> {
    println!(
        "kernels of tasks, medium size, {WORKERS} workers: best of three runs; memory is the process's peak. \
         \"paper\" is the paper's own ratio"
    );
    println!(
        "{:18} {:6} {:>8} {:>8} {:>6} {:>6} {:>8} {:>8} {:>6} {:>6}  verdict",
        "kernel", "engine", "off s", "on s", "ratio", "paper", "off MB", "on MB", "ratio", "paper"
    );
    for check in [Check::Spd3, Check::Drdp] {
        let (mut times, mut memories, mut papers) = (Vec::new(), Vec::new(), Vec::new());
        for kernel in KERNELS.iter().filter(|kernel| kernel.check == check) {
            let (time, memory) = kernel_row(kernel, false)?;
            times.push(time);
            memories.push(memory);
            papers.extend(kernel.slowdown);
        }
        println!(
            "{:18} {:6} {:17} {:6.2} {:6.2} {:17} {:6.2}",
            "geometric mean",
            check.name(),
            "",
            mean(&times),
            mean(&papers),
            "",
            mean(&memories)
        );
    }
    println!("(spd3-pldi12 gives 2.78 as the mean of all its fifteen on 16 threads)");
    println!("with a task for each particle, village or square, as the papers' programs have it:");
    for kernel in KERNELS.iter().filter(|kernel| FINE.contains(&kernel.name)) {
        kernel_row(kernel, true)?;
    }
    Ok(())
}

/// Measures a kernel, prints its row, and gives the ratios of time and of memory.
fn kernel_row(kernel: &Kernel, fine: bool) -> Result<(f64, f64), Box<dyn Error>> {
    let measure = |check| Measurement::best_of(3, kernel.name, fine, WORKERS, check);
    let (off, on) = (measure(Check::Off)?, measure(kernel.check)?);
    let (time, memory) = (on.seconds / off.seconds, on.megabytes / off.megabytes);
    let paper = |ratio: Option<f64>| ratio.map_or("-".to_string(), |r| format!("{r:.2}"));
    println!(
        "{:18} {:6} {:8.3} {:8.3} {:6.2} {:>6} {:8.1} {:8.1} {:6.2} {:>6}  {}",
        kernel.name,
        kernel.check.name(),
        off.seconds,
        on.seconds,
        time,
        paper(kernel.slowdown),
        off.megabytes,
        on.megabytes,
        memory,
        paper(kernel.memory),
        on.verdict
    );
    Ok((time, memory))
}

fn shape_table() -> Result<(), Box<dyn Error>> {
    println!("shapes that hurt, {WORKERS} workers and 1: seconds and peak megabytes");
    println!(
        "{:28} {:6} {:>8} {:>8} {:>8} {:>8}",
        "shape", "engine", "2: s", "2: MB", "1: s", "1: MB"
    );
    for shape in shapes::SHAPES {
        for &check in shape.checks {
            let [two, one] = [WORKERS, 1]
                .map(|workers| Measurement::best_of(1, shape.name, false, workers, check));
            let (two, one) = (two?, one?);
            println!(
                "{:28} {:6} {:8.3} {:8.1} {:8.3} {:8.1}",
                shape.name,
                check.name(),
                two.seconds,
                two.megabytes,
                one.seconds,
                one.megabytes
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use deadheat_task::Options;

    use super::kernels::{FINE, Job, KERNELS, Kernel, Size};
    use super::shapes::SHAPES;

    /// Every kernel with each grain it has.
    fn kernels() -> impl Iterator<Item = (&'static Kernel, bool)> {
        KERNELS.iter().flat_map(|kernel| {
            let fine = FINE.contains(&kernel.name).then_some(true);
            [Some(false), fine]
                .into_iter()
                .flatten()
                .map(move |fine| (kernel, fine))
        })
    }

    /// Whether a place like `bench/src/x.rs:3:5` is in a line that says it is seeded.
    fn is_seeded(place: &str) -> bool {
        let mut parts = place.split(':');
        let (Some(file), Some(line)) = (parts.next(), parts.next()) else {
            return false;
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        let line: usize = line.parse().unwrap();
        text.lines().nth(line - 1).unwrap().contains("seeded race")
    }

    #[test]
    fn every_clean_kernel_is_right_and_deterministic() {
        for (kernel, fine) in kernels() {
            for workers in [1, 2] {
                let job = Job {
                    size: Size::Small,
                    fine,
                    racy: false,
                };
                let options = Options::new().workers(workers).check(kernel.check);
                let outcome = options.run(|| (kernel.run)(&job));
                let done = outcome.result.unwrap();
                assert!(
                    done.right,
                    "{} with {workers} workers is wrong",
                    kernel.name
                );
                assert!(
                    outcome.report.deterministic,
                    "{}: {}",
                    kernel.name, outcome.report
                );
            }
        }
    }

    #[test]
    fn every_racy_kernel_is_reported_at_the_seeded_line() {
        for (kernel, fine) in kernels() {
            let job = Job {
                size: Size::Small,
                fine,
                racy: true,
            };
            let options = Options::new().workers(1).check(kernel.check);
            let outcome = options.run(|| (kernel.run)(&job));
            assert!(
                outcome.result.is_ok(),
                "{}: {:?}",
                kernel.name,
                outcome.result
            );
            let report = &outcome.report;
            assert!(!report.deterministic, "{}", kernel.name);
            let ends = |race: &deadheat_task::RaceReport| {
                [&race.first, &race.second]
                    .iter()
                    .any(|access| is_seeded(&access.loc))
            };
            assert!(report.races.iter().any(ends), "{}: {report}", kernel.name);
            // With two workers it may be refused instead, but never goes unnoticed.
            let options = Options::new().workers(2).check(kernel.check);
            let outcome = options.run(|| (kernel.run)(&job));
            assert!(!outcome.report.deterministic, "{}", kernel.name);
        }
    }

    #[test]
    fn the_shapes_do_what_they_say() {
        for shape in SHAPES {
            for &check in shape.checks {
                for workers in [1, 2] {
                    let options = Options::new().workers(workers).check(check);
                    let outcome = options.run(|| (shape.run)(1000));
                    let done = outcome.result.unwrap();
                    assert!(done.right, "{} with {check:?}", shape.name);
                    assert!(outcome.report.races.is_empty(), "{}", outcome.report);
                }
            }
        }
    }
}
