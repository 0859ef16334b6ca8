//! The programs of zipper's Table 3, by what their names and the paper say of them.
//!
//! They are small: an array, and a task for each element or for each few of them. At their own size,
//! each has a computation graph of as many nodes as the paper gives, by this repository's way of
//! counting: `finish` with n tasks in it that do nothing but touch memory is 2n + 1 nodes.

use deadheat_lang::Program;

/// A row of the table: what the paper says, and the program.
pub struct Row {
    pub name: &'static str,
    pub nodes: usize,
    pub isolated: bool,
    pub races: bool,
    /// The paper's time of Zipper, in times of CG.
    pub ratio: f64,
    /// With which the program has that many nodes.
    pub size: usize,
    source: fn(usize) -> String,
}

impl Row {
    /// The program for a size. Nodes grow with it.
    pub fn program(&self, size: usize) -> Program {
        Program::parse(&(self.source)(size)).expect("a program")
    }
}

/// What is shared, and a procedure `run`, which is called with the size.
fn source(size: usize, shared: &str, run: &str) -> String {
    format!("{shared}\nproc main() {{ call run({size}); }}\n{run}")
}

/// Elements that a task works on where it has several.
const CHUNK: usize = 10;

/// Counts `i` if it is a prime: a section for each prime, nothing for other numbers.
const COUNT_PRIME: &str = "
proc count(i) {
  for d in 2..i + 1 {
    if d * d > i {
      isolated { primes = primes + 1; }
      return;
    }
    if i % d == 0 { return; }
  }
}";

