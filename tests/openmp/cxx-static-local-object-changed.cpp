// A static object in a function is made once, and then changed by all threads.
// expect: race on *, lines 15 and 15
struct Cache {
  Cache() : hits(0) {}
  int hits;
};

Cache &cache() {
  static Cache *one = new Cache;
  return *one;
}

int main() {
#pragma omp parallel
  cache().hits++;
}
