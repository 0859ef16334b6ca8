//! Local computation: the instructions that follow a step and touch nothing but the strand that runs
//! them.

use deadheat_model::{Site, Strand};

use super::state::{Frame, StrandState};
use super::{ErrorKind, Machine, RuntimeError};
use crate::code::{Instruction, Requirement, Value};
use crate::syntax::ast::{BinaryOperator, UnaryOperator};

/// How many values a strand's stack may hold: what stops a recursion without end.
const MAX_STACK: usize = 1 << 18;
/// How many local instructions a strand runs before others get a turn.
const LOCAL_RUN: u32 = 100_000;
/// How many local instructions cost as much as a step: a long computation is not to outlast a
/// bound on steps.
const LOCAL_PER_STEP: u64 = 100;

impl Machine<'_> {
    /// Runs local instructions up to the strand's next step, or the end of its turn. Gives what that
    /// cost, in steps.
    pub(super) fn run_local(&self, strand_state: &mut StrandState, strand: Strand) -> u64 {
        let mut run = 0;
        while run < LOCAL_RUN {
            run += 1;
            match self.local(strand_state) {
                Ok(true) => {}
                Ok(false) => break,
                Err((kind, site)) => {
                    strand_state.failure = Some(Box::new(RuntimeError { kind, site, strand }));
                    break;
                }
            }
        }
        self.settle(strand_state);
        u64::from(run) / LOCAL_PER_STEP
    }

    /// Runs one instruction if it is local; says whether it was.
    fn local(&self, strand_state: &mut StrandState) -> Result<bool, (ErrorKind, Site)> {
        let base = strand_state.base();
        let mut next = strand_state.pc + 1;
        match self.next_instruction(strand_state) {
            Instruction::Push(value) => strand_state.stack.push(value),
            Instruction::Load(slot) => strand_state
                .stack
                .push(strand_state.stack[base + slot as usize]),
            Instruction::Bind(slot) => {
                let value = strand_state.pop();
                strand_state.stack[base + slot as usize] = value;
            }
            Instruction::Unary(operator, site) => {
                let operand = int_of(strand_state.pop(), site)?;
                strand_state.stack.push(Value::Int(match operator {
                    UnaryOperator::Not => (operand == 0) as i64,
                    UnaryOperator::Negate => operand.wrapping_neg(),
                }));
            }
            Instruction::Binary(operator, site) => {
                let right = strand_state.pop();
                let left = strand_state.pop();
                strand_state
                    .stack
                    .push(binary(operator, left, right, site)?);
            }
            Instruction::Jump(to) => next = to,
            Instruction::JumpIf(to, site) => {
                if int_of(strand_state.pop(), site)? != 0 {
                    next = to;
                }
            }
            Instruction::JumpUnless(to, site) => {
                if int_of(strand_state.pop(), site)? == 0 {
                    next = to;
                }
            }
            Instruction::Element { base, length, site } => {
                let index = int_of(strand_state.pop(), site)?;
                if index < 0 || index >= i64::from(length) {
                    return Err((ErrorKind::IndexOutOfRange { index, length }, site));
                }
                strand_state.stack.push(Value::Cell(base + index as u32));
            }
            Instruction::Check(wanted, site) => {
                let found = strand_state.top();
                if !wanted.accepts(found) {
                    return Err((unfit(wanted, found), site));
                }
            }
            Instruction::CheckInt(site) => {
                int_of(strand_state.top(), site)?;
            }
            Instruction::LoopTest {
                counter,
                bound,
                exit,
            } => {
                let counter = strand_state.stack[base + counter as usize];
                let bound = strand_state.stack[base + bound as usize];
                if let (Value::Int(counter), Value::Int(bound)) = (counter, bound)
                    && counter >= bound
                {
                    next = exit;
                }
            }
            Instruction::Increment(slot) => {
                if let Value::Int(counter) = &mut strand_state.stack[base + slot as usize] {
                    *counter = counter.wrapping_add(1);
                }
            }
            Instruction::Assert(site) => {
                if int_of(strand_state.pop(), site)? == 0 {
                    return Err((ErrorKind::AssertionFailed, site));
                }
            }
            Instruction::Call { procedure, site } => {
                let procedure = self.code.procedures[procedure as usize];
                let base = strand_state.stack.len() - procedure.parameters as usize;
                let top = base + procedure.slots as usize;
                if top.max(strand_state.frames.len()) > MAX_STACK {
                    return Err((ErrorKind::CallsTooDeep, site));
                }
                strand_state.stack.resize(top, Value::Int(0));
                strand_state.frames.push(Frame {
                    return_to: next,
                    base: base as u32,
                });
                next = procedure.entry;
            }
            Instruction::Return(_) if strand_state.frames.len() > 1 => {
                if let Some(frame) = strand_state.frames.pop() {
                    strand_state.stack.truncate(frame.base as usize);
                    next = frame.return_to;
                }
            }
            _ => return Ok(false),
        }
        strand_state.pc = next;
        Ok(true)
    }
}

fn int_of(value: Value, site: Site) -> Result<i64, (ErrorKind, Site)> {
    match value {
        Value::Int(value) => Ok(value),
        other => Err((
            ErrorKind::WrongKind {
                wanted: "a number",
                found: other.description(),
            },
            site,
        )),
    }
}

fn unfit(wanted: Requirement, found: Value) -> ErrorKind {
    ErrorKind::WrongKind {
        wanted: wanted.description(),
        found: found.description(),
    }
}

fn binary(
    operator: BinaryOperator,
    left: Value,
    right: Value,
    site: Site,
) -> Result<Value, (ErrorKind, Site)> {
    use BinaryOperator::*;
    match operator {
        Equal => return Ok(Value::Int((left == right) as i64)),
        NotEqual => return Ok(Value::Int((left != right) as i64)),
        _ => {}
    }
    let (left, right) = (int_of(left, site)?, int_of(right, site)?);
    if matches!(operator, Divide | Remainder) && right == 0 {
        return Err((ErrorKind::DivisionByZero, site));
    }
    Ok(Value::Int(match operator {
        Add => left.wrapping_add(right),
        Subtract => left.wrapping_sub(right),
        Multiply => left.wrapping_mul(right),
        Divide => left.wrapping_div(right),
        Remainder => left.wrapping_rem(right),
        Less => (left < right) as i64,
        LessEqual => (left <= right) as i64,
        Greater => (left > right) as i64,
        GreaterEqual => (left >= right) as i64,
        And | Or | Equal | NotEqual => unreachable!("compiled to jumps or decided above"),
    }))
}
