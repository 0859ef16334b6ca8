//! Any bytes as a `.dht` file. Checksums keep a fuzzer out, so they are made right first: what stands
//! where blocks would be is walked, and each gets its own.
#![no_main]

use std::ops::ControlFlow;

use deadheat_trace::dht::Reader;

const FILE_HEADER: usize = 16;
const HEAD: usize = 40;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    read(&bytes);
    seal(&mut bytes);
    read(&bytes);
});

fn read(bytes: &[u8]) {
    if let Ok(reader) = Reader::from_bytes(bytes.to_vec()) {
        let _ = reader.for_each(|_| ControlFlow::<()>::Continue(()));
    }
}

fn seal(bytes: &mut [u8]) {
    let mut at = FILE_HEADER;
    while let Some(head) = bytes.get(at..at + HEAD) {
        let length = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
        let Some(block) = bytes.get_mut(at..at + HEAD + length) else {
            return;
        };
        let checksum = crc32fast::hash(&block[4..]);
        block[..4].copy_from_slice(&checksum.to_le_bytes());
        at += HEAD + length;
    }
}
