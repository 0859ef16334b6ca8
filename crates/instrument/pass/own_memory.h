// Memory that no other thread can know of: local variables, and what a function allocates, whose address stays in it.
#pragma once

#include "mark.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"

namespace deadheat {

// Functions of OpenMP's runtime that write to variables of their caller and forget where they are.
inline bool forgetsItsArguments(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  if (!callee)
    return false;
  StringRef name = callee->getName();
  return name.starts_with("__kmpc_for_static_init") || name.starts_with("__kmpc_dispatch_next") ||
         name.starts_with("__kmpc_dist_for_static_init") || name.starts_with("__kmpc_dist_dispatch_init") ||
         name.starts_with("__kmpc_team_static_init");
}

// The thread's number, which OpenMP's runtime hands to the body of a region.
inline bool isThreadNumber(const Value *object) {
  // Without optimisation, what arguments are lies in variables that are set once.
  if (auto *load = dyn_cast<LoadInst>(object))
    if (auto *variable = dyn_cast<AllocaInst>(load->getPointerOperand()))
      for (const User *user : variable->users())
        if (auto *store = dyn_cast<StoreInst>(user); store && store->getPointerOperand() == variable)
          object = store->getValueOperand();
  auto *argument = dyn_cast<Argument>(object);
  return argument && argument->getArgNo() < 2 && argument->hasNoAliasAttr() &&
         argument->getParent()->getName().contains(".omp_outlined");
}

// What a function keeps to itself. Its answers hold as long as the function stays as it is.
class OwnMemory {
  struct Search : CaptureTracker {
    bool found = false;
    void tooManyUses() override { found = true; }
    bool captured(const Use *use) override {
      auto *call = dyn_cast<CallBase>(use->getUser());
      if (call && call->isArgOperand(use) && forgetsItsArguments(*call))
        return false;
      return found = true;
    }
  };
  // More uses than this are not looked at.
  static constexpr unsigned Uses = 400;
  DenseMap<const Value *, bool> known;

public:
  bool has(const Value *place) {
    const Value *object = getUnderlyingObject(place, /*MaxLookup=*/12);
    if (isThreadNumber(object))
      return true;
    if (!isIdentifiedFunctionLocal(object))
      return false;
    // An argument without aliases belongs to whoever calls, who may have made it known.
    if (auto *argument = dyn_cast<Argument>(object); argument && !argument->hasByValAttr())
      return false;
    auto [entry, isNew] = known.try_emplace(object, false);
    if (isNew) {
      Search search;
      PointerMayBeCaptured(object, &search, Uses);
      entry->second = !search.found;
    }
    return entry->second;
  }
};

} // namespace deadheat
