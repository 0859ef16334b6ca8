//! What the C++ library (GNU's) does out of sight: it links the nodes of lists, maps and sets, and all its streams are
//! compiled into it.
//!
//! The linker is asked to lead calls of these functions here first (`--wrap`). Where it cannot (link-time optimisation, a library
//! that becomes part of the executable), they are not seen. They tell of what they read and write by the rules of the C++ standard: a
//! container that is changed, or a stream that is used, is the user's to keep apart.

use super::memory::{reads, writes};
use super::strings::reads_text;
use crate::openmp::strand::Shared;
use crate::order::sync;
use crate::order::thread::enter;
use crate::platform::optional_symbol::optional_symbol;

/// Defines what is called before a function of the C++ library: a Rust function that gets its first four words,
/// the caller's address, and where these words are kept: what it leaves there is what the function gets.
macro_rules! before {
    ($($target:path: $($name:literal)*;)*) => {
        $($(
            std::arch::global_asm!(
                concat!(".pushsection .text.deadheat,\"ax\",@progbits\n.weak __real_", $name, "\n.globl __wrap_", $name,
                    "\n.hidden __wrap_", $name, "\n.type __wrap_", $name, ",@function\n.p2align 4\n__wrap_", $name, ":"),
                "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "sub rsp, 24",
                "movups [rsp], xmm0", "mov r8, [rsp + 72]", "lea r9, [rsp + 24]", "call {target}", "movups xmm0, [rsp]", "add rsp, 24",
                "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                concat!("jmp qword ptr [rip + __real_", $name, "@GOTPCREL]"),
                concat!(".size __wrap_", $name, ", . - __wrap_", $name, "\n.popsection"),
                target = sym $target,
            );
        )*)*
    };
}

pub(super) use before;

/// A node of a tree: its colour, its parent, and its children. The one before the root has the first and the last
/// node as children.
const NODE: usize = 32;
const ROOT: usize = 8;
const LEFT: usize = 16;
const RIGHT: usize = 24;

/// Who looks something up reads the root; who iterates begins at the first or the last node.
fn changes_tree(header: usize, pc: usize) {
    writes(header + ROOT, NODE - ROOT, pc);
}

extern "C" fn inserts(left: usize, node: usize, parent: usize, header: usize, pc: usize) {
    writes(node, NODE, pc);
    writes(parent + if left as u8 != 0 { LEFT } else { RIGHT }, 8, pc);
    changes_tree(header, pc);
}

extern "C" fn erases(node: usize, header: usize, _: usize, _: usize, pc: usize) {
    reads(node, NODE, pc);
    changes_tree(header, pc);
}

extern "C" fn steps(node: usize, _: usize, _: usize, _: usize, pc: usize) {
    reads(node + ROOT, NODE - ROOT, pc);
}

/// The neighbours of a list's node.
fn neighbours(node: usize) -> [usize; 2] {
    // SAFETY: a node that the program passes to the library, which follows the same links.
    unsafe { *(node as *const [usize; 2]) }
}

const PREVIOUS: usize = 8;

extern "C" fn hooks(node: usize, position: usize, _: usize, _: usize, pc: usize) {
    writes(node, 16, pc);
    writes(position + PREVIOUS, 8, pc);
    writes(neighbours(position)[1], 8, pc);
}

extern "C" fn unhooks(node: usize, _: usize, _: usize, _: usize, pc: usize) {
    reads(node, 16, pc);
    let [next, previous] = neighbours(node);
    writes(next + PREVIOUS, 8, pc);
    writes(previous, 8, pc);
}

extern "C" fn transfers(position: usize, first: usize, last: usize, _: usize, pc: usize) {
    for node in [position, first, last] {
        writes(node + PREVIOUS, 8, pc);
    }
}

extern "C" fn swaps(a: usize, b: usize, _: usize, _: usize, pc: usize) {
    writes(a, 16, pc);
    writes(b, 16, pc);
}

extern "C" fn reverses(list: usize, _: usize, _: usize, _: usize, pc: usize) {
    writes(list, 16, pc);
}

before! {
    inserts: "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_";
    erases: "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_";
    steps: "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base" "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base"
        "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base" "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base";
    hooks: "_ZNSt8__detail15_List_node_base7_M_hookEPS0_";
    unhooks: "_ZNSt8__detail15_List_node_base9_M_unhookEv";
    transfers: "_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_";
    swaps: "_ZNSt8__detail15_List_node_base4swapERS0_S1_";
    reverses: "_ZNSt8__detail15_List_node_base10_M_reverseEv";
}

/// The futures that become ready when a thread ends: the thread, and where a future says that it is.
static READY_AT_END: Shared<Option<Vec<(u32, usize)>>> = Shared::empty();

/// A promise of this thread's is to be kept at its end. What says so points to what the promise and its future share.
extern "C" fn ready_at_end(what: usize, _: usize, _: usize, _: usize, _: usize) {
    const SHARED: usize = 16;
    const STATUS: usize = 16;
    if let Some(entered) = enter() {
        // SAFETY: the library follows the same pointer.
        let status = unsafe { *((what + SHARED) as *const usize) } + STATUS;
        let id = entered.thread().id;
        READY_AT_END.with(|ready| ready.get_or_insert_default().push((id, status)));
    }
}

