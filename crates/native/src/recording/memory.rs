//! What memory is called: by the global, the block, the mapping or the stack that it belongs to at the time.

use std::collections::BTreeMap;

use deadheat_model::finding::Variable;

use crate::findings::Process;
use crate::symbols::{HeapContent, Symbols};

/// The pieces of memory that there are.
#[derive(Default)]
pub struct Memory {
    /// By where they begin. They do not overlap.
    pieces: BTreeMap<u64, Piece>,
    blocks: u64,
    mappings: u64,
    tasks: u64,
}

struct Piece {
    end: u64,
    name: Name,
}

enum Name {
    /// A block of the heap: which, of how many bytes, and what it holds.
    Block(u64, u64, Option<HeapContent>),
    Other(String),
}

impl Name {
    /// What a byte of the piece is called, where `size` bytes are one location. Blocks are told apart by a number.
    fn of_byte(&self, symbols: &Symbols, offset: u64, size: u64) -> String {
        match (self, offset) {
            (Name::Block(number, block, content), _) => {
                let content = content.as_ref();
                match content.and_then(|content| symbols.name_in(content, offset, size)) {
                    Some((ty, path)) => Variable::heap_object(ty, *number, &path),
                    None => format!("{}#{number}", Variable::heap_block(*block, offset)),
                }
            }
            (Name::Other(name), 0) => name.clone(),
            (Name::Other(name), _) => format!("{name}+{offset}"),
        }
    }
}

impl Memory {
    /// A block of the heap is allocated.
    pub fn allocate(&mut self, address: u64, size: u64, content: Option<HeapContent>) {
        self.blocks += 1;
        self.put(
            address,
            size.max(1),
            Name::Block(self.blocks, size, content),
        );
    }

    /// Memory is mapped or unmapped.
    pub fn map(&mut self, address: u64, size: u64) {
        self.mappings += 1;
        let name = Name::Other(format!("mapped memory {}", self.mappings));
        self.put(address, size, name);
    }

    /// OpenMP's runtime hands out memory for a task.
    pub fn hand_out(&mut self, address: u64, size: u64) {
        self.tasks += 1;
        let name = Name::Other(format!("data of task {}", self.tasks));
        self.put(address, size, name);
    }

    /// A thread's stack lies there.
    pub fn stack(&mut self, address: u64, size: u64, thread: &str) {
        self.put(address, size, Name::Other(Variable::stack_of(thread)));
    }

    fn put(&mut self, address: u64, size: u64, name: Name) {
        let end = address.saturating_add(size);
        while let Some((&start, piece)) = self.pieces.range_mut(..end).next_back() {
            if piece.end <= address {
                break;
            }
            // What is left of a piece that is partly replaced keeps its name on its lower side.
            if start >= address {
                self.pieces.remove(&start);
            } else {
                piece.end = address;
            }
        }
        self.pieces.insert(address, Piece { end, name });
    }

    /// What the memory at an address is called, of which `size` bytes are one location; 0: not known how many.
    pub fn name(
        &self,
        symbols: &mut Symbols,
        process: &Process,
        (address, size): (u64, u64),
    ) -> String {
        if let Some(name) = symbols.of_main(process, address, size) {
            return name;
        }
        let below = self.pieces.range(..=address).next_back();
        match below.filter(|(_, piece)| address < piece.end) {
            Some((start, piece)) => piece.name.of_byte(symbols, address - start, size),
            None => symbols
                .global_of(process, address, size)
                .unwrap_or_else(|| Variable::memory_at(address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_called_by_what_it_belongs_to_now() {
        let mut memory = Memory::default();
        let name = |memory: &Memory, address| {
            let place = (address, 0);
            memory.name(&mut Symbols::default(), &Process::default(), place)
        };
        memory.map(0x1000, 0x1000);
        memory.allocate(0x1010, 8, None);
        assert_eq!(name(&memory, 0x1014), "heap block of 8 bytes+4#1");
        assert_eq!(name(&memory, 0x1000), "mapped memory 1");
        memory.allocate(0x1008, 16, None);
        assert_eq!(name(&memory, 0x1014), "heap block of 16 bytes+12#2");
        memory.stack(0x1000, 0x20, "T1");
        assert_eq!(name(&memory, 0x1014), "stack of T1+20");
        assert_eq!(name(&memory, 0x3000), "memory at 0x3000");
    }
}
