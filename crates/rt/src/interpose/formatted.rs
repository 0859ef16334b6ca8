//! Formatted output and input: the strings that a format names are read, and what it fills in is written.
//!
//! The functions with `...` collect their arguments as those with a list of them get it, and go on there. A format that
//! numbers its arguments (`%1$s`) or has a directive that nobody here knows is looked at up to there.

use std::ffi::c_int;

use super::descriptors;
use super::memory::writes;
use super::open_files::sends;
use super::real::real;
use super::streams::{has_input, outputs};
use super::strings::{reads_text, reads_text_up_to, writes_text};
use crate::hooks::export;

/// A list of arguments, as the ABI of x86-64 has it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Arguments {
    words_used: u32,
    floats_used: u32,
    on_stack: usize,
    in_registers: usize,
}

const WORDS_END: u32 = 6 * 8;
const FLOATS_END: u32 = WORDS_END + 8 * 16;

impl Arguments {
    /// The next argument that is not a floating-point number.
    unsafe fn word(&mut self) -> usize {
        let at = match self.words_used < WORDS_END {
            true => {
                self.words_used += 8;
                self.in_registers + self.words_used as usize - 8
            }
            false => self.next_on_stack(8, 8),
        };
        // SAFETY: an argument that the program gave.
        unsafe { *(at as *const usize) }
    }

    fn skip_float(&mut self) {
        match self.floats_used < FLOATS_END {
            true => self.floats_used += 16,
            false => _ = self.next_on_stack(8, 8),
        }
    }

    fn skip_long_double(&mut self) {
        self.next_on_stack(16, 16);
    }

    fn next_on_stack(&mut self, size: usize, alignment: usize) -> usize {
        let at = self.on_stack.next_multiple_of(alignment);
        self.on_stack = at + size;
        at
    }
}

/// What comes between a `%` and its letter.
#[derive(Default)]
struct Directive {
    /// `*` instead of a width: in output an argument, in input nothing is filled in.
    star: bool,
    width: Option<usize>,
    precision: Option<usize>,
    precision_is_argument: bool,
    /// `m`: input allocates.
    allocates: bool,
    /// How many bytes an integer has.
    integer: usize,
    long: bool,
    long_double: bool,
    letter: u8,
}

/// The directives of a format, in order.
struct Format {
    at: *const u8,
    input: bool,
}

impl Format {
    fn peek(&self) -> u8 {
        // SAFETY: a string of C, whose end is never passed.
        unsafe { *self.at }
    }

    fn next_if(&mut self, accept: impl Fn(u8) -> bool) -> Option<u8> {
        let byte = self.peek();
        (byte != 0 && accept(byte)).then(|| {
            // SAFETY: the end has not been reached.
            self.at = unsafe { self.at.add(1) };
            byte
        })
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit) = self.next_if(|byte| byte.is_ascii_digit()) {
            let so_far: usize = number.unwrap_or(0);
            number = Some(
                so_far
                    .saturating_mul(10)
                    .saturating_add(usize::from(digit - b'0')),
            );
        }
        number
    }

    /// A set of letters, up to its bracket: `]` and `^]` may begin it.
    fn skip_set(&mut self) {
        self.next_if(|byte| byte == b'^');
        self.next_if(|byte| byte == b']');
        while self.next_if(|byte| byte != b']').is_some() {}
        self.next_if(|byte| byte == b']');
    }
}

impl Iterator for Format {
    type Item = Directive;

    fn next(&mut self) -> Option<Directive> {
        while self.next_if(|byte| byte != b'%').is_some() {}
        self.next_if(|byte| byte == b'%')?;
        let mut directive = Directive {
            integer: 4,
            ..Directive::default()
        };
        if self.input {
            directive.star = self.next_if(|byte| byte == b'*').is_some();
        } else {
            while self.next_if(|byte| b"-+ #0'I".contains(&byte)).is_some() {}
            directive.star = self.next_if(|byte| byte == b'*').is_some();
        }
        directive.width = self.number();
        if self.peek() == b'$' {
            return None;
        }
        if !self.input && self.next_if(|byte| byte == b'.').is_some() {
            directive.precision_is_argument = self.next_if(|byte| byte == b'*').is_some();
            directive.precision = Some(self.number().unwrap_or(0));
        }
        directive.allocates = self.input && self.next_if(|byte| byte == b'm').is_some();
        while let Some(length) = self.next_if(|byte| b"hlqLjztZ".contains(&byte)) {
            match length {
                b'h' => directive.integer /= 2,
                b'L' => (directive.integer, directive.long_double) = (8, true),
                _ => (directive.integer, directive.long) = (8, length == b'l'),
            }
        }
        directive.letter = self.next_if(|_| true)?;
        if self.input && directive.letter == b'[' {
            self.skip_set();
        }
        Some(directive)
    }
}

