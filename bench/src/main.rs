//! Measures, and prints tables (`make bench`).

mod explore;

fn main() {
    explore::print();
}
