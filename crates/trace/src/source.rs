//! A trace in a file, whatever its format.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use deadheat_model::{Event, Execution, Names, Site, Strand};

use crate::dht::{self, Damage, OrderedWriter, Writer};
use crate::error::TraceError;
use crate::text::{ForRapid, TextFormat, TextReader, TextWriter, is_header_line};
use deadheat_model::words::{Table, Takes, takes};

/// How a trace is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// deadheat's own.
    Dht,
    /// RAPID's.
    Text(TextFormat),
}

impl Format {
    /// What the name of a file says.
    pub fn of_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let (rest, extension) = name.rsplit_once('.')?;
        match extension {
            "dht" => Some(Format::Dht),
            "std" => Some(Format::Text(TextFormat::Std)),
            "csv" if rest.ends_with(".table") => Some(Format::Text(TextFormat::Table)),
            "csv" => Some(Format::Text(TextFormat::Csv)),
            _ => None,
        }
    }

    /// What the beginning of a file says.
    fn of_content(start: &[u8]) -> Option<Format> {
        if start.starts_with(&dht::MAGIC) {
            return Some(Format::Dht);
        }
        let mut lines = start
            .split(|&byte| byte == b'\n')
            .map(|line| line.trim_ascii());
        let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"))?;
        match first.iter().find(|&&byte| byte == b'|' || byte == b',')? {
            b'|' => Some(Format::Text(TextFormat::Std)),
            _ if is_header_line(first) => Some(Format::Text(TextFormat::Table)),
            _ => Some(Format::Text(TextFormat::Csv)),
        }
    }
}

/// A trace that can be read, as often as one likes.
pub struct Source {
    name: PathBuf,
    kind: Kind,
    /// What of the input could be read only once; it goes with the source.
    _copy: Option<tempfile::TempPath>,
}

enum Kind {
    Dht(dht::Reader),
    Text(TextFile),
}

struct TextFile {
    format: TextFormat,
    path: PathBuf,
    bytes: u64,
    /// What is known when all of it has been read once.
    known: OnceLock<(Names, u64)>,
}

/// Some consecutive events.
pub struct Window<'a> {
    /// The events.
    pub events: &'a [Event],
    /// The names of all that they mention; in text, there will be more.
    pub names: &'a Names,
    /// How much of the trace has been read, from 0 to 1.
    pub done: f64,
}