/// What formatted output reads, and the little that it writes.
unsafe fn reads_format(format: usize, arguments: *const Arguments, pc: usize) {
    reads_text(format, pc);
    // SAFETY: the arguments that the program gave for this format. The list itself is for the real function.
    unsafe {
        let mut arguments = *arguments;
        let format = Format {
            at: format as *const u8,
            input: false,
        };
        for directive in format {
            if directive.star {
                arguments.word();
            }
            let precision = match directive.precision_is_argument {
                // A negative one counts as none.
                true => usize::try_from(arguments.word() as c_int).ok(),
                false => directive.precision,
            };
            match directive.letter {
                b'%' | b'm' => {}
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'b' | b'B' | b'c' | b'C' | b'p' => {
                    arguments.word();
                }
                b's' => match (arguments.word(), precision) {
                    (0, _) => {}
                    (_, _) if directive.long => {}
                    (text, None) => reads_text(text, pc),
                    (text, Some(most)) => reads_text_up_to(text, most, pc),
                },
                b'n' => writes(arguments.word(), directive.integer, pc),
                b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' if directive.long_double => {
                    arguments.skip_long_double();
                }
                b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' => arguments.skip_float(),
                _ => return,
            }
        }
    }
}

/// What formatted input has written, of which it says how many it has filled in.
unsafe fn has_filled(format: usize, arguments: *const Arguments, filled: c_int, pc: usize) {
    reads_text(format, pc);
    let mut left = filled;
    // SAFETY: the arguments that the program gave for this format.
    unsafe {
        let mut arguments = *arguments;
        let format = Format {
            at: format as *const u8,
            input: true,
        };
        for directive in format {
            if directive.star || directive.letter == b'%' {
                continue;
            }
            if left <= 0 && directive.letter != b'n' {
                return;
            }
            left -= c_int::from(directive.letter != b'n');
            let at = arguments.word();
            match directive.letter {
                _ if directive.allocates => writes(at, 8, pc),
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'n' => writes(at, directive.integer, pc),
                b'p' => writes(at, 8, pc),
                b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' => {
                    let size = if directive.long_double {
                        16
                    } else {
                        directive.integer
                    };
                    writes(at, size, pc);
                }
                b'c' if !directive.long => writes(at, directive.width.unwrap_or(1), pc),
                b's' | b'[' if !directive.long => writes_text(at, pc),
                b'c' | b's' | b'[' => {}
                _ => return,
            }
        }
    }
}

/// A text has been written, of which no more than so much fits.
fn has_written(to: usize, size: usize, result: c_int, pc: usize) {
    if let Ok(length) = usize::try_from(result) {
        writes(to, size.min(length + 1), pc);
    }
}

type List = *mut Arguments;

unsafe extern "C" fn vprintf(format: usize, list: List, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    unsafe {
        reads_format(format, list, pc);
        real!(vprintf: fn(usize, List) -> c_int)(format, list)
    }
}

unsafe extern "C" fn vfprintf(stream: usize, format: usize, list: List, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    unsafe {
        reads_format(format, list, pc);
        outputs(stream, pc);
        real!(vfprintf: fn(usize, usize, List) -> c_int)(stream, format, list)
    }
}

unsafe extern "C" fn vdprintf(file: c_int, format: usize, list: List, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    unsafe {
        reads_format(format, list, pc);
        descriptors::uses(file, pc);
        sends(file);
        real!(vdprintf: fn(c_int, usize, List) -> c_int)(file, format, list)
    }
}

unsafe extern "C" fn vsprintf(to: usize, format: usize, list: List, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    unsafe {
        reads_format(format, list, pc);
        let result = real!(vsprintf: fn(usize, usize, List) -> c_int)(to, format, list);
        has_written(to, usize::MAX, result, pc);
        result
    }
}

unsafe extern "C" fn vsnprintf(
    to: usize,
    size: usize,
    format: usize,
    list: List,
    pc: usize,
) -> c_int {
    // SAFETY: the program's own call.
    unsafe {
        reads_format(format, list, pc);
        let result =
            real!(vsnprintf: fn(usize, usize, usize, List) -> c_int)(to, size, format, list);
        has_written(to, size, result, pc);
        result
    }
}

