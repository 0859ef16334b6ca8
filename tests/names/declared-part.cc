// The other file of `declared.cpp`.
#include "declared.h"

Cache::Cache() : size(1), hits(0) {}
Cache::~Cache() {}
void Cache::touch() {
  hits += size;
}
