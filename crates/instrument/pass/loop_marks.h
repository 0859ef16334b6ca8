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
//
// Of a worksharing loop each iteration may run beside each other one. Where all that iterations access is known before, it is
// computed whether two of them meet: then the two accesses that do are made for these iterations, each told apart, and whatever
// judges them reports them; likewise for the lanes of `simd`. All iterations together are then one piece, and what they access is checked as that of any loop.
#pragma once

#include "iterations.h"
#include "synchronises.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace deadheat {

class LoopMarks : public PassInfoMixin<LoopMarks> {
  ScalarEvolution *evolution;
  DominatorTree *dominators;
  AAResults *aliases;
  LoopInfo *loops;
  DomTreeUpdater *updater;

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

  // Where one iteration after the other accesses something.
  struct Walk {
    CallInst *mark;
    const SCEV *begin, *by, *size, *count, *step;

    bool writes() const { return markedKind(*mark) == Write || markedKind(*mark) == Update; }
  };

  std::optional<Walk> walkOf(CallInst &mark, Loop &loop) {
    auto scev = [&](unsigned argument) { return evolution->getSCEV(mark.getArgOperand(argument)); };
    Walk walk = {&mark, scev(0), number(0), scev(1), scev(2), scev(3)};
    if (auto *moving = dyn_cast<SCEVAddRecExpr>(walk.begin); moving && moving->getLoop() == &loop && moving->isAffine()) {
      walk.begin = moving->getStart();
      walk.by = moving->getStepRecurrence(*evolution);
    }
    for (const SCEV *fixed : {walk.begin, walk.by, walk.size, walk.count, walk.step})
      if (!evolution->isLoopInvariant(fixed, &loop))
        return std::nullopt;
    return walk;
  }

  // Whether it is known that no two iterations meet by these accesses, however many there are.
  bool neverMeet(const Walk &one, const Walk &other) {
    if (aliases->isNoAlias(MemoryLocation::getBeforeOrAfter(markedPlace(*one.mark)),
                           MemoryLocation::getBeforeOrAfter(markedPlace(*other.mark))))
      return true;
    auto constant = [](const SCEV *value) -> std::optional<int64_t> {
      auto *known = dyn_cast<SCEVConstant>(value);
      return known && known->getAPInt().getSignificantBits() < 48 ? std::optional(known->getAPInt().getSExtValue())
                                                                  : std::nullopt;
    };
    auto by = constant(one.by), size = constant(one.size), otherSize = constant(other.size);
    auto distance = constant(evolution->getMinusSCEV(other.begin, one.begin));
    if (one.by != other.by || one.count != number(1) || other.count != number(1) || !by || !size || !otherSize || !distance)
      return false;
    // So many iterations apart they would meet: -size < apart * by - distance < otherSize.
    if (*by == 0)
      return *distance >= *size || -*distance >= *otherSize;
    for (int64_t apart : {(*distance - *size) / *by, (*distance + *otherSize) / *by})
      for (int64_t near = apart - 1; near <= apart + 1; near++)
        if (near != 0 && -*size < near * *by - *distance && near * *by - *distance < *otherSize)
          return false;
    // The first and the last number that would do are among those; where both are 0, there is no other.
    return true;
  }

  static constexpr unsigned MostPairs = 24;