unsafe extern "C" fn vasprintf(to: usize, format: usize, list: List, pc: usize) -> c_int {
    // SAFETY: the program's own call.
    unsafe {
        reads_format(format, list, pc);
        writes(to, 8, pc);
        real!(vasprintf: fn(usize, usize, List) -> c_int)(to, format, list)
    }
}

unsafe extern "C" fn vswprintf(
    to: usize,
    size: usize,
    format: usize,
    list: List,
    pc: usize,
) -> c_int {
    // SAFETY: the program's own call.
    unsafe {
        let result =
            real!(vswprintf: fn(usize, usize, usize, List) -> c_int)(to, size, format, list);
        if let Ok(length) = usize::try_from(result) {
            writes(to, size.min(length + 1) * 4, pc);
        }
        result
    }
}

/// Functions of formatted input, of the C standard before C99, of C99 and of C23.
macro_rules! scans {
    ($($standard:ident: $scanf:ident $fscanf:ident $sscanf:ident;)*) => {$(
        mod $standard {
            use super::*;

            pub unsafe extern "C" fn $scanf(format: usize, list: List, pc: usize) -> c_int {
                // SAFETY: the program's own call; the real function uses up the list.
                unsafe {
                    let given = *list;
                    let result = real!($scanf: fn(usize, List) -> c_int)(format, list);
                    has_filled(format, &given, result, pc);
                    result
                }
            }

            pub unsafe extern "C" fn $fscanf(stream: usize, format: usize, list: List, pc: usize) -> c_int {
                // SAFETY: as above.
                unsafe {
                    let given = *list;
                    let result = real!($fscanf: fn(usize, usize, List) -> c_int)(stream, format, list);
                    has_input(stream, pc);
                    has_filled(format, &given, result, pc);
                    result
                }
            }

            pub unsafe extern "C" fn $sscanf(text: usize, format: usize, list: List, pc: usize) -> c_int {
                // SAFETY: as above.
                unsafe {
                    reads_text(text, pc);
                    let given = *list;
                    let result = real!($sscanf: fn(usize, usize, List) -> c_int)(text, format, list);
                    has_filled(format, &given, result, pc);
                    result
                }
            }
        }
    )*};
}

scans! {
    first: vscanf vfscanf vsscanf;
    c99: __isoc99_vscanf __isoc99_vfscanf __isoc99_vsscanf;
    c23: __isoc23_vscanf __isoc23_vfscanf __isoc23_vsscanf;
}

export! {
    "vprintf" 2 => vprintf;
    "vfprintf" 3 => vfprintf;
    "vdprintf" 3 => vdprintf;
    "vsprintf" 3 => vsprintf;
    "vsnprintf" 4 => vsnprintf;
    "vasprintf" 3 => vasprintf;
    "vswprintf" 4 => vswprintf;
    "printf" variadic1 => vprintf;
    "fprintf" variadic2 => vfprintf;
    "dprintf" variadic2 => vdprintf;
    "sprintf" variadic2 => vsprintf;
    "snprintf" variadic3 => vsnprintf;
    "asprintf" variadic2 => vasprintf;
    "swprintf" variadic3 => vswprintf;
    "vscanf" 2 => first::vscanf;
    "vfscanf" 3 => first::vfscanf;
    "vsscanf" 3 => first::vsscanf;
    "scanf" variadic1 => first::vscanf;
    "fscanf" variadic2 => first::vfscanf;
    "sscanf" variadic2 => first::vsscanf;
    "__isoc99_vscanf" 2 => c99::__isoc99_vscanf;
    "__isoc99_vfscanf" 3 => c99::__isoc99_vfscanf;
    "__isoc99_vsscanf" 3 => c99::__isoc99_vsscanf;
    "__isoc99_scanf" variadic1 => c99::__isoc99_vscanf;
    "__isoc99_fscanf" variadic2 => c99::__isoc99_vfscanf;
    "__isoc99_sscanf" variadic2 => c99::__isoc99_vsscanf;
    "__isoc23_vscanf" 2 => c23::__isoc23_vscanf;
    "__isoc23_vfscanf" 3 => c23::__isoc23_vfscanf;
    "__isoc23_vsscanf" 3 => c23::__isoc23_vsscanf;
    "__isoc23_scanf" variadic1 => c23::__isoc23_vscanf;
    "__isoc23_fscanf" variadic2 => c23::__isoc23_vfscanf;
    "__isoc23_sscanf" variadic2 => c23::__isoc23_vsscanf;
}
