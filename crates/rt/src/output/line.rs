//! A line of text, built in memory and written at once.

use deadheat_tape::findings::{Line, digits, write_line};

use super::mailbox::Stream;
use crate::platform::os;

/// See the [module](self).
#[derive(Debug, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
}

impl LineBuffer {
    /// Writes a line of findings.
    pub fn write(&mut self, line: impl Line, stream: Option<&mut Stream>) {
        self.bytes.clear();
        write_line(line, &mut self.bytes);
        if let Some(stream) = stream {
            stream.write(&self.bytes);
        }
        self.bytes.clear();
    }

    /// Adds text.
    pub fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(digits(number, &mut [0; 20]));
    }

    /// Writes what there is to standard error.
    pub fn print(&mut self) {
        os::write_all(libc::STDERR_FILENO, &self.bytes);
        self.bytes.clear();
    }
}
