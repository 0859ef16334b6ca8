//! What a program that is checked without `deadheat run` does when it has found a race: the options that ThreadSanitizer's
//! users know, as far as they mean something here.
//!
//! They come from `__tsan_default_options`, which the program may define, then from `TSAN_OPTIONS`, then from `DEADHEAT_OPTIONS`: the last one wins.

/// See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The exit status of a process that has found a race; 0 keeps its own.
    pub exit_code: i32,
    /// End the process with the first race.
    pub halt_on_error: bool,
    /// Say at the end that there was a race.
    pub report_bugs: bool,
    /// Say it in a file with this name and the number of the process.
    pub log_path: Option<Vec<u8>>,
    /// A file with suppressions. Only `deadheat run` can apply them, as it knows names: the program starts again under it.
    pub suppressions: Option<Vec<u8>>,
    /// Pause at random where tasks meet: see [`pauses`](crate::platform::pauses).
    pub pauses: Option<u64>,
    /// The options that mean nothing here.
    pub ignored: Vec<Vec<u8>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            exit_code: 66,
            halt_on_error: false,
            report_bugs: true,
            log_path: None,
            suppressions: None,
            pauses: None,
            ignored: Vec::new(),
        }
    }
}

impl Options {
    /// Takes a list of options: `exitcode=0:log_path="a file" halt_on_error=1`.
    pub fn take(&mut self, mut list: &[u8]) {
        while let Some((name, value, rest)) = next(list) {
            list = rest;
            let number = std::str::from_utf8(value)
                .ok()
                .and_then(|value| value.parse().ok());
            match (name, flag(value), number) {
                (b"", ..) => {}
                (b"exitcode", _, Some(code)) => self.exit_code = code,
                (b"pauses", _, Some(seed)) => self.pauses = Some(seed as u64),
                (b"halt_on_error", Some(halts), _) => self.halt_on_error = halts,
                (b"report_bugs", Some(reports), _) => self.report_bugs = reports,
                (b"log_path", ..) => {
                    let path = Some(value.to_vec());
                    self.log_path =
                        path.filter(|path| !matches!(&**path, b"" | b"stderr" | b"stdout"));
                }
                (b"suppressions", ..) => {
                    self.suppressions = Some(value.to_vec()).filter(|path| !path.is_empty());
                }
                _ => self.ignored.push(name.to_vec()),
            }
        }
    }
}

/// The first option of a list, its value, and the rest of the list.
fn next(list: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let separates = |byte: &u8| b" ,:\n\t\r".contains(byte);
    let start = list.iter().position(|byte| !separates(byte))?;
    let list = &list[start..];
    let ends_name = |byte: &u8| *byte == b'=' || separates(byte);
    let end = list.iter().position(ends_name).unwrap_or(list.len());
    let (name, rest) = list.split_at(end);
    let Some(rest) = rest.strip_prefix(b"=") else {
        return Some((name, b"", rest));
    };
    let quote = rest.first().filter(|byte| b"'\"".contains(byte));
    let (value, rest) = match quote {
        Some(quote) => {
            let value = &rest[1..];
            let end = value.iter().position(|byte| byte == quote);
            let (value, rest) = value.split_at(end.unwrap_or(value.len()));
            (value, rest.get(1..).unwrap_or_default())
        }
        None => rest.split_at(rest.iter().position(separates).unwrap_or(rest.len())),
    };
    Some((name, value, rest))
}

fn flag(value: &[u8]) -> Option<bool> {
    match value {
        b"1" | b"yes" | b"true" => Some(true),
        b"0" | b"no" | b"false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(list: &str) -> Options {
        let mut options = Options::default();
        options.take(list.as_bytes());
        options
    }

    #[test]
    fn options_are_told_apart_as_thread_sanitizer_does() {
        assert_eq!(options(""), Options::default());
        let all =
            options("exitcode=7:halt_on_error=1, report_bugs=no\tlog_path='a file':suppressions=s");
        assert_eq!((all.exit_code, all.halt_on_error), (7, true));
        assert_eq!(all.suppressions.as_deref(), Some(&b"s"[..]));
        assert!(!all.report_bugs);
        assert_eq!(all.log_path.as_deref(), Some(&b"a file"[..]));
        assert!(all.ignored.is_empty());
        assert_eq!(options("log_path=stderr").log_path, None);
        assert_eq!(options("exitcode=1:exitcode=0").exit_code, 0);
    }

    #[test]
    fn what_means_nothing_here_is_remembered_by_name() {
        let some = options("history_size=7:halt_on_error=maybe exitcode= x log_path=\"open");
        let names = [&b"history_size"[..], b"halt_on_error", b"exitcode", b"x"];
        assert_eq!(some.ignored, names);
        assert_eq!(some.log_path.as_deref(), Some(&b"open"[..]));
        assert!(options("::,= = '").ignored.len() < 3);
    }
}
