//! A line of text, built in memory and written at once.

use deadheat_tape::findings::{Line, write_line};

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

    /// Adds bytes that are not text perhaps.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes what there is to a file.
    pub fn print(&mut self, file: i32) {
        os::write_all(file, &self.bytes);
        self.bytes.clear();
    }
}
