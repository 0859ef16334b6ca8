//! What the symbol table calls a variable or a function, as the source spells it.

use std::borrow::Cow;

/// A name as people write it. C++'s and Rust's begin in ways of their own; any other is C's, and a `x` of C is not a mangled
/// `long long`.
pub fn demangled(name: &str) -> String {
    let language = match () {
        () if is_rust(name) => gimli::DW_LANG_Rust,
        () if name.starts_with("_Z") => gimli::DW_LANG_C_plus_plus,
        () => return name.to_string(),
    };
    match addr2line::demangle(name, language) {
        // Which of two layouts a type of GNU's library has is not part of a name that people write.
        Some(demangled) => demangled.replace("[abi:cxx11]", ""),
        None => addr2line::demangle_auto(Cow::from(name), None).into_owned(),
    }
}

/// A Fortran procedure's name as people write it: `_QMsumsPadd_up` to flang and `__sums_MOD_add_up` to gfortran is
/// `sums::add_up`. What both make of regions and tasks ends in `.omp_…`. None: it is no such name.
pub fn of_fortran(name: &str) -> Option<String> {
    let outlined = ["..omp_par", "._omp_fn."];
    let (name, region) = match outlined.iter().find_map(|mark| name.split_once(mark)) {
        Some((name, _)) => (name, ".omp_region"),
        None => (name, ""),
    };
    let plain = match name {
        "_QQmain" | "MAIN__" => "main program".to_string(),
        _ if name.starts_with("_Q") => {
            // Names in small letters, each behind a capital that says what it is the name of.
            let is_kind = |c: char| matches!(c, 'M' | 'S' | 'F' | 'P');
            let names = name[2..].strip_prefix(is_kind)?.split(is_kind);
            let names: Vec<&str> = names.collect();
            names.join("::")
        }
        _ => match name.strip_prefix("__")?.split_once("_MOD_") {
            Some((module, procedure)) => format!("{module}::{procedure}"),
            None => return None,
        },
    };
    Some(plain + region)
}

/// Rust's older names are spelt as C++'s are, and end in a hash.
fn is_rust(name: &str) -> bool {
    if name.starts_with("_R") {
        return true;
    }
    let hash = name
        .strip_prefix("_ZN")
        .and_then(|name| name.split('.').next())
        .and_then(|name| name.strip_suffix('E'))
        .and_then(|name| name.get(name.len().checked_sub(19)?..))
        .and_then(|hash| hash.strip_prefix("17h"));
    hash.is_some_and(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A variable's name as the source has it: a static local of C is `worker.count` to clang and `count.0` to gcc.
pub fn plain(symbol: &str) -> String {
    let name = demangled(symbol);
    if name != symbol {
        // An optimiser's part of a variable that it has taken apart.
        let whole = name.split(" [clone ").next().unwrap_or_default();
        return whole.replace("(anonymous namespace)::", "");
    }
    if name.starts_with('.') {
        return name;
    }
    match symbol.split_once('.') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            name.to_string()
        }
        // What a pointer points to all its life, which clang makes a variable of.
        Some((pointer, "body")) => format!("*{pointer}"),
        Some((_, name)) if !name.is_empty() => plain(name),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_the_source_has_them() {
        for (symbol, name) in [
            ("x", "x"),
            ("count.0", "count"),
            ("worker.count", "count"),
            ("worker.count.3", "count"),
            ("only.body", "*only"),
            ("_ZN4bank5totalE", "bank::total"),
            ("_ZN12_GLOBAL__N_17counterE", "counter"),
            ("_ZN4bank12_GLOBAL__N_17counterE", "bank::counter"),
            ("_ZN5CacheIjLi4EE4hitsE", "Cache<unsigned int, 4>::hits"),
            ("_ZN4demo7COUNTER17h0123456789abcdefE", "demo::COUNTER"),
            ("_ZN4bank5totalE.0", "bank::total"),
            (".L.str", ".L.str"),
        ] {
            assert_eq!(plain(symbol), name);
        }
    }

    #[test]
    fn procedures_of_fortran_are_called_as_their_modules_have_them() {
        for (name, plain) in [
            ("_QQmain", "main program"),
            ("_QQmain..omp_par.1", "main program.omp_region"),
            ("_QMsumsPadd_up", "sums::add_up"),
            ("_QFhostPstep", "host::step"),
            ("__sums_MOD_add_up", "sums::add_up"),
            ("MAIN__._omp_fn.0", "main program.omp_region"),
        ] {
            assert_eq!(of_fortran(name).as_deref(), Some(plain));
        }
        for name in ["main", "__libc_start_main", "_Q", "fib_", "main._omp_fn.0"] {
            assert_eq!(of_fortran(name), None);
        }
    }

    #[test]
    fn what_looks_like_rust_may_be_cxx() {
        assert!(is_rust("_ZN4demo7COUNTER17h0123456789abcdefE"));
        assert!(!is_rust("_ZN4demo7COUNTERE"));
        assert!(!is_rust("_ZN1aE"));
        assert_eq!(demangled("_Znwm"), "operator new(unsigned long)");
    }
}
