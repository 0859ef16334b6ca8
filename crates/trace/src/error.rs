//! What can be wrong with a trace, and where.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use deadheat_model::words::{Table, WORDS};

/// The longest name, in bytes.
pub const MAX_NAME: usize = 64 << 10;

/// Why a trace could not be read or written.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be opened or created.
    #[error("cannot {doing} `{}`: {error}", path.display())]
    File {
        /// `read` or `write`.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Reading or writing failed on the way.
    #[error("input or output failed: {0}")]
    Io(#[from] io::Error),
    /// Neither the name nor the content says what the file is.
    #[error(
        "`{}` is not a trace that is known: its name should end in .dht (deadheat's own format), .std \
         or .csv (RAPID's)", path.display()
    )]
    UnknownFormat {
        /// Which file.
        path: PathBuf,
    },
    /// A line of text is not an event.
    #[error("line {line}: {problem}: `{text}`")]
    Line {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: LineProblem,
        /// How it begins.
        text: String,
    },
    /// The file is not in deadheat's format, or in one of another time.
    #[error("{0}")]
    Header(#[from] HeaderProblem),
    /// A block is damaged.
    #[error("block {block} (at byte {offset}): {problem}")]
    Block {
        /// The block, from 0.
        block: u64,
        /// Where it begins in the file.
        offset: u64,
        /// What is wrong with it.
        problem: BlockProblem,
    },
    /// An object of an event is not in its table.
    #[error(
        "{table} {number} has no name: there are names for {known} of them, and objects are numbered from \
         0 without gaps"
    )]
    Unnamed {
        /// Which table.
        table: Table,
        /// The object.
        number: u64,
        /// How many the table has.
        known: u64,
    },
    /// A name is longer than [`MAX_NAME`].
    #[error("the name of {table} {number} has {bytes} bytes; {MAX_NAME} are the most")]
    NameTooLong {
        /// Which table.
        table: Table,
        /// The object.
        number: u64,
        /// How long the name is.
        bytes: usize,
    },
    /// There are more objects of a kind than can be numbered.
    #[error("there are more than 2^32 names of a {table}")]
    TooManyNames {
        /// Which table.
        table: Table,
    },
    /// A strand's events were not handed over in order.
    #[error("event {number} of strand {strand} comes after event {last} of the same strand")]
    OutOfOrder {
        /// Whose event.
        strand: u32,
        /// The event.
        number: u64,
        /// The one before it.
        last: u64,
    },
    /// RAPID does not know what happens in it.
    #[error("event {number} is `{word}`, which RAPID does not know: convert without --rapid")]
    NotInRapid {
        /// Which event, from 1.
        number: u64,
        /// What it does.
        word: &'static str,
    },
    /// The whole trace does not fit in memory.
    #[error("{events} events do not fit in memory: read the trace in windows")]
    TooLarge {
        /// How many events there are.
        events: u64,
    },
}

/// What is wrong with a line of text.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LineProblem {
    /// It has not the shape of an event.
    #[error("expected {0}")]
    Expected(&'static str),
    /// Nobody does it.
    #[error("the thread has no name")]
    NoThread,
    /// What is done has no meaning.
    #[error("there is no operation `{word}`; there are {}", words())]
    UnknownWord {
        /// The word.
        word: String,
    },
    /// What it is done to is missing.
    #[error("`{word}` needs a target: the name of a {table}")]
    NoTarget {
        /// What is done.
        word: &'static str,
        /// What it is done to.
        table: Table,
    },
    /// It is done to something that is numbered, not named.
    #[error("`{word}` needs a number below 2^48, not `{target}`")]
    NotANumber {
        /// What is done.
        word: &'static str,
        /// What stands there.
        target: String,
    },
    /// A semaphore is declared when it is already in use, or without a number of tokens.
    #[error(
        "a semaphore is declared once, before it is used, with a number of tokens below 2^64 where \
         an event has its place in the source"
    )]
    Semaphore,
    /// A name is not text.
    #[error("the name of a {table} is not UTF-8")]
    NotUtf8 {
        /// What is named.
        table: Table,
    },
    /// A name is too long.
    #[error("the name of a {table} has more than {MAX_NAME} bytes")]
    NameTooLong {
        /// What is named.
        table: Table,
    },
    /// There are too many names.
    #[error("there are more than 2^32 names of a {table}")]
    TooManyNames {
        /// What is named.
        table: Table,
    },
    /// The line does not end, or a quotation does not.
    #[error("this is longer than {0} bytes; is a line end or a closing quote missing?")]
    TooLong(usize),
    /// The file ends inside quotes.
    #[error("the quote is not closed")]
    OpenQuote,
}

