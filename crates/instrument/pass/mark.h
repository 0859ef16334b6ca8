// A mark: a call in the program's code, beside each access to memory that others may share, that says what is accessed.
//
//     call void @__deadheat_mark(ptr %where, i64 %size, i64 %count, i64 %step, i32 %kind)
//
// So many bytes from there on, and so many times the same a step further each.
//
// It stands for a check from before the optimiser begins until it has finished. To the optimiser it touches only memory that the
// program cannot see, and it always returns: so it is neither deleted, doubled nor moved past another call or an atomic operation,
// while everything that the program's own loads and stores allow stays allowed: values may live in registers, loads that
// nobody needs go, and the marks that tell of them stay.
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace deadheat {

using namespace llvm;

enum Kind : unsigned {
  Read = 0,
  Write = 1,
  // A read and then a write of the same place.
  Update = 2,
  // A table of virtual functions is read.
  TableRead = 3,
};

constexpr StringLiteral MarkName = "__deadheat_mark";
// A table of virtual functions is set. It looks at what was there, and so is not only a mark.
constexpr StringLiteral TableUpdateName = "__tsan_vptr_update";
// Memory is compared, as far as it takes to find a difference: this looks for it, too.
constexpr StringLiteral CompareName = "__deadheat_compare";

inline FunctionCallee markFunction(Module &module) {
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::getUnqual(context);
  AttrBuilder function(context);
  function.addMemoryAttr(MemoryEffects::inaccessibleMemOnly());
  for (auto kind : {Attribute::NoUnwind, Attribute::WillReturn, Attribute::NoCallback, Attribute::NoFree,
                    Attribute::NoSync, Attribute::NoRecurse})
    function.addAttribute(kind);
  // Two of them may not become one, which would have one line.
  function.addAttribute(Attribute::NoMerge);
  // What is inlined needs fewer checks: of memory that turns out to be a function's own, of what its caller has checked, of
  // entries and exits. So a mark is no cost but a gain, of two instructions; with it, code gets smaller.
  function.addAttribute("call-inline-cost", "-10");
  AttributeList attributes = AttributeList().addFnAttributes(context, function);
  attributes = attributes.addParamAttribute(context, 0, Attribute::NoCapture);
  attributes = attributes.addParamAttribute(context, 0, Attribute::ReadNone);
  Type *number = Type::getInt64Ty(context);
  return module.getOrInsertFunction(MarkName, attributes, Type::getVoidTy(context), pointer, number, number, number,
                                    Type::getInt32Ty(context));
}

// What only reads the memory that it is given.
inline FunctionCallee readingFunction(Module &module, StringRef name, ArrayRef<Type *> arguments, unsigned read) {
  LLVMContext &context = module.getContext();
  AttrBuilder function(context);
  function.addMemoryAttr(MemoryEffects::inaccessibleOrArgMemOnly());
  for (auto kind : {Attribute::NoUnwind, Attribute::WillReturn, Attribute::NoMerge})
    function.addAttribute(kind);
  function.addAttribute("call-inline-cost", "0");
  AttributeList attributes = AttributeList().addFnAttributes(context, function);
  for (unsigned argument : {0, 1}) {
    attributes = attributes.addParamAttribute(context, argument, Attribute::NoCapture);
    attributes = attributes.addParamAttribute(context, argument, argument < read ? Attribute::ReadOnly : Attribute::ReadNone);
  }
  return module.getOrInsertFunction(name, FunctionType::get(Type::getVoidTy(context), arguments, false), attributes);
}

inline FunctionCallee tableUpdateFunction(Module &module) {
  Type *pointer = PointerType::getUnqual(module.getContext());
  return readingFunction(module, TableUpdateName, {pointer, pointer}, 1);
}

inline FunctionCallee compareFunction(Module &module) {
  Type *pointer = PointerType::getUnqual(module.getContext());
  return readingFunction(module, CompareName, {pointer, pointer, Type::getInt64Ty(module.getContext())}, 2);
}

// A mark, or null.
inline CallInst *asMark(Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName() == MarkName ? call : nullptr;
}

// A mark or the like, which goes where the memory is nobody else's; or null.
inline CallInst *asCheck(Instruction &instruction) {
  if (CallInst *mark = asMark(instruction))
    return mark;
  auto *call = dyn_cast<CallInst>(&instruction);
  Function *callee = call ? call->getCalledFunction() : nullptr;
  bool isOther = callee && (callee->getName() == TableUpdateName || callee->getName() == CompareName);
  return isOther ? call : nullptr;
}

inline bool isComparison(CallInst &check) { return check.getCalledFunction()->getName() == CompareName; }

inline Value *markedPlace(CallInst &mark) { return mark.getArgOperand(0); }
inline Value *markedBytes(CallInst &mark) { return mark.getArgOperand(1); }
inline Value *markedCount(CallInst &mark) { return mark.getArgOperand(2); }
inline Value *markedStep(CallInst &mark) { return mark.getArgOperand(3); }
inline Kind markedKind(CallInst &mark) { return Kind(cast<ConstantInt>(mark.getArgOperand(4))->getZExtValue()); }

inline bool isOnePiece(CallInst &mark) {
  auto *count = dyn_cast<ConstantInt>(markedCount(mark));
  return count && count->isOne();
}

// The number of bytes, if it is known and they are one piece. 0: it is not.
inline uint64_t markedSize(CallInst &mark) {
  auto *size = dyn_cast<ConstantInt>(markedBytes(mark));
  return size && isOnePiece(mark) ? size->getZExtValue() : 0;
}

// It stands for several accesses of a loop.
inline bool isOfLoop(const CallInst &mark) { return mark.hasMetadata("deadheat.loop"); }
inline void setOfLoop(CallInst &mark) { mark.setMetadata("deadheat.loop", MDNode::get(mark.getContext(), {})); }

inline CallInst *placeMark(IRBuilderBase &builder, Value *where, Value *size, Kind kind) {
  Module &module = *builder.GetInsertBlock()->getModule();
  size = builder.CreateZExtOrTrunc(size, builder.getInt64Ty());
  return builder.CreateCall(markFunction(module),
                            {where, size, builder.getInt64(1), builder.getInt64(0), builder.getInt32(kind)});
}

// A call of the C library that compares memory, which the optimiser may replace by accesses of its own; or null.
inline CallInst *asComparison(Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  Function *callee = call ? call->getCalledFunction() : nullptr;
  bool isNamed = callee && callee->isDeclaration() && (callee->getName() == "memcmp" || callee->getName() == "bcmp");
  return isNamed && call->arg_size() == 3 && call->getArgOperand(2)->getType()->isIntegerTy(64) ? call : nullptr;
}

// Whether a function's accesses are to be checked.
inline bool isChecked(const Function &function) {
  return !function.isDeclaration() && function.hasFnAttribute(Attribute::SanitizeThread) &&
         !function.hasFnAttribute(Attribute::Naked) &&
         !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation);
}

} // namespace deadheat
