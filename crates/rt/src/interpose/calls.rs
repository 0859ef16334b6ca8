//! Functions of the C library that only read and write what the program points at.

/// Defines functions that do something before and after the real one, and exports them. What one reads is told before the
/// real function is called, what it has written after. Arguments and results are words: what is narrower is looked at as such,
/// and passed on as it came.
///
/// The parentheses name the return address of the call, and the result, for the blocks to use. `unless` says of which calls
/// nothing is told.
///
/// ```text
/// calls! { (pc, result)
///     getcwd(to, size) {} { if result != 0 { writes_text(to, pc) } };
/// }
/// calls! { (pc, result) unless(is_internal(pc))
///     pthread_mutex_lock(lock) {} { got_mutex(lock, result, pc) };
///     pthread_mutex_unlock(lock) { gives_mutex(lock, pc) } {};
/// }
/// ```
macro_rules! calls {
    (
        ($pc:ident, $result:ident) unless($skips:expr)
        $($name:ident($($argument:ident),*) { $($before:tt)* } { $($after:tt)* };)*
    ) => {
        $(
            unsafe extern "C" fn $name($($argument: usize,)* $pc: usize) -> usize {
                let tells = !$skips;
                if tells {
                    { $($before)* };
                }
                // SAFETY: the program's own call.
                let $result = unsafe {
                    $crate::interpose::real::real!($name: fn($($crate::interpose::calls::word!($argument)),*) -> usize)($($argument),*)
                };
                if tells {
                    { $($after)* };
                }
                $result
            }
            $crate::interpose::calls::export_words!($name, $($argument)*);
        )*
    };
    (($pc:ident, $result:ident) $($calls:tt)*) => {
        $crate::interpose::calls::calls! { ($pc, $result) unless({ let _ = $pc; false }) $($calls)* }
    };
}

macro_rules! word {
    ($argument:ident) => {
        usize
    };
}

/// Exports a function with as many words as there are names.
macro_rules! export_words {
    ($name:ident,) => {
        $crate::hooks::export_one!(stringify!($name), 0, $name);
    };
    ($name:ident, $a:ident) => {
        $crate::hooks::export_one!(stringify!($name), 1, $name);
    };
    ($name:ident, $a:ident $b:ident) => {
        $crate::hooks::export_one!(stringify!($name), 2, $name);
    };
    ($name:ident, $a:ident $b:ident $c:ident) => {
        $crate::hooks::export_one!(stringify!($name), 3, $name);
    };
    ($name:ident, $a:ident $b:ident $c:ident $d:ident) => {
        $crate::hooks::export_one!(stringify!($name), 4, $name);
    };
    ($name:ident, $a:ident $b:ident $c:ident $d:ident $e:ident) => {
        $crate::hooks::export_one!(stringify!($name), 5, $name);
    };
    ($name:ident, $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident) => {
        $crate::hooks::export_one!(stringify!($name), 6, $name);
    };
}

pub(crate) use {calls, export_words, word};

/// Whether a function that gives a number says that it went well.
pub fn went_well(result: usize) -> bool {
    result as i32 == 0
}

/// How many bytes or things a function says that it has dealt with; none if it failed.
pub fn count(result: usize) -> usize {
    usize::try_from(result as isize).unwrap_or(0)
}
