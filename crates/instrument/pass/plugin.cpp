// What clang loads with -fpass-plugin. The order: mark.h says what marks are; place_marks.h places them, first of all passes;
// drop_own.h, loop_marks.h and drop_told.h leave as few as will do; lower.h makes calls of the rest, last of all.

#include "drop_own.h"
#include "drop_told.h"
#include "loop_marks.h"
#include "lower.h"
#include "place_marks.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

// To measure what each brings, DEADHEAT_INSTRUMENT can leave some out: `-own,-loops,-told`.
static bool isLeftOut(StringRef name) {
  const char *text = std::getenv("DEADHEAT_INSTRUMENT");
  SmallVector<StringRef> words;
  StringRef(text ? text : "").split(words, ',');
  return is_contained(words, name);
}

static void registerPasses(PassBuilder &builder) {
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(deadheat::PlaceMarks()); });
  if (!isLeftOut("-own"))
    builder.registerPeepholeEPCallback([](FunctionPassManager &passes, OptimizationLevel) {
      passes.addPass(deadheat::DropOwn());
      passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    });
  if (!isLeftOut("-loops"))
    builder.registerVectorizerStartEPCallback([](FunctionPassManager &passes, OptimizationLevel) {
      passes.addPass(LoopSimplifyPass());
      passes.addPass(deadheat::LoopMarks());
    });
  builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, OptimizationLevel) {
    if (!isLeftOut("-told"))
      passes.addPass(createModuleToFunctionPassAdaptor(deadheat::DropTold()));
    passes.addPass(deadheat::Lower());
  });
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "deadheat", "1", registerPasses};
}
