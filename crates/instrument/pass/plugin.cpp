// What clang loads with -fpass-plugin.

#include "drop_own.h"
#include "drop_told.h"
#include "loop_marks.h"
#include "lower.h"
#include "place_marks.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Scalar/SROA.h"

using namespace llvm;

static void registerPasses(PassBuilder &builder) {
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(deadheat::PlaceMarks()); });
  builder.registerPeepholeEPCallback([](FunctionPassManager &passes, OptimizationLevel) {
    passes.addPass(deadheat::DropOwn());
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  });
  builder.registerVectorizerStartEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) { passes.addPass(deadheat::LoopMarks()); });
  builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, OptimizationLevel) {
    passes.addPass(createModuleToFunctionPassAdaptor(deadheat::DropTold()));
    passes.addPass(deadheat::Lower());
  });
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "deadheat", "1", registerPasses};
}