/// The table, in the order of the paper.
pub const ROWS: [Row; 27] = [
    Row {
        name: "ClumpedAcess",
        nodes: 11,
        isolated: true,
        races: false,
        ratio: 3.5,
        size: 5,
        source: |n| {
            let run = "
proc run(n) {
  finish {
    for i in 0..n {
      async { isolated { x = x + i; y = y + x; z = z + y; } }
    }
  }
  assert x == n * (n - 1) / 2;
}";
            source(n, "shared x; shared y; shared z;", run)
        },
    },
    Row {
        name: "PrimitiveArrayNoRace",
        nodes: 11,
        isolated: false,
        races: false,
        ratio: 12.0,
        size: 5,
        source: |n| {
            let run = "
proc run(n) {
  finish {
    for i in 0..n { async { a[i] = i; } }
  }
}";
            source(n, &format!("shared a[{n}];"), run)
        },
    },
    Row {
        name: "PrimitiveArrayRace",
        nodes: 11,
        isolated: false,
        races: true,
        ratio: 8.0,
        size: 5,
        source: |n| {
            let run = "
proc run(n) {
  finish {
    for i in 0..n { async { a[i / 2] = i; } }
  }
}";
            source(n, &format!("shared a[{n}];"), run)
        },
    },
    Row {
        name: "SimpleSimple",
        nodes: 11,
        isolated: false,
        races: true,
        ratio: 14.0,
        size: 5,
        source: |n| {
            let run = "
proc run(n) {
  finish {
    for i in 0..n { async { x = x + 1; } }
  }
}";
            source(n, "shared x;", run)
        },
    },
    Row {
        name: "SimpleSimpleSimple2",
        nodes: 11,
        isolated: false,
        races: true,
        ratio: 7.0,
        size: 5,
        source: |n| {
            // Who starts the tasks reads what they write.
            let run = "
proc run(n) {
  for i in 0..n {
    async { x = i; }
    let seen = x;
  }
}";
            source(n, "shared x;", run)
        },
    },
    Row {
        name: "VectorAdd",
        nodes: 11,
        isolated: false,
        races: false,
        ratio: 3.6,
        size: 5,
        source: |n| {
            let m = CHUNK;
            let run = format!(
                "
proc run(n) {{
  finish {{
    for i in 0..n {{
      async {{
        for j in i * {m}..(i + 1) * {m} {{ c[j] = a[j] + b[j]; }}
      }}
    }}
  }}
}}"
            );
            let l = n * m;
            let shared = format!("shared a[{l}] = 1; shared b[{l}] = 2; shared c[{l}];");
            source(n, &shared, &run)
        },
    },
    Row {
        name: "DataRaceIsolateSimple",
        nodes: 13,
        isolated: true,
        races: true,
        ratio: 1.7,
        size: 4,
        source: |n| {
            // The read is outside.
            let run = "
proc run(n) {
  finish {
    for i in 0..n {
      async { isolated { x = x + 1; } seen[i] = x; }
    }
  }
}";
            source(n, &format!("shared x; shared seen[{n}];"), run)
        },
    },
    Row {
        name: "DoubleBranchExample",
        nodes: 13,
        isolated: true,
        races: false,
        ratio: 7.0,
        size: 1,
        source: |n| {
            let run = "
proc run(n) {
  for i in 0..n {
    finish {
      async branch(1);
      async branch(2);
    }
  }
}
proc branch(i) {
  async { isolated { x = x + i; } }
  async { isolated { y = y + i; } }
  isolated { x = x + y; }
}";
            source(n, "shared x; shared y;", run)
        },
    },
    Row {
        name: "DataRaceIsolateSimple1",
        nodes: 15,
        isolated: true,
        races: true,
        ratio: 4.4,
        size: 1,
        source: |n| {
            // One of seven forgets to be isolated.
            let run = "
proc run(n) {
  finish {
    for i in 0..n {
      for j in 0..6 {
        async { isolated { x = x + 1; } }
      }
      async { x = 0; }
    }
  }
}";
            source(n, "shared x;", run)
        },
    },
    Row {
        name: "ForallWithIterable",
        nodes: 17,
        isolated: false,
        races: false,
        ratio: 2.75,
        size: 8,
        source: |n| {
            let run = "
proc run(n) {
  for i in 0..n { items[i] = n - 1 - i; }
  finish {
    for i in 0..n {
      let item = items[i];
      async { squares[item] = item * item; }
    }
  }
}";
            source(n, &format!("shared items[{n}]; shared squares[{n}];"), run)
        },
    },
    Row {
        name: "IsolatedBlockNo",
        nodes: 19,
        isolated: true,
        races: false,
        ratio: 0.2222,
        size: 6,
        source: |n| {
            let run = "
proc run(n) {
  finish {
    for i in 0..n {
      async {
        a[i] = i * i;
        isolated { sum = sum + a[i]; }
      }
    }
  }
}";
            source(n, &format!("shared a[{n}]; shared sum;"), run)
        },
    },
    Row {
        name: "Add",
        nodes: 23,
        isolated: false,
        races: false,
        ratio: 1.5555,
        size: 11,
        source: |n| {
            let run = "
proc run(n) {
  for i in 0..n { a[i] = i; b[i] = n - i; }
  finish {
    for i in 0..n { async { c[i] = a[i] + b[i]; } }
  }
  for i in 0..n { assert c[i] == n; }
}";
            let shared = format!("shared a[{n}]; shared b[{n}]; shared c[{n}];");
            source(n, &shared, run)
        },
    },
    Row {
        name: "PrimeNumCounter",
        nodes: 23,
        isolated: true,
        races: false,
        ratio: 0.6470,
        size: 16,
        source: |n| {
            let run = "
proc run(n) {
  finish {
    for i in 1..n + 1 { async count(i); }
  }
}";
            source(n, "shared primes;", &(run.to_string() + COUNT_PRIME))
        },
    },
    Row {
        name: "PrimeNumCounterForAll",
        nodes: 27,
        isolated: true,
        races: false,
        ratio: 1.1282,
        size: 11,
        source: |n| {
            // Over what an array holds.
            let run = "
proc run(n) {
  for i in 0..n { numbers[i] = i; }
  finish {
    for i in 0..n {
      async { let number = numbers[i]; call count(number); }
    }
  }
}";
            let shared = format!("shared numbers[{n}]; shared primes;");
            source(n, &shared, &(run.to_string() + COUNT_PRIME))
        },
    },
    Row {
        name: "ScalarMultiply",
        nodes: 27,
        isolated: false,
        races: false,
        ratio: 1.108,
        size: 13,
        source: |n| {
            let run = "
proc run(n) {
  finish {
    for i in 0..n { async { a[i] = factor * a[i]; } }
  }
}";
            source(n, &format!("shared factor = 3; shared a[{n}] = 1;"), run)
        },
    },
    Row {
        name: "TwoDimArrays",
        nodes: 27,
        isolated: false,
        races: false,
        ratio: 1.8181,
        size: 2,
        source: |n| {
            // A task for each row, and in it one for each element.
            let run = "
proc run(n) {
  finish {
    for i in 0..n {
      async {
        for j in 0..6 { async { a[i * 6 + j] = i + j; } }
      }
    }
  }
}";
            source(n, &format!("shared a[{}];", n * 6), run)
        },
    },
    Row {
        name: "ReciprocalArraySumFutures",
        nodes: 37,
        isolated: false,
        races: false,
        ratio: 2.25,
        size: 13,
        source: |n| {
            // Divide and conquer: the left half in a future.
            let run = "
proc run(n) { call sum(0, n); }
proc sum(begin, end) {
  if end - begin == 1 {
    sums[begin] = 1000000 / a[begin];
    return;
  }
  let middle = (begin + end) / 2;
  let left = future { call sum(begin, middle); };
  call sum(middle, end);
  left.get;
  sums[begin] = sums[begin] + sums[middle];
}";
            source(n, &format!("shared a[{n}] = 7; shared sums[{n}];"), run)
        },
    },
    Row {
        name: "IntegerCounterIsolated",
        nodes: 43,
        isolated: true,
        races: false,
        ratio: 0.9005,
        size: 21,
        source: |n| {
            let run = "
proc run(n) {
  finish {
    for i in 0..n { async { isolated { counter = counter + 1; } } }
  }
  assert counter == n;
}";
            source(n, "shared counter;", run)
        },
    },
    Row {
        name: "PrimeNumCounterForAsync",
        nodes: 43,
        isolated: true,
        races: false,
        ratio: 0.7463,
        size: 20,
        source: |n| {
            // Four numbers a task.
            let run = "
proc run(n) {
  finish {
    for i in 0..n {
      async {
        for number in i * 4 + 1..i * 4 + 5 { call count(number); }
      }
    }
  }
}";
            source(n, "shared primes;", &(run.to_string() + COUNT_PRIME))
        },
    },
    Row {
        name: "Antidep1VarYes",
        nodes: 45,
        isolated: false,
        races: true,
        ratio: 0.0424,
        size: 22,
        source: |n| {
            // How long the array is stands in a variable.
            let run = "
proc run(n) {
  length = n + 1;
  for i in 0..length { a[i] = i; }
  finish {
    for i in 0..length - 1 { async { a[i] = a[i + 1] + 1; } }
  }
}";
            source(n, &format!("shared length; shared a[{}];", n + 1), run)
        },
    },
    Row {
        name: "Antidep2OrigYes",
        nodes: 45,
        isolated: false,
        races: true,
        ratio: 0.0470,
        size: 22,
        source: antidep2,
    },
    Row {
        name: "ReciprocalArraySum",
        nodes: 53,
        isolated: false,
        races: false,
        ratio: 0.0283,
        size: 26,
        source: |n| {
            let m = CHUNK;
            let run = format!(
                "
proc run(n) {{
  finish {{
    for i in 0..n {{
      async {{
        for j in i * {m}..(i + 1) * {m} {{ sums[i] = sums[i] + 1000000 / a[j]; }}
      }}
    }}
  }}
  for i in 0..n {{ sum = sum + sums[i]; }}
}}"
            );
            let shared = format!("shared a[{}] = 7; shared sums[{n}]; shared sum;", n * m);
            source(n, &shared, &run)
        },
    },
    Row {
        name: "PipelineWithFutures",
        nodes: 62,
        isolated: false,
        races: false,
        ratio: 0.8688,
        size: 9,
        source: |n| {
            // Items pass three stages. The second one takes them in order, as it adds them up.
            let run = "
proc run(n) {
  for i in 0..n {
    let reading = future { items[i] = i; };
    let adding = future {
      reading.get;
      if i > 0 { let before = addings[i - 1]; before.get; }
      sum = sum + items[i];
      sums[i] = sum;
    };
    addings[i] = adding;
    let writing = future { adding.get; averages[i] = sums[i] / (i + 1); };
  }
}";
            let shared = format!(
                "shared addings[{n}]; shared items[{n}]; shared sums[{n}]; shared averages[{n}];
shared sum;"
            );
            source(n, &shared, run)
        },
    },
    Row {
        name: "DoAll1OrigNo",
        nodes: 207,
        isolated: false,
        races: false,
        ratio: 0.5723,
        size: 103,
        source: |n| {
            let run = "
proc run(n) {
  finish {
    for i in 0..n { async { a[i] = a[i] + 1; } }
  }
}";
            source(n, &format!("shared a[{n}];"), run)
        },
    },
    Row {
        name: "DoAll2OrigNo",
        nodes: 207,
        isolated: false,
        races: false,
        ratio: 1.0475,
        size: 103,
        source: |n| {
            // In two dimensions: very many accesses for so many nodes.
            let run = "
proc run(n) {
  finish {
    for i in 0..n {
      async {
        for j in 0..100 { a[i * 100 + j] = a[i * 100 + j] + 1; }
      }
    }
  }
}";
            source(n, &format!("shared a[{}];", n * 100), run)
        },
    },
    Row {
        name: "Antidep1OrigYes",
        nodes: 2005,
        isolated: false,
        races: true,
        ratio: 0.2349,
        size: 1002,
        source: |n| {
            let run = "
proc run(n) {
  for i in 0..n + 1 { a[i] = i; }
  finish {
    for i in 0..n { async { a[i] = a[i + 1] + 1; } }
  }
}";
            source(n, &format!("shared a[{}];", n + 1), run)
        },
    },
    Row {
        name: "Antidep2VarYes",
        nodes: 2005,
        isolated: false,
        races: true,
        ratio: 0.0284,
        size: 1002,
        source: antidep2,
    },
];

