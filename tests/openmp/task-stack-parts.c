// A task and its creator change the same parts of the creator's own structure and array.
// expect: race on *, lines 15 and 17
// expect: race on *, lines 16 and 18
struct pair {
  int one, other;
};

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    struct pair own = {0, 0};
    int table[4] = {0, 0, 0, 0};
#pragma omp task shared(own, table)
    { own.other = 1;
      table[2] = 1; }
    own.other = 2;
    table[2] = 2;
#pragma omp taskwait
    if (own.one + own.other + table[2] == 0) {
      __builtin_trap();
    }
  }
}
