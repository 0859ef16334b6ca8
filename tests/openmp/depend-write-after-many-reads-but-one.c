// A task writes after all but one of very many tasks that read, each of them with dependences of its own.
// expect: race on x, lines 13 and 18
// threads: 1 2 4 16
enum { MANY = 300, FORGOTTEN = 123 };
int x, seen[MANY], named[MANY];

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < MANY; i++) {
#pragma omp task depend(in : named[i]) firstprivate(i)
      seen[i] = x;
    }
#pragma omp task depend(iterator(i = 0 : FORGOTTEN), out : named[i]) \
    depend(iterator(i = FORGOTTEN + 1 : MANY), out : named[i])
    // What it writes, the forgotten task reads.
    x = 1;
  }
  return 0;
}
