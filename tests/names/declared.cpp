// A class that this file only declares, as far as the compilers describe it: its constructor and methods are elsewhere.
// with: declared-part.cc
// variable: cache.hits
#include "declared.h"
#include <thread>

Cache cache;

int main() {
  std::thread a([] { cache.touch(); });
  std::thread b([] { cache.touch(); });
  a.join();
  b.join();
}