  // Judges a loop whose iterations are told apart once and for all, or, if nothing tells of them, as lanes that run at the same
  // time. False: each has to be told.
  bool judgeIterations(Loop &loop, CallInst *iteration) {
    BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
    if (!before || !latch || loop.getExitingBlock() != latch)
      return false;
    const SCEV *edges = evolution->getBackedgeTakenCount(&loop);
    if (isa<SCEVCouldNotCompute>(edges))
      return false;
    SmallVector<Walk> walks;
    for (BasicBlock *block : loop.blocks())
      for (Instruction &instruction : *block) {
        if (&instruction != iteration && (maySynchronise(instruction) || isTableCheck(instruction)))
          return false;
        CallInst *mark = asMark(instruction);
        if (!mark)
          continue;
        auto walk = dominators->dominates(block, latch) ? walkOf(*mark, loop) : std::nullopt;
        if (!walk)
          return false;
        walks.push_back(*walk);
      }
    SmallVector<std::pair<const Walk *, const Walk *>> pairs;
    for (const Walk &one : walks)
      for (const Walk &other : walks)
        // Of two accesses in one lane, the first in the program comes first in all lanes: those of one and the same stay in order.
        if ((iteration ? &one <= &other : &one < &other) && (one.writes() || other.writes()) && !neverMeet(one, other))
          pairs.push_back({&one, &other});
    Type *type = Type::getInt64Ty(context());
    const SCEV *start = iteration ? startOf(*iteration, loop) : number(0);
    if (pairs.size() > MostPairs || !start)
      return false;
    if (!iteration && pairs.empty())
      return true;

    SCEVExpander expander(*evolution, before->getDataLayout(), "deadheat");
    Instruction *end = before->getTerminator();
    const SCEV *count = evolution->getAddExpr(evolution->getTruncateOrZeroExtend(edges, type), number(1));
    SmallVector<const SCEV *> all = {count, start};
    for (const Walk &walk : walks)
      all.append({walk.begin, walk.by, walk.size, walk.count, walk.step});
    if (!all_of(all, [&](const SCEV *one) { return expander.isSafeToExpandAt(one, end); }))
      return false;
    Value *iterations = expander.expandCodeFor(count, type, end);
    Value *first = expander.expandCodeFor(start, type, end);
    DenseMap<const Walk *, SmallVector<Value *, 5>> values;
    for (auto [one, other] : pairs)
      for (const Walk *walk : {one, other})
        if (auto &known = values[walk]; known.empty())
          for (const SCEV *part : {walk->begin, walk->by, walk->size, walk->count, walk->step})
            known.push_back(expander.expandCodeFor(part, part->getType(), end));
    DebugLoc location = iteration ? iteration->getDebugLoc() : loop.getStartLoc();
    for (auto [one, other] : pairs)
      tellMeeting(*end, location, iteration ? MetName : LaneName, first, iterations, {one, other}, values[one], values[other]);
    if (!iteration)
      return true;
    IRBuilder<> builder(end);
    builder.SetCurrentDebugLocation(location);
    builder.CreateCall(Iterations::function(*end->getModule(), JudgedName, {type, type}), {first, iterations});
    iteration->eraseFromParent();
    return true;
  }

  // The number of a loop's first iteration, as it is told.
  const SCEV *startOf(CallInst &iteration, Loop &loop) {
    const SCEV *which = evolution->getSCEV(iteration.getArgOperand(0));
    while (auto *cast = dyn_cast<SCEVIntegralCastExpr>(which))
      which = cast->getOperand();
    auto *numbers = dyn_cast<SCEVAddRecExpr>(which);
    if (!numbers || numbers->getLoop() != &loop)
      return nullptr;
    return evolution->getTruncateOrSignExtend(numbers->getStart(), Type::getInt64Ty(context()));
  }

  // `simd` without `safelen`: what the program says of its accesses.
  static bool hasLanes(Loop &loop) {
    MDNode *description = loop.getLoopID();
    return description && findOptionMDForLoopID(description, "llvm.loop.parallel_accesses");
  }

  static bool isTableCheck(Instruction &instruction) {
    CallInst *check = asCheck(instruction);
    return check && (!asMark(instruction) || markedKind(*check) == TableRead);
  }