/// The running thread ends; its thread-local variables have.
pub fn thread_ends() {
    let Some(entered) = enter() else { return };
    let id = entered.thread().id;
    drop(entered);
    let own = READY_AT_END.with(|ready| {
        let own = |ready: &mut (u32, usize)| ready.0 == id;
        ready
            .as_mut()
            .map(|ready| ready.extract_if(.., own).collect::<Vec<_>>())
    });
    for (_, status) in own.into_iter().flatten() {
        sync::release_more(status, 0);
    }
}

before! {
    ready_at_end: "_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv";
}

/// The standard streams and their sizes: threads may share them. Those that the program does not have are at 0: all, in C.
pub fn standard_streams() -> [(usize, usize); 4] {
    const OUTPUT: usize = 272;
    const INPUT: usize = 280;
    [
        (optional_symbol!("_ZSt4cout"), OUTPUT),
        (optional_symbol!("_ZSt4cerr"), OUTPUT),
        (optional_symbol!("_ZSt4clog"), OUTPUT),
        (optional_symbol!("_ZSt3cin"), INPUT),
    ]
}

/// A stream is used: at least the width of its next field changes.
fn uses(stream: usize, pc: usize) {
    /// Where the table of virtual functions says how far it is to what all streams have in common.
    const COMMON: usize = 24;
    const WIDTH: usize = 16;
    if !standard_streams()
        .iter()
        .any(|(standard, _)| *standard == stream)
    {
        // SAFETY: a stream that the program passes to the library, which does the same.
        let common = unsafe { *((*(stream as *const usize) - COMMON) as *const usize) };
        writes(stream.wrapping_add(common).wrapping_add(WIDTH), 8, pc);
    }
}

extern "C" fn uses_stream(stream: usize, _: usize, _: usize, _: usize, pc: usize) {
    uses(stream, pc);
}

extern "C" fn outputs_text(stream: usize, text: usize, _: usize, _: usize, pc: usize) {
    if text != 0 {
        reads_text(text, pc);
    }
    uses(stream, pc);
}

extern "C" fn outputs_bytes(stream: usize, from: usize, size: usize, _: usize, pc: usize) {
    reads(from, size, pc);
    uses(stream, pc);
}

extern "C" fn outputs_string(stream: usize, string: usize, _: usize, _: usize, pc: usize) {
    reads(string, 16, pc);
    // SAFETY: a string, which begins with its address and its length.
    let [text, length] = unsafe { *(string as *const [usize; 2]) };
    reads(text, length, pc);
    uses(stream, pc);
}

/// Input for a string, of which at least the length changes.
extern "C" fn inputs_string(stream: usize, string: usize, _: usize, _: usize, pc: usize) {
    writes(string, 16, pc);
    uses(stream, pc);
}

extern "C" fn inputs_8(stream: usize, to: usize, _: usize, _: usize, pc: usize) {
    writes(to, 8, pc);
    uses(stream, pc);
}

extern "C" fn inputs_4(stream: usize, to: usize, _: usize, _: usize, pc: usize) {
    writes(to, 4, pc);
    uses(stream, pc);
}

before! {
    uses_stream: "_ZNSolsEb" "_ZNSolsEd" "_ZNSolsEe" "_ZNSolsEf" "_ZNSolsEi" "_ZNSolsEj" "_ZNSolsEl" "_ZNSolsEm"
        "_ZNSolsEs" "_ZNSolsEt" "_ZNSolsEx" "_ZNSolsEy" "_ZNSolsEPKv"
        "_ZNSo9_M_insertIPKvEERSoT_" "_ZNSo9_M_insertIbEERSoT_" "_ZNSo9_M_insertIdEERSoT_" "_ZNSo9_M_insertIeEERSoT_"
        "_ZNSo9_M_insertIlEERSoT_" "_ZNSo9_M_insertImEERSoT_" "_ZNSo9_M_insertIxEERSoT_" "_ZNSo9_M_insertIyEERSoT_"
        "_ZNSo3putEc" "_ZNSo5flushEv" "_ZNSi3getEv" "_ZNSi4readEPcl" "_ZNSi7getlineEPcl" "_ZNSi7getlineEPclc"
        "_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_"
        "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c";
    outputs_text: "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc";
    outputs_bytes: "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l" "_ZNSo5writeEPKcl";
    outputs_string: "_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE";
    inputs_string: "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE"
        "_ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EES4_"
        "_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE";
    inputs_8: "_ZNSi10_M_extractIdEERSiRT_" "_ZNSi10_M_extractIlEERSiRT_" "_ZNSi10_M_extractImEERSiRT_"
        "_ZNSi10_M_extractIxEERSiRT_" "_ZNSi10_M_extractIyEERSiRT_";
    inputs_4: "_ZNSi10_M_extractIfEERSiRT_" "_ZNSi10_M_extractIjEERSiRT_" "_ZNSirsERi";
}
