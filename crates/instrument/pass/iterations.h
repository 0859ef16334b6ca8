// Iterations of a worksharing loop are told apart: whatever the schedule, each may run beside every other.
//
//     call void @__deadheat_loop()                  before the runtime hands a thread its iterations
//     call void @__deadheat_iteration(i64 %number)  at the beginning of each
//
// Loops are found as clang makes them, before the optimiser: the runtime is asked for iterations, and the first loop after that
// runs them; where it is asked again and again, that loop is inside the first. Sections are like that, too, and are told apart by
// the runtime itself.
#pragma once

#include "mark.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace deadheat {

constexpr StringLiteral IterationName = "__deadheat_iteration";
constexpr StringLiteral LoopName = "__deadheat_loop";

class Iterations {
  LoopInfo &loops;
  DominatorTree &dominators;

  // What the compiler says of a construct, in its description of the place in the source.
  static bool isLoop(const CallBase &call) {
    constexpr uint64_t WorkOfLoop = 0x200, AnyWork = 0xe00;
    auto *place = dyn_cast<GlobalVariable>(call.getArgOperand(0)->stripPointerCasts());
    auto *fields = place && place->hasInitializer() ? dyn_cast<ConstantStruct>(place->getInitializer()) : nullptr;
    auto *flags = fields ? dyn_cast<ConstantInt>(fields->getOperand(1)) : nullptr;
    return flags && ((flags->getZExtValue() & AnyWork) == WorkOfLoop || (flags->getZExtValue() & AnyWork) == 0);
  }

  // The first loop that is entered after a call, among those that are directly inside of one.
  Loop *firstAfter(Instruction &call) const {
    Loop *around = loops.getLoopFor(call.getParent());
    Loop *first = nullptr;
    for (Loop *loop : around ? around->getSubLoops() : loops.getTopLevelLoops())
      if (dominators.dominates(call.getParent(), loop->getHeader()) &&
          (!first || dominators.dominates(loop->getHeader(), first->getHeader())))
        first = loop;
    return first;
  }

  static Loop *firstInside(Loop &outer, const DominatorTree &dominators) {
    Loop *first = nullptr;
    for (Loop *loop : outer.getSubLoops())
      if (!first || dominators.dominates(loop->getHeader(), first->getHeader()))
        first = loop;
    return first;
  }

  // Tells of each iteration of a loop, whose first block compares the iteration's number with the last.
  static bool tell(Loop &loop, const DebugLoc &location) {
    auto *branch = dyn_cast<BranchInst>(loop.getHeader()->getTerminator());
    if (!branch || !branch->isConditional())
      return false;
    auto *compare = dyn_cast<ICmpInst>(branch->getCondition());
    auto *load = compare ? dyn_cast<LoadInst>(compare->getOperand(0)) : nullptr;
    BasicBlock *body = branch->getSuccessor(0);
    if (!load || !isa<AllocaInst>(load->getPointerOperand()) || !loop.contains(body) ||
        body->getSinglePredecessor() != loop.getHeader())
      return false;
    IRBuilder<> builder(body, body->getFirstInsertionPt());
    builder.SetCurrentDebugLocation(location);
    Module &module = *body->getModule();
    Value *number = builder.CreateLoad(load->getType(), load->getPointerOperand());
    builder.CreateCall(function(module, IterationName, {builder.getInt64Ty()}),
                       {builder.CreateZExtOrTrunc(number, builder.getInt64Ty())});
    return true;
  }

  static FunctionCallee function(Module &module, StringRef name, ArrayRef<Type *> arguments) {
    LLVMContext &context = module.getContext();
    AttrBuilder builder(context);
    builder.addMemoryAttr(MemoryEffects::inaccessibleMemOnly());
    for (auto kind : {Attribute::NoUnwind, Attribute::WillReturn, Attribute::NoCallback, Attribute::NoMerge})
      builder.addAttribute(kind);
    builder.addAttribute("call-inline-cost", "0");
    auto attributes = AttributeList().addFnAttributes(context, builder);
    return module.getOrInsertFunction(name, FunctionType::get(Type::getVoidTy(context), arguments, false), attributes);
  }

public:
  Iterations(LoopInfo &loops, DominatorTree &dominators) : loops(loops), dominators(dominators) {}

  void tellApart(Function &function) {
    SmallVector<CallInst *> calls;
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&instruction); call && call->getCalledFunction())
        calls.push_back(call);
    for (CallInst *call : calls) {
      StringRef name = call->getCalledFunction()->getName();
      bool isHandedOut = name.starts_with("__kmpc_dispatch_init");
      if ((!isHandedOut && !name.starts_with("__kmpc_for_static_init")) || !isLoop(*call))
        continue;
      Loop *loop = firstAfter(*call);
      if (loop && (isHandedOut || isInChunks(*call)))
        loop = firstInside(*loop, dominators);
      if (!loop || !tell(*loop, call->getDebugLoc()))
        continue;
      IRBuilder<> builder(call);
      builder.CreateCall(Iterations::function(*function.getParent(), LoopName, {}));
    }
  }

private:
  // A thread's iterations are in several places.
  static bool isInChunks(const CallInst &call) {
    constexpr uint64_t StaticInChunks = 33, Modifiers = 3u << 29;
    auto *schedule = dyn_cast<ConstantInt>(call.getArgOperand(2));
    return schedule && (schedule->getZExtValue() & ~Modifiers) == StaticInChunks;
  }
};

} // namespace deadheat