fn words() -> String {
    let words: Vec<&str> = WORDS.iter().map(|word| word.word).collect();
    words.join(", ")
}

/// Why a file is not one that this version reads.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum HeaderProblem {
    /// It does not begin as deadheat's files do.
    #[error(
        "this is not a .dht file: it does not begin with the bytes that all of them begin with"
    )]
    NotDht,
    /// It has another version.
    #[error(
        "this .dht file has version {version}, and this deadheat reads version {}: use the one that wrote \
         it, or convert the trace with it to .std",
        crate::dht::VERSION
    )]
    Version {
        /// Which one.
        version: u16,
    },
    /// The blocks claim more events than their numbers have room for.
    #[error(
        "two blocks have the same events: {events} events are numbered below {end}, up to block \
         {block}"
    )]
    Overlap {
        /// How many events the blocks have.
        events: u64,
        /// Where their numbers end.
        end: u64,
        /// The block at which it shows.
        block: u64,
    },
    /// The index speaks of a whole trace, and events are missing.
    #[error("event {event} is in no block, though the file was finished")]
    Hole {
        /// The number of the event, from 1.
        event: u64,
    },
}

/// What is wrong with a block.
#[derive(Debug, Error, PartialEq, Eq, Clone)]
pub enum BlockProblem {
    /// The file ends before the block does.
    #[error("the file ends inside the block")]
    CutOff,
    /// The checksum is another one.
    #[error("its checksum is wrong")]
    Checksum,
    /// It is no kind of block that is known.
    #[error("it is no kind of block that there is")]
    Kind,
    /// It is not the block that the index says.
    #[error("the index says something else about it")]
    Index,
    /// A count cannot be true.
    #[error("{what} says {value}, and there can be at most {most}")]
    Count {
        /// Which count.
        what: &'static str,
        /// What it says.
        value: u64,
        /// What it can say at most.
        most: u64,
    },
    /// What is compressed does not come out as it should.
    #[error("its column {0} cannot be decompressed")]
    Column(usize),
    /// What it holds ends too early, or does not end.
    #[error("its column of {0} does not have what the header says")]
    Content(&'static str),
    /// An operation that there is not.
    #[error("there is no operation {code} with detail {detail} and object {object}")]
    Operation {
        /// The operation's number.
        code: u8,
        /// Its detail.
        detail: u8,
        /// Its object.
        object: u64,
    },
    /// An object that has no name.
    #[error("it mentions {table} {number}, and there are {known}")]
    Unnamed {
        /// Which table.
        table: Table,
        /// The object.
        number: u64,
        /// How many there are.
        known: u64,
    },
    /// Names that do not follow those before them.
    #[error("its names of a {table} begin at {first}, and {known} are known")]
    NamesOutOfOrder {
        /// Which table.
        table: Table,
        /// Number of the first name.
        first: u64,
        /// How many there were.
        known: u64,
    },
    /// A name is not text.
    #[error("a name is not UTF-8")]
    NotUtf8,
    /// Two blocks have the same event.
    #[error("event {event} is also in another block")]
    Duplicate {
        /// The number of the event, from 1.
        event: u64,
    },
}
