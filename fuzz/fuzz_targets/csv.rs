//! Any bytes as RAPID's CSV.
#![no_main]

use deadheat_trace::text::TextFormat;

libfuzzer_sys::fuzz_target!(|text: &[u8]| deadheat_fuzz::read_text_twice(TextFormat::Csv, text));
