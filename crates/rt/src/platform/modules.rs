//! The modules of the process (executable, libraries) and where they lie, from the kernel's list of mappings: the
//! loader's own list is behind a lock that the program may hold.

use crate::platform::os;

/// A piece of a module that holds code.
#[derive(Debug)]
pub struct Module<'a> {
    pub start: usize,
    pub end: usize,
    /// Address in memory minus virtual address in the file.
    pub bias: usize,
    pub path: &'a [u8],
}

/// The pieces of code that have been told of.
#[derive(Debug, Default)]
pub struct Modules {
    told: Vec<(usize, usize)>,
    /// The pieces of data that modules have, as of the last look.
    data: Vec<(usize, usize)>,
}

impl Modules {
    pub fn contains(&self, address: usize) -> bool {
        self.told
            .iter()
            .any(|(start, end)| (*start..*end).contains(&address))
    }

    /// Whether an address is in the data of a module, as far as is known.
    pub fn is_data(&self, address: usize) -> bool {
        self.data
            .iter()
            .any(|(start, end)| (*start..*end).contains(&address))
    }

    /// Tells of the pieces that are new.
    pub fn update(&mut self, mut tell: impl FnMut(Module)) {
        let text = read_maps();
        self.data.clear();
        maps(&text, |start, end, _, data| {
            if data {
                self.data.push((start, end));
            }
        });
        let mut current: Option<(&[u8], usize)> = None;
        for line in text.split(|byte| *byte == b'\n') {
            let Some(mapping) =
                Mapping::parse(line).filter(|mapping| mapping.path.first() == Some(&b'/'))
            else {
                continue;
            };
            if current.is_none_or(|(path, _)| path != mapping.path) || mapping.offset == 0 {
                current = Some((mapping.path, bias(&mapping)));
            }
            let piece = (mapping.start, mapping.end);
            if mapping.executable && !self.told.contains(&piece) {
                self.told.push(piece);
                let bias = current.map_or(0, |(_, bias)| bias);
                tell(Module {
                    start: mapping.start,
                    end: mapping.end,
                    bias,
                    path: mapping.path,
                });
            }
        }
    }
}

struct Mapping<'a> {
    start: usize,
    end: usize,
    offset: usize,
    readable: bool,
    executable: bool,
    path: &'a [u8],
}

impl Mapping<'_> {
    /// `55d0-55d4 r-xp 00001000 08:01 123   /usr/bin/prog`
    fn parse(line: &[u8]) -> Option<Mapping<'_>> {
        let mut rest = line;
        let mut next = || {
            let length = rest.iter().position(|byte| *byte == b' ')?;
            let (word, after) = rest.split_at(length);
            let spaces = after
                .iter()
                .position(|byte| *byte != b' ')
                .unwrap_or(after.len());
            rest = &after[spaces..];
            Some(word)
        };
        let addresses = next()?;
        let rights = next()?;
        let offset = hex(next()?)?;
        next()?;
        next()?;
        let dash = addresses.iter().position(|byte| *byte == b'-')?;
        let (start, end) = (hex(&addresses[..dash])?, hex(&addresses[dash + 1..])?);
        let [readable, executable] =
            [(0, b'r'), (2, b'x')].map(|(at, right)| rights.get(at) == Some(&right));
        Some(Mapping {
            start,
            end,
            offset,
            readable,
            executable,
            path: rest,
        })
    }
}

fn hex(digits: &[u8]) -> Option<usize> {
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Address minus virtual address, of a module whose first mapping this is.
fn bias(mapping: &Mapping) -> usize {
    let Mapping {
        start,
        end,
        offset,
        readable,
        ..
    } = *mapping;
    if offset != 0 || !readable || end - start < 4096 {
        return start.wrapping_sub(offset);
    }
    // SAFETY: the mapping is readable and at least a page; an ELF file's headers are in its first page, and
    // every read below stays in it.
    unsafe {
        let header = start as *const libc::Elf64_Ehdr;
        if (start as *const [u8; 4]).read() != *b"\x7fELF" {
            return start;
        }
        let segments = (start + (*header).e_phoff as usize) as *const libc::Elf64_Phdr;
        for index in 0..usize::from((*header).e_phnum) {
            let segment = segments.add(index);
            if segment.add(1) as usize > start + 4096 {
                break;
            }
            if (*segment).p_type == libc::PT_LOAD {
                return start.wrapping_sub(((*segment).p_vaddr - (*segment).p_offset) as usize);
            }
        }
    }
    start
}

/// What an address belongs to, as far as the kernel knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Data of a module.
    Global,
    /// The first thread's stack.
    Stack,
    /// Mapped by the program or for it.
    Mapped,
    Unknown,
}

