//! Measures, and prints tables (`make bench`).

mod explore;
mod kernels;
mod recording;

fn main() {
    explore::print();
}
