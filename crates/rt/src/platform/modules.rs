//! The modules of the process (executable, libraries) and where they lie, from the kernel's list of mappings: the
//! loader's own list is behind a lock that the program may hold.

use crate::platform::os;

/// A piece of a module that holds code.
#[derive(Debug)]
pub struct Module {
    pub start: usize,
    pub end: usize,
    /// Address in memory minus virtual address in the file.
    pub bias: usize,
    pub path: Vec<u8>,
}

/// The pieces of code that are known.
#[derive(Debug, Default)]
pub struct Modules {
    known: Vec<Module>,
    /// How many of them have been told of.
    told: usize,
    /// The pieces of data that modules have, as of the last look.
    data: Vec<(usize, usize)>,
}

impl Modules {
    pub fn contains(&self, address: usize) -> bool {
        let mut told = self.known[..self.told].iter();
        told.any(|module| (module.start..module.end).contains(&address))
    }

    /// In a forked child, which may have no way to look: what its parent knows holds, and has not been told of.
    pub fn forked(&mut self) {
        self.told = 0;
    }

    /// Whether an address is in the data of a module, as far as is known.
    pub fn is_data(&self, address: usize) -> bool {
        self.data
            .iter()
            .any(|(start, end)| (*start..*end).contains(&address))
    }

    /// Tells of the pieces that are new.
    pub fn update(&mut self, tell: impl FnMut(&Module)) {
        self.look(&read_maps());
        self.known[self.told..].iter().for_each(tell);
        self.told = self.known.len();
    }

    fn look(&mut self, text: &[u8]) {
        // Nothing can be learnt where there is no /proc.
        if text.is_empty() {
            return;
        }
        self.data.clear();
        maps(text, |start, end, _, data| {
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
            let is_known =
                |module: &Module| (module.start, module.end) == (mapping.start, mapping.end);
            if mapping.executable && !self.known.iter().any(is_known) {
                self.known.push(Module {
                    start: mapping.start,
                    end: mapping.end,
                    bias: current.map_or(0, |(_, bias)| bias),
                    path: mapping.path.to_vec(),
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
    os::read_all(b"/proc/thread-self/maps\0").unwrap_or_default()
}

/// The path of the executable.
pub fn executable() -> Vec<u8> {
    os::link(b"/proc/self/exe\0")
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

    #[test]
    fn a_child_that_cannot_look_tells_of_what_its_parent_knew() {
        let mut modules = Modules::default();
        modules.update(|_| {});
        let (known, is_data) = (modules.known.len(), modules.data.len());
        modules.forked();
        modules.look(b"");
        assert_eq!((modules.told, modules.known.len()), (0, known));
        assert_eq!(modules.data.len(), is_data);
        assert!(known > 0 && is_data > 0);
    }
}
