//! The functions that instrumented code calls.
//!
//! Each is a few instructions of assembly that add the address of the caller to the arguments and go on in Rust.
//! The symbols are weak: a program that defines one itself keeps its own.

pub mod annotations;
pub mod atomics;
pub mod large_atomics;
pub mod memory;
pub mod sanitizer;
mod system_calls;

/// Defines a symbol that goes on in a Rust function, with the caller's address as one more argument. The
/// number is how many arguments the symbol has without it.
macro_rules! export {
    ($($name:literal $arguments:tt => $target:path;)*) => {
        $($crate::hooks::export_one!($name, $arguments, $target);)*
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! export_one {
    (@ $name:expr, $target:path, $($code:literal),*) => {
        std::arch::global_asm!(
            concat!(".pushsection .text.deadheat,\"ax\",@progbits\n.weak ", $name, "\n.type ", $name,
                ",@function\n.p2align 4\n", $name, ":"),
            $($code,)*
            concat!(".size ", $name, ", . - ", $name, "\n.popsection"),
            target = sym $target,
        );
    };
    ($name:expr, 0, $target:path) => { $crate::hooks::export_one!(@ $name, $target, "mov rdi, [rsp]", "jmp {target}"); };
    ($name:expr, 1, $target:path) => { $crate::hooks::export_one!(@ $name, $target, "mov rsi, [rsp]", "jmp {target}"); };
    ($name:expr, 2, $target:path) => { $crate::hooks::export_one!(@ $name, $target, "mov rdx, [rsp]", "jmp {target}"); };
    ($name:expr, 3, $target:path) => { $crate::hooks::export_one!(@ $name, $target, "mov rcx, [rsp]", "jmp {target}"); };
    ($name:expr, 4, $target:path) => { $crate::hooks::export_one!(@ $name, $target, "mov r8, [rsp]", "jmp {target}"); };
    ($name:expr, 5, $target:path) => { $crate::hooks::export_one!(@ $name, $target, "mov r9, [rsp]", "jmp {target}"); };
    // Six words: the caller's address goes on the stack.
    ($name:expr, 6, $target:path) => { $crate::hooks::export_one!(@ $name, $target,
        "push qword ptr [rsp]", "call {target}", "add rsp, 8", "ret"); };
    // Seven words, the last on the stack already.
    ($name:expr, 7, $target:path) => { $crate::hooks::export_one!(@ $name, $target,
        "sub rsp, 8", "push qword ptr [rsp + 8]", "push qword ptr [rsp + 24]", "call {target}", "add rsp, 24", "ret"); };
    // As many as there are, and nothing more.
    ($name:expr, plain, $target:path) => { $crate::hooks::export_one!(@ $name, $target, "jmp {target}"); };
    // As many as there are; who calls is noted before.
    ($name:expr, noted, $target:path) => {
        std::arch::global_asm!(
            concat!(".pushsection .text.deadheat,\"ax\",@progbits\n.weak ", $name, "\n.type ", $name,
                ",@function\n.p2align 4\n", $name, ":"),
            "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "sub rsp, 8",
            "mov rdi, [rsp + 56]", "call {note}", "add rsp, 8",
            "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi", "jmp {target}",
            concat!(".size ", $name, ", . - ", $name, "\n.popsection"),
            note = sym $crate::interpose::openmp_entries::note_caller,
            target = sym $target,
        );
    };
    // As many as there are, for the function whose address the target gives.
    ($name:expr, before, $target:path) => { $crate::hooks::export_one!(@ $name, $target,
        "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "sub rsp, 8",
        "call {target}", "add rsp, 8",
        "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi", "jmp rax"); };
    // So many words and `...`: a list of the arguments, as `va_start` makes it, takes the place of the latter.
    ($name:expr, variadic1, $target:path) => { $crate::hooks::export_one!(@variadic $name, $target, "8", "rsi", "rdx"); };
    ($name:expr, variadic2, $target:path) => { $crate::hooks::export_one!(@variadic $name, $target, "16", "rdx", "rcx"); };
    ($name:expr, variadic3, $target:path) => { $crate::hooks::export_one!(@variadic $name, $target, "24", "rcx", "r8"); };
    (@variadic $name:expr, $target:path, $used:literal, $list:literal, $pc:literal) => {
        std::arch::global_asm!(
            concat!(".pushsection .text.deadheat,\"ax\",@progbits\n.weak ", $name, "\n.type ", $name,
                ",@function\n.p2align 4\n", $name, ":"),
            // Exceptions do not come through here, but stacks are looked at in signal handlers.
            ".cfi_startproc", "sub rsp, 216", ".cfi_adjust_cfa_offset 216",
            "mov [rsp + 32], rdi", "mov [rsp + 40], rsi", "mov [rsp + 48], rdx",
            "mov [rsp + 56], rcx", "mov [rsp + 64], r8", "mov [rsp + 72], r9",
            "test al, al", "je 2f",
            "movaps [rsp + 80], xmm0", "movaps [rsp + 96], xmm1", "movaps [rsp + 112], xmm2", "movaps [rsp + 128], xmm3",
            "movaps [rsp + 144], xmm4", "movaps [rsp + 160], xmm5", "movaps [rsp + 176], xmm6", "movaps [rsp + 192], xmm7",
            "2:",
            concat!("mov dword ptr [rsp], ", $used), "mov dword ptr [rsp + 4], 48",
            "lea rax, [rsp + 224]", "mov [rsp + 8], rax", "lea rax, [rsp + 32]", "mov [rsp + 16], rax",
            concat!("mov ", $list, ", rsp"), concat!("mov ", $pc, ", [rsp + 216]"),
            "call {target}", "add rsp, 216", ".cfi_adjust_cfa_offset -216", "ret", ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name, "\n.popsection"),
            target = sym $target,
        );
    };
    // Three words, and the stack pointer.
    ($name:expr, stack3, $target:path) => { $crate::hooks::export_one!(@ $name, $target, "mov rcx, rsp", "jmp {target}"); };
    // The stack pointer instead of the caller's address.
    ($name:expr, stack, $target:path) => { $crate::hooks::export_one!(@ $name, $target, "mov rsi, rsp", "jmp {target}"); };
}

pub(crate) use {export, export_one};
