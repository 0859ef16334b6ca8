// Iterations of a worksharing loop are told apart: which of them one thread runs, and in which order, another number of threads, or
// another schedule where the program names none, would make another.
//
//     call void @__deadheat_loop(i32 %together)                  before the runtime hands a thread its iterations
//     call void @__deadheat_iteration(i64 %number)               at the beginning of each
//     call void @__deadheat_iterations(i64 %first, i64 %count)   of several that always come one after the other
//
// Where the program says how many are to come together, those are one. Some other calls become one for all of a thread's iterations,
// later: see loop_marks.h.
//
// Loops are found as clang makes them, before the optimiser: the runtime is asked for iterations, and the first loop after that
// runs them; where it is asked again and again, that loop is inside the first. Sections are like that, too, and are told apart by
// the runtime itself, as are the chunks of a dynamic schedule that says how large they are.
#pragma once

#include "mark.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace deadheat {

constexpr StringLiteral IterationName = "__deadheat_iteration";
constexpr StringLiteral LoopName = "__deadheat_loop";
constexpr StringLiteral IterationsName = "__deadheat_iterations";
constexpr StringLiteral JudgedName = "__deadheat_iterations_judged";
constexpr StringLiteral MeetName = "__deadheat_meet";
constexpr StringLiteral MeetBackwardsName = "__deadheat_meet_backwards";
constexpr StringLiteral MetName = "__deadheat_iteration_met";
constexpr StringLiteral LaneName = "__deadheat_lane";
constexpr StringLiteral LanesEndName = "__deadheat_lanes_end";

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

  // The number of the iteration and of the last one, which the first block of a loop compares.
  static std::optional<std::pair<LoadInst *, LoadInst *>> numbersIn(Loop &loop) {
    auto *branch = dyn_cast<BranchInst>(loop.getHeader()->getTerminator());
    auto *compare = branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    if (!compare || !loop.contains(branch->getSuccessor(0)))
      return std::nullopt;
    auto load = [](Value *value) -> LoadInst * {
      // It is compared as less than one more where numbers have no sign.
      if (auto *sum = dyn_cast<BinaryOperator>(value))
        value = sum->getOperand(0);
      auto *load = dyn_cast<LoadInst>(value);
      return load && isa<AllocaInst>(load->getPointerOperand()) ? load : nullptr;
    };
    LoadInst *number = load(compare->getOperand(0)), *last = load(compare->getOperand(1));
    return number && last ? std::optional(std::pair(number, last)) : std::nullopt;
  }

  static bool tellEach(Loop &loop, const DebugLoc &location) {
    auto numbers = numbersIn(loop);
    BasicBlock *body = numbers ? loop.getHeader()->getTerminator()->getSuccessor(0) : nullptr;
    if (!body || body->getSinglePredecessor() != loop.getHeader())
      return false;
    IRBuilder<> builder(body, body->getFirstInsertionPt());
    builder.SetCurrentDebugLocation(location);
    Module &module = *body->getModule();
    Type *type = builder.getInt64Ty();
    LoadInst *load = numbers->first;
    Value *number = builder.CreateLoad(load->getType(), load->getPointerOperand());
    builder.CreateCall(function(module, IterationName, {type}), {builder.CreateSExtOrTrunc(number, type)});
    return true;
  }

  static bool tellTogether(Loop &loop, const DebugLoc &location) {
    auto numbers = numbersIn(loop);
    BasicBlock *before = loop.getLoopPredecessor();
    if (!numbers || !before)
      return false;
    IRBuilder<> builder(before->getTerminator());
    builder.SetCurrentDebugLocation(location);
    Type *type = builder.getInt64Ty();
    auto load = [&](LoadInst *known) {
      Value *value = builder.CreateLoad(known->getType(), known->getPointerOperand());
      return builder.CreateSExtOrTrunc(value, type);
    };
    Value *first = load(numbers->first), *last = load(numbers->second);
    Value *count = builder.CreateAdd(builder.CreateSub(last, first), builder.getInt64(1));
    builder.CreateCall(function(*before->getModule(), IterationsName, {type, type}), {first, count});
    return true;
  }

public:
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
      bool together = !isHandedOut && scheduleOf(*call) == StaticInChunks;
      if (loop && (isHandedOut || together))
        loop = firstInside(*loop, dominators);
      if (!loop || (isHandedOut && !varies(*call)))
        continue;
      bool areMany = together && !isOne(call->getArgOperand(8));
      if (areMany ? tellTogether(*loop, call->getDebugLoc()) : tellEach(*loop, call->getDebugLoc())) {
        IRBuilder<> builder(call);
        builder.CreateCall(Iterations::function(*function.getParent(), LoopName, {builder.getInt32Ty()}),
                           {builder.getInt32(together)});
      }
    }
  }

private:
  // As OpenMP's runtime numbers schedules; from `Ordered` on, the same with ordered iterations.
  enum Schedule : uint64_t { StaticInChunks = 33, Static, Dynamic, Guided, Runtime, Auto, Ordered = 64 };

  static uint64_t scheduleOf(const CallInst &call) {
    constexpr uint64_t Modifiers = 3u << 29;
    auto *schedule = dyn_cast<ConstantInt>(call.getArgOperand(2));
    return schedule ? schedule->getZExtValue() & ~Modifiers : 0;
  }

  static bool isOne(const Value *value) {
    auto *number = dyn_cast<ConstantInt>(value);
    return number && number->isOne();
  }

  // Whether any two iterations may be handed out to two threads.
  static bool varies(const CallInst &call) {
    uint64_t schedule = scheduleOf(call);
    if (schedule > Ordered)
      schedule -= Ordered - (StaticInChunks - 1);
    bool namesLeast = schedule == Guided || schedule == Dynamic;
    return schedule == Static || schedule == Runtime || schedule == Auto || (namesLeast && isOne(call.getArgOperand(6)));
  }
};

} // namespace deadheat
