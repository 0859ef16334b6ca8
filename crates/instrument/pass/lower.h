// After the optimiser, marks become calls of the runtime.
#pragma once

#include "mark.h"

namespace deadheat {

class Lower : public PassInfoMixin<Lower> {
  Module *module;

  FunctionCallee hook(const Twine &name, ArrayRef<Type *> arguments) {
    SmallString<32> text;
    Type *nothing = Type::getVoidTy(module->getContext());
    // Calls that become one would have one line.
    LLVMContext &context = module->getContext();
    auto attributes = AttributeList().addFnAttribute(context, Attribute::NoUnwind);
    attributes = attributes.addFnAttribute(context, Attribute::NoMerge);
    return module->getOrInsertFunction(name.toStringRef(text), FunctionType::get(nothing, arguments, false), attributes);
  }

  void lower(CallInst &mark) {
    IRBuilder<> builder(&mark);
    Value *place = markedPlace(mark);
    Type *pointer = place->getType();
    uint64_t size = markedSize(mark);
    Kind kind = markedKind(mark);
    if (kind == TableRead) {
      builder.CreateCall(hook("__tsan_vptr_read", {pointer}), {place});
    } else if (size != 0 && size <= 16 && isPowerOf2_64(size)) {
      const char *names[] = {"__tsan_read", "__tsan_write", "__tsan_read_write"};
      builder.CreateCall(hook(names[kind] + Twine(size), {pointer}), {place});
    } else if (isOnePiece(mark) && !isOfLoop(mark) && kind != Update) {
      StringRef name = kind == Read ? "__tsan_read_range" : "__tsan_write_range";
      builder.CreateCall(hook(name, {pointer, builder.getInt64Ty()}), {place, markedBytes(mark)});
    } else {
      Type *number = builder.getInt64Ty();
      SmallVector<Value *> values = {place, markedBytes(mark)};
      SmallVector<Type *> types = {pointer, number};
      const char *names[] = {"__deadheat_read_", "__deadheat_write_", "__deadheat_update_"};
      if (!isOnePiece(mark)) {
        values.append({markedCount(mark), markedStep(mark)});
        types.append({number, number});
      }
      builder.CreateCall(hook(Twine(names[kind]) + (isOnePiece(mark) ? "range" : "pieces"), types), values);
    }
    mark.eraseFromParent();
  }

  // The same of what is compared.
  void compareUnseen(CallInst &call) {
    FunctionType *type = call.getFunctionType();
    call.setCalledFunction(module->getOrInsertFunction("__deadheat_memcmp", type));
  }

  // Marks tell of what is copied: the copying itself must not go through the runtime a second time.
  void copyUnseen(MemIntrinsic &call) {
    auto *length = dyn_cast<ConstantInt>(call.getLength());
    bool isSmall = length && length->getZExtValue() <= 64;
    bool isElsewhere = call.getDestAddressSpace() != 0;
    if (call.isVolatile() || isSmall || isElsewhere || isa<MemCpyInlineInst, MemSetInlineInst>(call))
      return;
    IRBuilder<> builder(&call);
    Type *pointer = builder.getPtrTy(), *number = builder.getInt64Ty();
    Value *size = builder.CreateZExtOrTrunc(call.getLength(), number);
    if (auto *copy = dyn_cast<MemTransferInst>(&call)) {
      StringRef name = isa<MemMoveInst>(copy) ? "__deadheat_memmove" : "__deadheat_memcpy";
      builder.CreateCall(hook(name, {pointer, pointer, number}), {copy->getRawDest(), copy->getRawSource(), size});
    } else {
      auto *fill = cast<MemSetInst>(&call);
      Type *integer = builder.getInt32Ty();
      Value *byte = builder.CreateZExt(fill->getValue(), integer);
      builder.CreateCall(hook("__deadheat_memset", {pointer, integer, number}), {fill->getRawDest(), byte, size});
    }
    call.eraseFromParent();
  }

public:
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module &all, ModuleAnalysisManager &) {
    module = &all;
    for (Function &function : all)
      for (Instruction &instruction : make_early_inc_range(instructions(function))) {
        if (CallInst *mark = asMark(instruction))
          lower(*mark);
        else if (auto *call = dyn_cast<MemIntrinsic>(&instruction); call && isChecked(function))
          copyUnseen(*call);
        else if (CallInst *call = asComparison(instruction); call && isChecked(function))
          compareUnseen(*call);
      }
    if (Function *mark = all.getFunction(MarkName); mark && mark->use_empty())
      mark->eraseFromParent();
    return PreservedAnalyses::none();
  }
};

} // namespace deadheat
