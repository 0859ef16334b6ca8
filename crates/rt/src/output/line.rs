//! A line of text, built in memory and written at once.

use deadheat_tape::findings::{Line, digits, write_line};

use crate::platform::os;

/// See the [module](self).
#[derive(Debug, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
}

impl LineBuffer {
    /// Writes a line of findings.
    pub fn write(&mut self, line: impl Line, file: Option<i32>) {
        self.bytes.clear();
        write_line(line, &mut self.bytes);
        self.flush(file);
    }

    /// Adds text.
    pub fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(digits(number, &mut [0; 20]));
    }

    /// Writes what there is.
    pub fn flush(&mut self, file: Option<i32>) {
        if let Some(file) = file
            && !os::write_all(file, &self.bytes)
        {
            os::mark_cut(file);
        }
        self.bytes.clear();
    }
}
