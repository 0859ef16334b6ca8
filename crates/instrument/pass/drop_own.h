// Once functions are inlined, more memory turns out to be a function's own: marks of it go, and no longer keep variables in memory.
#pragma once

#include "own_memory.h"

namespace deadheat {

class DropOwn : public PassInfoMixin<DropOwn> {
public:
  static bool isRequired() { return true; }

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &) {
    OwnMemory own;
    bool changed = false;
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      CallInst *mark = asCheck(instruction);
      if (mark && own.has(markedPlace(*mark)) && (!isComparison(*mark) || own.has(mark->getArgOperand(1)))) {
        mark->eraseFromParent();
        changed = true;
      }
    }
    if (!changed)
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
};

} // namespace deadheat
