//! A text in lines, of which only the current one is in memory.

use std::io::{self, Read};

/// The longest line, or record of several lines: three names and some room.
pub const MAX_LINE: usize = 512 << 10;

/// What is read at a time.
const CHUNK: usize = 256 << 10;

/// A text that is read line by line.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// What of the buffer is not yet handed out.
    start: usize,
    end: usize,
    ended: bool,
    /// How many bytes have been read.
    pub read: u64,
}

/// A line, or why there is none.
pub(crate) enum Line<'a> {
    /// Without its line feed.
    Text(&'a [u8]),
    /// Longer than [`MAX_LINE`]: how it begins.
    TooLong(&'a [u8]),
    /// There are no more.
    End,
}

impl<R: Read> Lines<R> {
    pub fn new(reader: R) -> Lines<R> {
        Lines {
            reader,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            ended: false,
            read: 0,
        }
    }

    /// The next line.
    #[inline]
    pub fn next(&mut self) -> io::Result<Line<'_>> {
        self.next_where(|_| true)
    }

    /// The next line; it goes on behind a line feed where `complete` says that what is before is not
    /// all. `complete` sees each piece between line feeds once.
    #[inline]
    pub fn next_where(&mut self, mut complete: impl FnMut(&[u8]) -> bool) -> io::Result<Line<'_>> {
        // How much of what is there has been looked at, and what of that was shown to `complete`.
        let (mut looked, mut shown) = (0, 0);
        loop {
            let waiting = &self.buffer[self.start..self.end];
            match memchr::memchr(b'\n', &waiting[looked..]) {
                Some(at) => {
                    let length = looked + at;
                    if complete(&waiting[shown..length]) {
                        let line = self.start..self.start + length;
                        self.start += length + 1;
                        return Ok(Line::Text(&self.buffer[line]));
                    }
                    (looked, shown) = (length + 1, length + 1);
                }
                None if waiting.len() > MAX_LINE => {
                    return Ok(Line::TooLong(&self.buffer[self.start..self.end]));
                }
                None if self.ended => {
                    let line = self.start..self.end;
                    self.start = self.end;
                    return Ok(match line.is_empty() {
                        true => Line::End,
                        false => Line::Text(&self.buffer[line]),
                    });
                }
                None => {
                    looked = waiting.len();
                    self.fill()?;
                }
            }
        }
    }

    /// Reads on. The buffer grows to two chunks more than the longest line at most.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() - self.end < CHUNK / 2 {
            self.buffer.resize(self.buffer.len() + CHUNK, 0);
        }
        let read = loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.end += read;
        self.ended = read == 0;
        self.read += read as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes in small pieces.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = self.1.min(self.0.len()).min(buffer.len());
            buffer[..some].copy_from_slice(&self.0[..some]);
            self.0 = &self.0[some..];
            Ok(some)
        }
    }

    #[test]
    fn lines_come_out_as_they_went_in() {
        let text: String = (0..50_000)
            .map(|n| format!("{}\n", "x".repeat(n % 70)))
            .collect();
        for piece in [7, 4096, usize::MAX] {
            let mut lines = Lines::new(Dripping(text.as_bytes(), piece));
            for wanted in text.lines() {
                match lines.next().unwrap() {
                    Line::Text(line) => assert_eq!(line, wanted.as_bytes()),
                    _ => panic!("a line is missing"),
                }
            }
            assert!(matches!(lines.next().unwrap(), Line::End));
        }
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let mut lines = Lines::new(io::repeat(b'x'));
        assert!(matches!(lines.next().unwrap(), Line::TooLong(_)));
        let mut lines = Lines::new(io::repeat(b'\n'));
        assert!(matches!(
            lines.next_where(|_| false).unwrap(),
            Line::TooLong(_)
        ));
    }
}
