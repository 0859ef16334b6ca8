//! A line of JSON, built piece by piece and written at once.

use crate::os;

/// See the [module](self).
#[derive(Debug, Default)]
pub struct Line {
    bytes: Vec<u8>,
}

/// The decimal digits of a number.
pub fn digits(mut number: u64, room: &mut [u8; 20]) -> &[u8] {
    let mut at = room.len();
    loop {
        at -= 1;
        room[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &room[at..];
        }
    }
}

impl Line {
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn raw(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// `{"KIND":{`
    pub fn begin(&mut self, kind: &str) {
        self.clear();
        self.raw("{");
        self.open_object(kind);
    }

    /// Closes what [`begin`](Line::begin) has opened, and writes the line.
    pub fn end(&mut self, file: Option<i32>) {
        self.raw("}}\n");
        self.flush(file);
    }

    pub fn flush(&mut self, file: Option<i32>) {
        if let Some(file) = file
            && !os::write_all(file, &self.bytes)
        {
            os::mark_cut(file);
        }
        self.clear();
    }

    fn comma(&mut self) {
        if !matches!(self.bytes.last(), None | Some(b'{' | b'[' | b':')) {
            self.bytes.push(b',');
        }
    }

    pub fn name(&mut self, name: &str) {
        self.comma();
        self.text(name.as_bytes());
        self.bytes.push(b':');
    }

    pub fn number(&mut self, name: &str, value: u64) {
        self.name(name);
        self.bytes(digits(value, &mut [0; 20]));
    }

    pub fn optional(&mut self, name: &str, value: Option<u64>) {
        match value {
            Some(value) => self.number(name, value),
            None => {
                self.name(name);
                self.raw("null");
            }
        }
    }

    pub fn flag(&mut self, name: &str, value: bool) {
        self.name(name);
        self.raw(if value { "true" } else { "false" });
    }

    pub fn open_object(&mut self, name: &str) {
        self.name(name);
        self.bytes.push(b'{');
    }

    pub fn open_element(&mut self) {
        self.comma();
        self.bytes.push(b'{');
    }

    pub fn close_object(&mut self) {
        self.bytes.push(b'}');
    }

    pub fn open_list(&mut self, name: &str) {
        self.name(name);
        self.bytes.push(b'[');
    }

    pub fn element(&mut self, value: u64) {
        self.comma();
        self.bytes(digits(value, &mut [0; 20]));
    }

    pub fn close_list(&mut self) {
        self.bytes.push(b']');
    }

    /// A string. What is not UTF-8 is replaced.
    pub fn text(&mut self, text: &[u8]) {
        self.bytes.push(b'"');
        for chunk in text.utf8_chunks() {
            for byte in chunk.valid().bytes() {
                match byte {
                    b'"' | b'\\' => self.bytes.extend([b'\\', byte]),
                    0..0x20 => {
                        self.raw("\\u00");
                        let hex = |digit| {
                            if digit < 10 {
                                b'0' + digit
                            } else {
                                b'a' + digit - 10
                            }
                        };
                        self.bytes.extend([hex(byte >> 4), hex(byte & 15)]);
                    }
                    _ => self.bytes.push(byte),
                }
            }
            if !chunk.invalid().is_empty() {
                self.raw("\u{fffd}");
            }
        }
        self.bytes.push(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_json() {
        let mut line = Line::default();
        line.begin("race");
        line.number("id", u64::MAX);
        line.optional("parent", None);
        line.open_list("stack");
        line.element(0);
        line.element(10);
        line.close_list();
        line.open_list("locks");
        line.open_element();
        line.flag("write", true);
        line.close_object();
        line.open_element();
        line.close_object();
        line.close_list();
        line.name("path");
        line.text(b"a\"b\\c\x01\xffd");
        line.raw("}}");
        let expected = concat!(
            r#"{"race":{"id":18446744073709551615,"parent":null,"stack":[0,10],"#,
            r#""locks":[{"write":true},{}],"path":"a\"b\\c\u0001"#,
            "\u{fffd}d\"}}"
        );
        assert_eq!(std::str::from_utf8(&line.bytes), Ok(expected));
    }
}
