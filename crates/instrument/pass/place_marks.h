// Marks are placed before the optimiser has seen the program: at each access that its source makes.
#pragma once

#include "iterations.h"
#include "own_memory.h"

namespace deadheat {

class PlaceMarks : public PassInfoMixin<PlaceMarks> {
  static bool isOfOthers(const Value *place) {
    if (place->getType()->getPointerAddressSpace() != 0 || place->isSwiftError())
      return false;
    auto *global = dyn_cast<GlobalVariable>(place->stripInBoundsOffsets());
    if (!global)
      return true;
    // Nobody writes to constants; counters of profiles are meant to race.
    return !global->isConstant() && !global->getName().starts_with("__llvm_prf") &&
           !global->getName().starts_with("__llvm_gcov");
  }

  // A function of the C library that the optimiser would replace by accesses of its own, which nobody would see. As a call
  // it goes through the runtime.
  static bool isReplaceable(const CallInst &call) {
    static const StringSet<> names = {"memchr", "memccpy", "mempcpy", "memrchr", "stpcpy",  "stpncpy",
                                      "strcat", "strchr",  "strcmp",  "strcpy",  "strcspn", "strlcpy", "strncat", "strncmp",
                                      "strncpy", "strpbrk", "strrchr", "strspn",  "strstr",  "sprintf", "snprintf"};
    const Function *callee = call.getCalledFunction();
    if (!callee || !callee->isDeclaration())
      return false;
    if (names.contains(callee->getName()))
      return true;
    // Of a string whose length is only compared with zero, the first byte is read.
    auto comparesWithZero = [&](const User *user) {
      auto *compare = dyn_cast<ICmpInst>(user);
      return compare && compare->isEquality();
    };
    return callee->getName() == "strlen" && any_of(call.users(), comparesWithZero);
  }

  // The first place in the source that is known from here on, for what the compiler has added.
  static DebugLoc locationOf(Instruction &instruction) {
    for (Instruction *next = &instruction; next; next = next->getNextNode())
      if (next->getDebugLoc() && next->getDebugLoc().getLine() != 0)
        return next->getDebugLoc();
    if (DISubprogram *function = instruction.getFunction()->getSubprogram())
      return DILocation::get(instruction.getContext(), function->getScopeLine(), 0, function);
    return DebugLoc();
  }

  static bool isTable(const Instruction &access) {
    MDNode *tag = access.getMetadata(LLVMContext::MD_tbaa);
    return tag && tag->isTBAAVtableAccess();
  }

  static void mark(Function &function) {
    OwnMemory own;
    SmallVector<Instruction *> accesses;
    for (Instruction &instruction : instructions(function)) {
      if (instruction.hasMetadata(LLVMContext::MD_nosanitize))
        continue;
      if (isa<LoadInst, StoreInst, MemIntrinsic>(instruction) || asComparison(instruction))
        accesses.push_back(&instruction);
      else if (auto *call = dyn_cast<CallInst>(&instruction); call && isReplaceable(*call))
        call->addFnAttr(Attribute::NoBuiltin);
    }
    // What is whose is asked before there are marks.
    auto isShared = [&](const Value *place) { return isOfOthers(place) && !own.has(place); };
    const DataLayout &layout = function.getDataLayout();
    for (Instruction *access : accesses) {
      IRBuilder<> builder(access);
      builder.SetCurrentDebugLocation(locationOf(*access));
      auto accesses = [&](Value *place, Type *type, Kind kind) {
        TypeSize size = layout.getTypeStoreSize(type);
        if (!size.isScalable() && isShared(place))
          placeMark(builder, place, builder.getInt64(size.getFixedValue()), kind);
      };
      if (auto *load = dyn_cast<LoadInst>(access)) {
        if (!load->isAtomic())
          accesses(load->getPointerOperand(), load->getType(), isTable(*load) ? TableRead : Read);
      } else if (auto *store = dyn_cast<StoreInst>(access)) {
        Value *place = store->getPointerOperand();
        if (store->isAtomic())
          continue;
        if (!isTable(*store))
          accesses(place, store->getValueOperand()->getType(), Write);
        else if (isShared(place))
          builder.CreateCall(tableUpdateFunction(*function.getParent()), {place, tableOf(builder, *store)});
      } else if (CallInst *call = asComparison(*access)) {
        if (isShared(call->getArgOperand(0)) || isShared(call->getArgOperand(1)))
          builder.CreateCall(compareFunction(*function.getParent()),
                             {call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2)});
      } else if (auto *call = dyn_cast<MemIntrinsic>(access)) {
        if (auto *copy = dyn_cast<MemTransferInst>(call); copy && isShared(copy->getRawSource()))
          placeMark(builder, copy->getRawSource(), call->getLength(), Read);
        if (isShared(call->getRawDest()))
          placeMark(builder, call->getRawDest(), call->getLength(), Write);
      }
    }
  }

  static Value *tableOf(IRBuilderBase &builder, StoreInst &store) {
    Value *table = store.getValueOperand();
    return table->getType()->isPointerTy() ? table : builder.CreateIntToPtr(table, builder.getPtrTy());
  }

public:
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses) {
    auto &ofFunctions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    for (Function &function : module) {
      if (!isChecked(function))
        continue;
      mark(function);
      auto &loops = ofFunctions.getResult<LoopAnalysis>(function);
      Iterations(loops, ofFunctions.getResult<DominatorTreeAnalysis>(function)).tellApart(function);
    }
    return PreservedAnalyses::none();
  }
};

} // namespace deadheat