/// The first thread's stack, as far as it has grown.
pub fn first_stack() -> Option<(usize, usize)> {
    let mut found = None;
    maps(&read_maps(), |start, end, name, _| {
        if name == b"[stack]" {
            found = Some((start, end));
        }
    });
    found
}

/// What an address belongs to, and where that begins.
pub fn region(address: usize) -> (Region, usize) {
    let mut found = (Region::Unknown, address);
    maps(&read_maps(), |start, end, name, data| {
        if (start..end).contains(&address) {
            let region = match name {
                b"[stack]" => Region::Stack,
                _ if data => Region::Global,
                _ => Region::Mapped,
            };
            found = (region, start);
        }
    });
    found
}

/// From where to where the mapping around an address goes.
pub fn around(address: usize) -> Option<(usize, usize)> {
    let mut found = None;
    maps(&read_maps(), |start, end, _, _| {
        if (start..end).contains(&address) {
            found = Some((start, end));
        }
    });
    found
}

/// Calls `each` with start, end and name of each mapping, and whether it is a module's. Zeroed data of a module follows
/// its file's mappings without a name.
fn maps(text: &[u8], mut each: impl FnMut(usize, usize, &[u8], bool)) {
    let mut file_end = 0;
    for mapping in text.split(|byte| *byte == b'\n').filter_map(Mapping::parse) {
        let file = mapping.path.first() == Some(&b'/');
        let data = file || (mapping.path.is_empty() && mapping.start == file_end);
        file_end = if file { mapping.end } else { 0 };
        each(mapping.start, mapping.end, mapping.path, data);
    }
}

fn read_maps() -> Vec<u8> {
    let mut text = Vec::with_capacity(1 << 15);
    if let Some(file) = os::open(
        b"/proc/thread-self/maps\0",
        libc::O_RDONLY | libc::O_CLOEXEC,
    ) {
        let mut buffer = [0; 4096];
        loop {
            match os::read(file, &mut buffer) {
                0 => break,
                read => text.extend_from_slice(&buffer[..read]),
            }
        }
        os::close(file);
    }
    text
}

/// The path of the executable.
pub fn executable() -> Vec<u8> {
    let mut path = vec![0; 4096];
    let link = b"/proc/self/exe\0";
    let arguments = [
        libc::AT_FDCWD as usize,
        link.as_ptr() as usize,
        path.as_mut_ptr() as usize,
        path.len(),
        0,
        0,
    ];
    // SAFETY: the kernel writes at most the length of the buffer.
    let length = unsafe { os::call(libc::SYS_readlinkat, arguments) };
    path.truncate(usize::try_from(length).unwrap_or(0));
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_lies_in_the_module_it_was_compiled_into() {
        let mut modules = Modules::default();
        let address = executable as *const () as usize;
        let mut found = Vec::new();
        assert!(!modules.contains(address));
        modules.update(|module| {
            if (module.start..module.end).contains(&address) {
                found.push((module.path.to_vec(), address - module.bias));
            }
        });
        assert!(modules.contains(address));
        let path = std::env::current_exe().unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, path.to_str().unwrap().as_bytes());
        assert_eq!(executable(), found[0].0);
        // A position-independent executable starts near address 0 of its file.
        assert!(found[0].1 < 1 << 30, "{:#x}", found[0].1);
        let mut again = 0;
        modules.update(|_| again += 1);
        assert_eq!(again, 0);
    }
}