  // Makes the two accesses by which two iterations meet, if there are any.
  void tellMeeting(Instruction &end, const DebugLoc &location, StringRef teller, Value *first, Value *iterations,
                   std::pair<const Walk *, const Walk *> walks, ArrayRef<Value *> one, ArrayRef<Value *> other) {
    Module &module = *end.getModule();
    IRBuilder<> builder(&end);
    builder.SetCurrentDebugLocation(location);
    Type *number = builder.getInt64Ty(), *pointer = builder.getPtrTy();
    IRBuilder<> entry(&*end.getFunction()->getEntryBlock().getFirstInsertionPt());
    Value *met = entry.CreateAlloca(ArrayType::get(number, 2));
    SmallVector<Type *> types;
    SmallVector<Value *> arguments;
    for (auto values : {one, other})
      for (Value *value : values) {
        types.push_back(value->getType()->isPointerTy() ? pointer : number);
        arguments.push_back(value);
      }
    types.append({number, pointer});
    arguments.append({iterations, met});
    // Lanes go on together: an access meets what comes before it in a later iteration, as that should have come after.
    StringRef question = teller == LaneName ? MeetBackwardsName : MeetName;
    FunctionCallee meet = module.getOrInsertFunction(question, FunctionType::get(builder.getInt1Ty(), types, false));
    Value *doMeet = builder.CreateCall(meet, arguments);
    MDNode *rarely = MDBuilder(context()).createUnlikelyBranchWeights();
    Instruction *inside = SplitBlockAndInsertIfThen(doMeet, &end, false, rarely, updater, loops);
    for (auto [index, walk, values] : {std::tuple(0, walks.first, one), std::tuple(1, walks.second, other)}) {
      builder.SetInsertPoint(inside);
      Value *place = builder.CreateConstInBoundsGEP2_64(ArrayType::get(number, 2), met, 0, index);
      Value *which = builder.CreateLoad(number, place);
      builder.CreateCall(Iterations::function(module, teller, {number}), {builder.CreateAdd(first, which)});
      auto *mark = cast<CallInst>(walk->mark->clone());
      mark->setArgOperand(0, builder.CreatePtrAdd(values[0], builder.CreateMul(which, values[1])));
      for (unsigned argument : {1, 2, 3})
        mark->setArgOperand(argument, values[argument + 1]);
      mark->insertBefore(inside);
    }
    builder.SetInsertPoint(inside);
    if (teller == LaneName)
      builder.CreateCall(Iterations::function(module, LanesEndName, {}));
  }

  bool moveMarks(Loop &loop) {
    BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
    if (!before || !latch)
      return false;
    const SCEV *backEdges = loop.getExitingBlock() == latch ? evolution->getBackedgeTakenCount(&loop) : nullptr;
    if (backEdges && isa<SCEVCouldNotCompute>(backEdges))
      backEdges = nullptr;
    if (CallInst *iteration = iterationOf(loop)) {
      if (!judgeIterations(loop, iteration))
        return false;
    } else if (hasLanes(loop)) {
      judgeIterations(loop, nullptr);
    }
    before = loop.getLoopPreheader();
    SmallVector<CallInst *> marks, others;
    for (BasicBlock *block : loop.blocks())
      for (Instruction &instruction : *block) {
        CallInst *mark = asMark(instruction);
        if (maySynchronise(instruction) || (!mark && asCheck(instruction)))
          return false;
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

  // What tells the iterations of this loop apart.
  CallInst *iterationOf(Loop &loop) {
    for (BasicBlock *block : loop.blocks())
      if (loops->getLoopFor(block) == &loop)
        for (Instruction &instruction : *block)
          if (auto *call = dyn_cast<CallInst>(&instruction))
            if (Function *callee = call->getCalledFunction(); callee && callee->getName() == IterationName)
              return call;
    return nullptr;
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
    if (pieces->size != scev(1) || pieces->count != scev(2))
      setOfLoop(mark);
    for (auto [argument, one] : enumerate(all))
      mark.setArgOperand(argument, expander.expandCodeFor(one, mark.getArgOperand(argument)->getType(), end));
    mark.moveBefore(end);
    return true;
  }

public:
  static bool isRequired() { return true; }

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    loops = &analyses.getResult<LoopAnalysis>(function);
    evolution = &analyses.getResult<ScalarEvolutionAnalysis>(function);
    dominators = &analyses.getResult<DominatorTreeAnalysis>(function);
    aliases = &analyses.getResult<AAManager>(function);
    DomTreeUpdater keepUp(*dominators, DomTreeUpdater::UpdateStrategy::Eager);
    updater = &keepUp;
    bool changed = false;
    // Inner ones first: what comes before them may be in a loop itself.
    SmallVector<Loop *> outerFirst = loops->getLoopsInPreorder();
    for (Loop *loop : reverse(outerFirst))
      changed |= moveMarks(*loop);
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};

} // namespace deadheat