/// Opens a trace: the file's name says its format, and if it does not, its content. `-` is standard
/// input; that, and whatever else can be read only once, is first copied to a temporary file.
pub fn open(path: impl AsRef<Path>) -> Result<Source, TraceError> {
    let path = path.as_ref();
    let unreadable = |error| TraceError::File {
        doing: "read",
        path: path.into(),
        error,
    };
    let stdin = path == Path::new("-");
    let meta = match stdin {
        true => None,
        false => Some(fs::metadata(path).map_err(unreadable)?),
    };
    if meta.as_ref().is_some_and(|meta| meta.is_dir()) {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    if meta.is_some_and(|meta| meta.is_file()) {
        let kind = Kind::open(path, Format::of_name(path), path)?;
        return Ok(Source {
            name: path.into(),
            kind,
            _copy: None,
        });
    }
    let mut copy = tempfile::NamedTempFile::new().map_err(unreadable)?;
    let input: &mut dyn Read = match stdin {
        true => &mut io::stdin(),
        false => &mut File::open(path).map_err(unreadable)?,
    };
    io::copy(input, &mut copy).map_err(unreadable)?;
    let kind = Kind::open(copy.path(), Format::of_name(path), path)?;
    Ok(Source {
        name: path.into(),
        kind,
        _copy: Some(copy.into_temp_path()),
    })
}

impl Kind {
    /// Opens a regular file; `shown` is what it is called in errors.
    fn open(path: &Path, format: Option<Format>, shown: &Path) -> Result<Kind, TraceError> {
        let unreadable = |error| TraceError::File {
            doing: "read",
            path: shown.into(),
            error,
        };
        let file = File::open(path).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        let format = match format {
            Some(format) => format,
            None => {
                let mut start = Vec::new();
                let read = file.take(4096).read_to_end(&mut start);
                read.map_err(unreadable)?;
                let path = shown.to_path_buf();
                Format::of_content(&start).ok_or(TraceError::UnknownFormat { path })?
            }
        };
        Ok(match format {
            Format::Dht => Kind::Dht(dht::Reader::open(path)?),
            Format::Text(format) => Kind::Text(TextFile {
                format,
                path: path.into(),
                bytes,
                known: OnceLock::new(),
            }),
        })
    }
}

impl Source {
    /// The path by which it was opened.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// How the trace is stored.
    pub fn format(&self) -> Format {
        match &self.kind {
            Kind::Dht(_) => Format::Dht,
            Kind::Text(text) => Format::Text(text.format),
        }
    }

    /// How large the file is.
    pub fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::Dht(reader) => reader.bytes(),
            Kind::Text(text) => text.bytes,
        }
    }

    /// What was lost, if the recording was not finished: a warning, because what is left can be used.
    pub fn damage(&self) -> Option<&Damage> {
        match &self.kind {
            Kind::Dht(reader) => reader.damage(),
            Kind::Text(_) => None,
        }
    }

    /// What the numbers in the events mean. Text has to be read to the end for it, unless that was
    /// done before.
    pub fn names(&self) -> Result<&Names, TraceError> {
        match &self.kind {
            Kind::Dht(reader) => Ok(reader.names()),
            Kind::Text(text) => Ok(&text.known()?.0),
        }
    }

    /// How many events there are. The same holds for text.
    pub fn events(&self) -> Result<u64, TraceError> {
        match &self.kind {
            Kind::Dht(reader) => Ok(reader.events()),
            Kind::Text(text) => Ok(text.known()?.1),
        }
    }

    /// Hands over the events in the order in which they happened, in windows of about
    /// [`WINDOW`](crate::WINDOW), until there are no more or `each` breaks off.
    pub fn for_each<B>(
        &self,
        mut each: impl FnMut(Window<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, TraceError> {
        match &self.kind {
            Kind::Text(text) => text.for_each(each),
            Kind::Dht(reader) => {
                let mut read = 0;
                reader.for_each(|events| {
                    read += events.len() as u64;
                    each(Window {
                        events,
                        names: reader.names(),
                        done: read as f64 / reader.events() as f64,
                    })
                })
            }
        }
    }

    /// The line of a text in which an event is, by its number from 1.
    pub fn line_of(&self, number: u64) -> Option<u64> {
        match &self.kind {
            Kind::Dht(_) => None,
            Kind::Text(text) => text.reader().ok()?.line_of(number).ok()?,
        }
    }

    /// The whole trace.
    pub fn read_all(&self) -> Result<Execution, TraceError> {
        self.read_while(|_| true)
    }

    /// The whole trace, unless `goes_on` says no before: it is told now and then how much was read, from 0 to 1.
    pub fn read_while(
        &self,
        mut goes_on: impl FnMut(f64) -> bool,
    ) -> Result<Execution, TraceError> {
        match &self.kind {
            Kind::Dht(reader) => match goes_on(0.0) {
                true => reader.read_while(goes_on),
                false => Ok(Execution::default()),
            },
            Kind::Text(text) => {
                let mut reader = text.reader()?;
                let mut events = Vec::new();
                let _ = reader.for_each(|window, _, read| {
                    events.extend_from_slice(window);
                    match goes_on((read as f64 / text.bytes as f64).min(1.0)) {
                        true => ControlFlow::Continue(()),
                        false => ControlFlow::Break(()),
                    }
                })?;
                let names = reader.into_names();
                Ok(Execution { events, names })
            }
        }
    }
}

impl TextFile {
    fn reader(&self) -> Result<TextReader<File>, TraceError> {
        let file = File::open(&self.path).map_err(|error| TraceError::File {
            doing: "read",
            path: self.path.clone(),
            error,
        })?;
        Ok(TextReader::new(self.format, file))
    }

    fn for_each<B>(
        &self,
        mut each: impl FnMut(Window<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, TraceError> {
        let mut reader = self.reader()?;
        let mut count = 0;
        let flow = reader.for_each(|events, names, read| {
            count += events.len() as u64;
            let done = (read as f64 / self.bytes as f64).min(1.0);
            each(Window {
                events,
                names,
                done,
            })
        })?;
        if flow.is_continue() {
            self.known.get_or_init(|| (reader.into_names(), count));
        }
        Ok(flow)
    }

    fn known(&self) -> Result<&(Names, u64), TraceError> {
        if self.known.get().is_none() {
            let _ = self.for_each(|_| ControlFlow::<()>::Continue(()))?;
        }
        Ok(self.known.get_or_init(Default::default))
    }
}

/// Writes an execution to a file, whose name says its format. Strands and places get the names that
/// [`Names`] gives them; other objects without a name get an empty one, or in text their numbers.
pub fn save(path: impl AsRef<Path>, trace: &Execution) -> Result<(), TraceError> {
    let names = complete(trace)?;
    write(path.as_ref(), |sink| sink(&trace.events, &names))
}

/// Writes a trace to another file, whose name says its format, without having it all in memory.
/// `progress` is told how much is done, from 0 to 1.
pub fn convert(
    source: &Source,
    path: impl AsRef<Path>,
    progress: impl FnMut(f64),
) -> Result<(), TraceError> {
    let path = path.as_ref();
    write(path, |sink| {
        if Format::of_name(path) == Some(Format::Text(TextFormat::Csv)) {
            // Which column a thread has depends on all of them.
            sink(&[], source.names()?)?;
        }
        hand_over(source, progress, |window| sink(window.events, window.names))
    })
}

/// The same, but so that RAPID's own readers accept it; the file is text.
pub fn convert_for_rapid(
    source: &Source,
    path: impl AsRef<Path>,
    progress: impl FnMut(f64),
) -> Result<(), TraceError> {
    write(path.as_ref(), |sink| {
        let mut rapid = ForRapid::new(source.names()?);
        hand_over(source, progress, |window| {
            let events = rapid.translate(window.events)?;
            sink(&events, rapid.names())
        })
    })
}

/// Hands over a trace, window by window.
fn hand_over(
    source: &Source,
    mut progress: impl FnMut(f64),
    mut each: impl FnMut(Window) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let flow = source.for_each(|window| {
        progress(window.done);
        match each(window) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    })?;
    match flow {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Takes some events and the names to them.
pub type Sink<'a> = &'a mut dyn FnMut(&[Event], &Names) -> Result<(), TraceError>;

/// Writes what `feed` feeds it with, to a file whose name says its format. The file is there when all has been written, not before, so that a
/// trace can replace itself.
pub fn write(
    path: &Path,
    feed: impl FnOnce(Sink<'_>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let unknown = || TraceError::UnknownFormat { path: path.into() };
    let format = Format::of_name(path).ok_or_else(unknown)?;
    let unwritable = |error| TraceError::File {
        doing: "write",
        path: path.into(),
        error,
    };
    let special = fs::metadata(path).is_ok_and(|meta| !meta.is_file());
    let part = match special {
        true => path.to_path_buf(),
        false => beside(path).ok_or_else(unknown)?,
    };
    let file = File::create(&part).map_err(unwritable)?;
    let written = write_as(format, file, feed);
    if special {
        return written;
    }
    let done = written.and_then(|()| fs::rename(&part, path).map_err(unwritable));
    if done.is_err() {
        // What is left of it is of no use; that it stays is no second error.
        let _ = fs::remove_file(&part);
    }
    done
}

/// The name of a file while it is written.
fn beside(path: &Path) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name()?);
    name.push(format!(".{}.part", std::process::id()));
    Some(path.with_file_name(name))
}

fn write_as(
    format: Format,
    file: impl Write,
    feed: impl FnOnce(Sink<'_>) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    match format {
        Format::Dht => {
            let writer = Writer::new(file)?;
            let mut ordered = OrderedWriter::new(&writer);
            feed(&mut |events, names| {
                writer.learn(names)?;
                ordered.write(events)
            })?;
            ordered.finish()?;
            writer.finish()
        }
        Format::Text(format) => {
            let mut writer = TextWriter::new(format, file)?;
            feed(&mut |events, names| {
                writer.learn(names)?;
                writer.write(events)
            })?;
            writer.finish()
        }
    }
}

/// The names with an entry for every object that the events mention.
fn complete(trace: &Execution) -> Result<Cow<'_, Names>, TraceError> {
    let mut needs = [0; Table::ALL.len()];
    for event in &trace.events {
        let (code, _, object) = event.to_parts();
        let mut need = |table: Table, number: u64| {
            let need = &mut needs[table as usize];
            *need = number.saturating_add(1).max(*need);
        };
        need(Table::Strands, event.strand().0.into());
        need(Table::Sites, event.site().0.into());
        if let Takes::Named(table) = takes(code) {
            need(table, object);
        }
    }
    let mut names = Cow::Borrowed(&trace.names);
    for table in Table::ALL {
        let (need, known) = (needs[table as usize], table.of(&names).len() as u64);
        if need <= known {
            continue;
        }
        // Numbers without gaps: no more than there are names and events.
        if need > known + trace.events.len() as u64 {
            return Err(TraceError::Unnamed {
                table,
                number: need - 1,
                known,
            });
        }
        table
            .of_mut(names.to_mut())
            .resize(need as usize, String::new());
    }
    // What only this execution's source can describe is spelt out.
    let known = &trace.names;
    for strand in (0..known.parents.len().min(names.strands.len())).map(|s| Strand(s as u32)) {
        if names.strands[strand.index()].is_empty() {
            names.to_mut().strands[strand.index()] = known.strand(strand).into_owned();
        }
    }
    for site in (0..known.positions.len().min(names.sites.len())).map(|s| Site(s as u32)) {
        if names.sites[site.0 as usize].is_empty() {
            names.to_mut().sites[site.0 as usize] = known.site(site).into_owned();
        }
    }
    Ok(names)
}
