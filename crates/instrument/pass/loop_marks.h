// Accesses of a loop that are known before it begins are checked before it begins: once, where all its iterations access the same
// bytes; as one range, where each goes on where the one before has ended; as pieces with a step between them otherwise. What
// the loops of a nest make of it goes on: a matrix that is read column by column is one range in the end.
//
// The loop has to make these accesses once it is entered, each of its iterations: it leaves only after its last instruction, after
// a number of iterations that can be computed, and the access is on every way through it. And nothing in it may synchronise: then
// its first instruction is at the same time of the thread as its last, and so is whatever comes directly before.
//
// A recording says of a read which write it saw. Reads that now come before the loop's own writes say that they saw what was
// there before, and a prediction leaves that as it is: right for those that did, and harmless for the others. The other way round, a
// read would be told to have seen the thread's own write, and its prediction could let it see something else. So of what
// comes before the loop, reads come first, and a write stays where a read that may see it stays.
#pragma once

#include "synchronises.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace deadheat {

class LoopMarks : public PassInfoMixin<LoopMarks> {
  ScalarEvolution *evolution;
  DominatorTree *dominators;
  AAResults *aliases;

  // What is accessed: so many bytes, and so many times the same a step further each.
  struct Pieces {
    const SCEV *begin, *size, *count, *step;
  };

  const SCEV *number(int64_t value) { return evolution->getConstant(Type::getInt64Ty(context()), value, true); }

  LLVMContext &context() { return evolution->getContext(); }

  // What all iterations access together, of which each accesses some pieces.
  std::optional<Pieces> ofAllIterations(Pieces pieces, Loop &loop, const SCEV *backEdges) {
    for (const SCEV *fixed : {pieces.size, pieces.count, pieces.step})
      if (!evolution->isLoopInvariant(fixed, &loop))
        return std::nullopt;
    if (evolution->isLoopInvariant(pieces.begin, &loop))
      return pieces;
    auto *moving = dyn_cast<SCEVAddRecExpr>(pieces.begin);
    if (!backEdges || !moving || moving->getLoop() != &loop || !moving->isAffine())
      return std::nullopt;
    const SCEV *edges = evolution->getTruncateOrZeroExtend(backEdges, pieces.size->getType());
    const SCEV *iterations = evolution->getAddExpr(edges, number(1));
    const SCEV *by = moving->getStepRecurrence(*evolution);
    pieces.begin = moving->getStart();
    if (auto *constant = dyn_cast<SCEVConstant>(by); constant && constant->getAPInt().isNegative()) {
      // The same from the other end.
      pieces.begin = evolution->getAddExpr(pieces.begin, evolution->getMulExpr(edges, by));
      by = evolution->getNegativeSCEV(by);
    }
    auto *length = dyn_cast<SCEVConstant>(pieces.size);
    auto *way = dyn_cast<SCEVConstant>(by);
    bool leavesNoGap = length && way && way->getAPInt().ule(length->getAPInt());
    if (by == pieces.size || leavesNoGap) {
      pieces.size = evolution->getAddExpr(evolution->getMulExpr(edges, by), pieces.size);
      return joined(pieces);
    }
    if (pieces.count == number(1)) {
      pieces.count = iterations;
      pieces.step = by;
      return pieces;
    }
    if (by == evolution->getMulExpr(pieces.count, pieces.step)) {
      pieces.count = evolution->getMulExpr(pieces.count, iterations);
      return pieces;
    }
    return std::nullopt;
  }

  // Pieces that follow each other directly are one.
  Pieces joined(Pieces pieces) {
    if (pieces.count != number(1) && pieces.step == pieces.size)
      return {pieces.begin, evolution->getMulExpr(pieces.count, pieces.size), number(1), number(0)};
    return pieces;
  }

  bool moveMarks(Loop &loop) {
    BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
    if (!before || !latch)
      return false;
    const SCEV *backEdges = loop.getExitingBlock() == latch ? evolution->getBackedgeTakenCount(&loop) : nullptr;
    if (backEdges && isa<SCEVCouldNotCompute>(backEdges))
      backEdges = nullptr;
    SmallVector<CallInst *> marks, others;
    for (BasicBlock *block : loop.blocks())
      for (Instruction &instruction : *block) {
        if (maySynchronise(instruction))
          return false;
        CallInst *mark = asMark(instruction);
        if (!mark)
          continue;
        // However it is left, its first block has been run once.
        bool isMade = block == loop.getHeader() || (backEdges && dominators->dominates(block, latch));
        (isMade ? marks : others).push_back(mark);
      }
    // Reads first.
    auto writes = [](CallInst *mark) { return markedKind(*mark) != Read; };
    stable_sort(marks, [&](CallInst *one, CallInst *other) { return writes(one) < writes(other); });
    SCEVExpander expander(*evolution, before->getDataLayout(), "deadheat");
    bool changed = false;
    for (CallInst *mark : marks) {
      bool isSeen = writes(mark) && any_of(others, [&](CallInst *other) { return maySee(*other, *mark); });
      if (!isSeen && move(*mark, loop, backEdges, expander))
        changed = true;
      else
        others.push_back(mark);
    }
    return changed;
  }

  // Whether an access reads what a write writes, in whatever iterations.
  bool maySee(CallInst &read, CallInst &write) {
    if (markedKind(read) == Write)
      return false;
    return !aliases->isNoAlias(MemoryLocation::getBeforeOrAfter(markedPlace(read)),
                               MemoryLocation::getBeforeOrAfter(markedPlace(write)));
  }

  bool move(CallInst &mark, Loop &loop, const SCEV *backEdges, SCEVExpander &expander) {
    if (markedKind(mark) == TableRead)
      return false;
    auto scev = [&](unsigned argument) { return evolution->getSCEV(mark.getArgOperand(argument)); };
    auto pieces = ofAllIterations({scev(0), scev(1), scev(2), scev(3)}, loop, backEdges);
    if (!pieces)
      return false;
    Instruction *end = loop.getLoopPreheader()->getTerminator();
    const SCEV *all[] = {pieces->begin, pieces->size, pieces->count, pieces->step};
    if (!all_of(all, [&](const SCEV *one) { return expander.isSafeToExpandAt(one, end); }))
      return false;
    for (auto [argument, one] : enumerate(all))
      mark.setArgOperand(argument, expander.expandCodeFor(one, mark.getArgOperand(argument)->getType(), end));
    mark.moveBefore(end);
    return true;
  }

public:
  static bool isRequired() { return true; }

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
    evolution = &analyses.getResult<ScalarEvolutionAnalysis>(function);
    dominators = &analyses.getResult<DominatorTreeAnalysis>(function);
    aliases = &analyses.getResult<AAManager>(function);
    bool changed = false;
    // Inner ones first: what comes before them may be in a loop itself.
    SmallVector<Loop *> outerFirst = loops.getLoopsInPreorder();
    for (Loop *loop : reverse(outerFirst))
      changed |= moveMarks(*loop);
    if (!changed)
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
};

} // namespace deadheat