/// In two dimensions, a task for each row.
fn antidep2(n: usize) -> String {
    let m = CHUNK;
    let run = format!(
        "
proc run(n) {{
  for i in 0..(n + 1) * {m} {{ a[i] = i; }}
  finish {{
    for i in 0..n {{
      async {{
        for j in 0..{m} {{ a[i * {m} + j] = a[(i + 1) * {m} + j] + 1; }}
      }}
    }}
  }}
}}"
    );
    source(n, &format!("shared a[{}];", (n + 1) * m), &run)
}

#[cfg(test)]
mod tests {
    use deadheat_explore::{ExploreOptions, explore};
    use deadheat_lang::{Ending, Schedule};
    use deadheat_offline::{ComputationGraph, graph, zipper};
    use deadheat_testing::direct_graph;

    use super::ROWS;

    #[test]
    fn programs_are_as_the_paper_says() {
        for row in &ROWS {
            let run = row
                .program(row.size)
                .run(&Schedule::DepthFirst, u64::MAX)
                .unwrap();
            assert_eq!(run.ending, Ending::Finished, "{}", row.name);
            let graph = ComputationGraph::new(&run.execution, usize::MAX, |_| true);
            assert_eq!(graph.len(), row.nodes, "{}", row.name);
            assert_eq!(graph.sections().len() > 0, row.isolated, "{}", row.name);
            let races = graph::check(&run.execution).races;
            assert_eq!(!races.is_empty(), row.races, "{}", row.name);
            let racy = races.iter().map(|race| race.location).collect();
            assert_eq!(direct_graph::racy_locations(&run.execution), racy);
            assert_eq!(zipper::racy_locations(&run.execution).unwrap(), racy);
        }
    }

    /// What has no sections has one graph. The others with three tasks or so, as sections have very
    /// many orders.
    #[test]
    fn every_order_of_sections_is_as_the_paper_says() {
        for row in ROWS.iter().filter(|row| row.isolated) {
            let program = row.program(row.size.min(3));
            let exploration = explore(&program, &ExploreOptions::default(), |_| {});
            assert!(exploration.is_complete(), "{}", row.name);
            assert!(exploration.deadlock.is_none() && exploration.errors.is_empty());
            assert_eq!(!exploration.races.is_empty(), row.races, "{}", row.name);
        }
    }
}
