//! What an access costs SPD3 while threads become more. Not measured yet: that needs a replay in
//! parallel.

/// Prints the table.
pub fn print() {
    println!("\nspd3 on several threads: ns for each access");
    println!(
        "{:>12} {:>24} {:>24}",
        "threads", "own data", "shared, read"
    );
    println!("(to be filled in: 1, 2, 4, 8 threads)");
}
