//! Which local names are still needed at an address, judged from the text.
//!
//! A name that no path from here reads before it is bound again is dead: what it holds makes no
//! difference, and must not make two states differ. Computed once per program, as the least
//! fixpoint over its control flow.

use crate::code::{Address, Code, Instruction};

/// Names in slots from here on, and programs longer than [`MAX_INSTRUCTIONS`], are taken to be live
/// everywhere.
const SLOTS: u32 = 64;
const MAX_INSTRUCTIONS: usize = 200_000;

/// The live slots of the frame at each address, a bit each. Empty when the program is too long.
pub(crate) fn live_slots(code: &Code) -> Vec<u64> {
    if code.instructions.len() > MAX_INSTRUCTIONS {
        return Vec::new();
    }
    let mut live = vec![0u64; code.instructions.len()];
    loop {
        let mut changed = false;
        for address in (0..live.len()).rev() {
            let now = before(code.instructions[address], address, &live);
            changed |= now != live[address];
            live[address] = now;
        }
        if !changed {
            return live;
        }
    }
}

/// What is live before an instruction, from what is live before those that may come next.
fn before(instruction: Instruction, address: usize, live: &[u64]) -> u64 {
    let at = |to: Address| live.get(to as usize).copied().unwrap_or(0);
    let next = at(address as Address + 1);
    let bit = |slot: u32| match slot < SLOTS {
        true => 1u64 << slot,
        false => 0,
    };
    match instruction {
        Instruction::Load(slot) | Instruction::Increment(slot) => next | bit(slot),
        Instruction::Bind(slot) => next & !bit(slot),
        Instruction::LoopTest {
            counter,
            bound,
            exit,
        } => next | at(exit) | bit(counter) | bit(bound),
        Instruction::Jump(to) => at(to),
        Instruction::JumpIf(to, _) | Instruction::JumpUnless(to, _) => next | at(to),
        // The child starts with a copy of the frame.
        Instruction::Start { body, .. } => next | at(body),
        Instruction::Return(_) | Instruction::End(_) => 0,
        _ => next,
    }
}
