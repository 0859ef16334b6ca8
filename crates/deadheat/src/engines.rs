//! The table of engines, for people to read.

use deadheat_offline::{ENGINES, Worth};

/// A line for each engine, for `--help`.
pub fn engine_help() -> String {
    let width = ENGINES.iter().map(|engine| engine.name.len()).max();
    let width = width.unwrap_or(0);
    let lines = ENGINES.iter().map(|engine| {
        let (name, summary) = (engine.name, engine.summary);
        format!("  {name:width$}  {summary}\n")
    });
    lines.collect()
}

/// The table of the docs: what each engine is, what it can order, what its races are worth, what it
/// costs.
pub fn engine_table() -> String {
    let mut table =
        "| engine | what it does | orders | its races | cost |\n|---|---|---|---|---|\n"
            .to_string();
    for engine in ENGINES {
        let orders = match engine.orders_everything() {
            true => "everything".to_string(),
            false => {
                let known = engine.orders.iter().map(|construct| construct.word());
                known.collect::<Vec<_>>().join(", ")
            }
        };
        let worth = match engine.worth {
            Worth::Exact => "exact for the order of the run",
            Worth::FirstIsReal => "the first can happen",
            Worth::FirstIsRealOrDeadlock => "the first can happen, or a deadlock",
            Worth::AllAreReal => "all can happen",
            Worth::AllAreShown => "each has a verified witness",
            Worth::AllAreDecided => {
                "each has a verified witness; what is not listed is no race or undecided"
            }
            Worth::Suspects(_) => "suspicions",
        };
        let (name, summary, cost) = (engine.name, engine.summary, engine.cost);
        table += &format!("| `{name}` | {summary} | {orders} | {worth} | {cost} |\n");
    }
    table
}
