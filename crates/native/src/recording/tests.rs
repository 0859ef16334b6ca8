use super::*;
use deadheat_tape::packing::Packing;
use deadheat_tape::{ALIGNMENT, Code, FIRST_SITE, PACKED, PLAIN, Unstamped, head};

/// A tape with a chunk of these records for each thread, packed or not.
fn tape(threads: &[Vec<u64>], sites: &[u64], packed: bool) -> Vec<u8> {
    let bytes =
        |words: &[u64]| -> Vec<u8> { words.iter().flat_map(|word| word.to_ne_bytes()).collect() };
    let mut table = vec![0; deadheat_tape::SITES];
    let first = FIRST_SITE as usize;
    table[first..first + sites.len()].copy_from_slice(sites);
    let mut tape = bytes(&table);
    for (thread, records) in threads.iter().enumerate() {
        let mut content = bytes(records);
        if packed {
            content = vec![0; records.len() * 9 + 20];
            let length = Packing::new().pack(records, &mut content).unwrap();
            content.truncate(length);
        }
        content.resize((32 + content.len() + 8).next_multiple_of(ALIGNMENT) - 32, 0);
        let magic = if packed { PACKED } else { PLAIN };
        let length = 32 + content.len() as u64;
        tape.extend(bytes(&[magic, length, thread as u64, 0]));
        tape.extend(content);
    }
    tape
}

fn traced(bytes: &[u8]) -> Result<String, RecordingError> {
    let directory = tempfile::tempdir().unwrap();
    let (tape, trace) = (
        directory.path().join("tape"),
        directory.path().join("t.dht"),
    );
    let (table, chunks) = bytes.split_at(deadheat_tape::SITES * 8);
    std::fs::write(&tape, chunks).unwrap();
    let mailbox = Mailbox::create(None).unwrap();
    mailbox.put_table(7, table);
    let mut process = Process::default();
    process.stream = 7;
    write_trace((&tape, &mailbox), &process, &trace, |_| ())?.unwrap();
    let execution = deadheat_trace::open(&trace)?.read_all()?;
    Ok(execution.to_string())
}

/// Pieces that are gone hide what orders what is left.
#[test]
fn a_tape_that_was_cut_is_an_error() {
    let threads = [
        vec![head(FIRST_SITE, 0x1000)],
        vec![head(FIRST_SITE, 0x1000)],
    ];
    let mut bytes = tape(&threads, &[0], false);
    for (chunks, error) in [(2_u64, None), (3, Some("1 of its pieces are gone"))] {
        bytes[deadheat_tape::CHUNKS * 8..][..8].copy_from_slice(&chunks.to_ne_bytes());
        let told = traced(&bytes).err().map(|error| error.to_string());
        assert_eq!(told.is_some(), error.is_some(), "{told:?}");
        assert!(told.unwrap_or_default().contains(error.unwrap_or("")));
    }
}

fn stamped(record: Stamped, payload: u64, detail: impl Into<u64>, stamp: u64) -> [u64; 4] {
    let detail = detail.into();
    let code = Code { pc: 0, detail };
    [head(record.into(), payload), code.word(), stamp, stamp]
}

#[test]
fn stamps_order_what_threads_do_whatever_the_clocks_say() {
    let write = head(FIRST_SITE, 0x1000);
    let alone = LockDetail::of_threads(true);
    let mut first = Vec::new();
    first.extend(stamped(Stamped::Begin, 0, 0u64, 1));
    first.extend(stamped(Stamped::Create, 1, 0u64, 2));
    first.extend(stamped(Stamped::Lock, 0x2000, alone, 6));
    first.push(write);
    first.extend(stamped(Stamped::Unlock, 0x2000, alone, 7));
    let mut second = Vec::new();
    second.extend(stamped(Stamped::Begin, 1, 0u64, 3));
    second.extend(stamped(Stamped::Lock, 0x2000, alone, 4));
    // The clock of this processor is far ahead.
    second.push(head(Unstamped::Time.into(), 0xffff_ffff));
    second.push(write);
    second.extend(stamped(Stamped::Unlock, 0x2000, alone, 5));
    let site = AccessSite {
        pc: 0x77,
        size: 4,
        write: true,
        of_lock: false,
    };
    let threads = [first, second];
    let text = traced(&tape(&threads, &[site.word()], false)).unwrap();
    assert_eq!(traced(&tape(&threads, &[site.word()], true)).unwrap(), text);
    let actions: Vec<&str> = text
        .lines()
        .map(|line| line.rsplit_once('|').unwrap().0)
        .collect();
    let expected = [
        "main|fork(T1)",
        "T1|acq(memory at 0x2000)",
        "T1|w(memory at 0x1000)",
        "T1|rel(memory at 0x2000)",
        "main|acq(memory at 0x2000)",
        "main|w(memory at 0x1000)",
        "main|rel(memory at 0x2000)",
    ];
    assert_eq!(actions, expected);
}

/// Whatever a damaged tape says, there is a trace or an error.
#[test]
fn no_tape_makes_it_panic() {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut traces = 0;
    for _ in 0..2000 {
        let threads: Vec<Vec<u64>> = (0..rng.usize(1..4))
            .map(|_| {
                let word = |rng: &mut fastrand::Rng| match rng.u32(..4) {
                    0 => rng.u64(..),
                    1 => rng.u64(..64),
                    _ => head(rng.u64(1..FIRST_SITE + 8), rng.u64(..8) << 3),
                };
                (0..rng.usize(..60)).map(|_| word(&mut rng)).collect()
            })
            .collect();
        let sites: Vec<u64> = (0..8).map(|_| rng.u64(..)).collect();
        let mut bytes = tape(&threads, &sites, rng.bool());
        if rng.bool() {
            bytes.truncate(rng.usize((1 << 19)..bytes.len()));
        }
        traces += usize::from(traced(&bytes).is_ok());
    }
    assert!(traces > 1000, "{traces}");
}
