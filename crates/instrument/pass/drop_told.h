// An access needs no check if the same bytes have been checked on every way there, by the same kind of access or a stronger one,
// and nothing on the way may have synchronised.
//
// Why no race is lost: let A be the access that is checked, B the one that is not, by the same thread, and C one of
// another thread that races with B. A and B are at the same time of their thread: whatever is ordered after B's thread's next
// release is ordered after both, and what its last acquire has seen comes before both. So C races with A as well; where A is a
// write, C conflicts with it whatever it is. What a report names is A, which is in that race as much as B is.
//
// A recording does not have B. What B read is what A read or wrote, unless C came between, and then A and C race in the run
// as it was recorded, of which a prediction has to say so.
//
// A read that is followed by a write of the same bytes in its block and on its line, with nothing between that may synchronise or
// not return, becomes an update: one call for both.
#pragma once

#include "synchronises.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/IR/CFG.h"

namespace deadheat {

class DropTold : public PassInfoMixin<DropTold> {
  // Some bytes, counted from an address that the program has computed.
  struct Bytes {
    Value *base;
    int64_t begin, end;
    bool operator==(const Bytes &other) const {
      return base == other.base && begin == other.begin && end == other.end;
    }
    bool contains(const Bytes &other) const {
      return base == other.base && begin <= other.begin && other.end <= end;
    }
  };

  struct Access {
    Bytes bytes;
    Kind kind;
    bool covers(const Access &other) const {
      bool strong = kind == Write || kind == Update || (kind == Read && other.kind == Read);
      return strong && bytes.contains(other.bytes);
    }
  };

  static std::optional<Access> accessOf(CallInst &mark, const DataLayout &layout) {
    uint64_t size = markedSize(mark);
    Kind kind = markedKind(mark);
    if (size == 0 || size > INT32_MAX || kind == TableRead)
      return std::nullopt;
    Value *place = markedPlace(mark);
    APInt offset(layout.getIndexTypeSizeInBits(place->getType()), 0);
    Value *base = place->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
    int64_t begin = offset.getSExtValue();
    return Access{{base, begin, begin + int64_t(size)}, kind};
  }

  struct Facts {
    SmallVector<Access> all;
    DenseMap<Value *, SmallVector<unsigned, 4>> ofBase;
    DenseMap<CallInst *, unsigned> ofMark;

    explicit Facts(Function &function) {
      const DataLayout &layout = function.getDataLayout();
      for (Instruction &instruction : instructions(function))
        if (CallInst *mark = asMark(instruction))
          if (auto access = accessOf(*mark, layout))
            ofMark[mark] = number(*access);
    }

    unsigned number(const Access &access) {
      auto &some = ofBase[access.bytes.base];
      for (unsigned fact : some)
        if (all[fact].bytes == access.bytes && all[fact].kind == access.kind)
          return fact;
      some.push_back(all.size());
      all.push_back(access);
      return some.back();
    }

    void add(BitVector &told, const Access &access) const {
      for (unsigned fact : ofBase.find(access.bytes.base)->second)
        if (access.covers(all[fact]))
          told.set(fact);
    }

    // What comes after an instruction, of what came before.
    void step(BitVector &told, Instruction &instruction) const {
      if (auto mark = ofMark.find(dyn_cast<CallInst>(&instruction)); mark != ofMark.end())
        return add(told, all[mark->second]);
      if (maySynchronise(instruction))
        told.reset();
      // The next time around, the same name is another address.
      if (auto own = ofBase.find(&instruction); own != ofBase.end())
        for (unsigned fact : own->second)
          told.reset(fact);
    }
  };

  static bool dropTold(Function &function) {
    Facts facts(function);
    if (facts.all.empty())
      return false;
    ReversePostOrderTraversal<Function *> order(&function);
    DenseMap<BasicBlock *, BitVector> after;
    auto before = [&](BasicBlock *block) {
      BitVector told(facts.all.size(), !pred_empty(block));
      for (BasicBlock *from : predecessors(block))
        // What has not been looked at yet takes nothing away.
        if (auto known = after.find(from); known != after.end())
          told &= known->second;
      return told;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock *block : order) {
        BitVector told = before(block);
        for (Instruction &instruction : *block)
          facts.step(told, instruction);
        auto [entry, isNew] = after.try_emplace(block, told);
        if (isNew || entry->second != told) {
          entry->second = std::move(told);
          changed = true;
        }
      }
    }
    SmallVector<CallInst *> needless;
    for (BasicBlock *block : order) {
      BitVector told = before(block);
      for (Instruction &instruction : *block) {
        auto mark = facts.ofMark.find(dyn_cast<CallInst>(&instruction));
        if (mark != facts.ofMark.end() && told.test(mark->second))
          needless.push_back(mark->first);
        facts.step(told, instruction);
      }
    }
    for (CallInst *mark : needless)
      mark->eraseFromParent();
    return !needless.empty();
  }

  static bool onOneLine(const Instruction &one, const Instruction &other) {
    const DebugLoc &here = one.getDebugLoc(), &there = other.getDebugLoc();
    return here && there && here.getLine() == there.getLine() && here.getInlinedAt() == there.getInlinedAt();
  }

  // Whether two marks are of the same bytes.
  static bool areAlike(CallInst &one, CallInst &other, const DataLayout &layout) {
    auto access = accessOf(one, layout), same = accessOf(other, layout);
    if (access && same)
      return access->bytes == same->bytes;
    return all_of(seq(0, 4), [&](unsigned argument) { return one.getArgOperand(argument) == other.getArgOperand(argument); });
  }

  static bool joinUpdates(Function &function) {
    const DataLayout &layout = function.getDataLayout();
    bool changed = false;
    for (BasicBlock &block : function) {
      SmallVector<CallInst *> reads;
      for (Instruction &instruction : make_early_inc_range(block)) {
        CallInst *mark = asMark(instruction);
        if (!mark) {
          if (maySynchronise(instruction))
            reads.clear();
          continue;
        }
        if (markedKind(*mark) == Read) {
          reads.push_back(mark);
          continue;
        }
        auto same = [&](CallInst *read) { return areAlike(*read, *mark, layout) && onOneLine(*read, *mark); };
        auto read = markedKind(*mark) == Write ? find_if(reads, same) : reads.end();
        if (read == reads.end())
          continue;
        (*read)->setArgOperand(4, ConstantInt::get(mark->getArgOperand(4)->getType(), Update));
        reads.erase(read);
        mark->eraseFromParent();
        changed = true;
      }
    }
    return changed;
  }

public:
  static bool isRequired() { return true; }

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    bool changed = dropTold(function);
    changed |= joinUpdates(function);
    if (!changed)
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
};

} // namespace deadheat
