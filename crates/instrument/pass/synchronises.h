// What another thread's accesses can be ordered by: between two instructions of which none may do so, the time of a thread
// stands still, and it does not matter where in between an access is checked.
#pragma once

#include "mark.h"

namespace deadheat {

inline bool maySynchronise(Instruction &instruction) {
  if (auto *call = dyn_cast<CallBase>(&instruction)) {
    if (asCheck(instruction))
      return false;
    // What is declared so has no atomic operation that orders, and calls nothing that has.
    return !(call->hasFnAttr(Attribute::NoSync) && call->doesNotThrow() && call->hasFnAttr(Attribute::WillReturn));
  }
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return isStrongerThanMonotonic(load->getOrdering());
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return isStrongerThanMonotonic(store->getOrdering());
  return isa<FenceInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction);
}

} // namespace deadheat
