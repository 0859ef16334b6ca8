// Untied tasks that yield: very many at once, with dependences, of a loop long enough to be shared out, in sections.
// With five threads or more libomp 19 itself hangs now and then, also without deadheat.
// expect: no race
// threads: 2 3
enum { MANY = 300 };
static int each[MANY], sum, chain, looped[64];

int main(void) {
  for (int again = 0; again < 2; again++) {
#pragma omp parallel
#pragma omp single
    {
#pragma omp task untied
      {
        for (int i = 0; i < MANY; i++) {
#pragma omp task untied firstprivate(i)
          {
            each[i]++;
#pragma omp taskyield
            each[i]++;
          }
        }
#pragma omp taskwait
        for (int i = 0; i < MANY; i++)
          each[i]++;
      }
      for (int i = 0; i < 20; i++) {
#pragma omp task untied depend(inout : chain)
        {
          chain++;
#pragma omp taskyield
          chain++;
        }
      }
#pragma omp task untied
      {
#pragma omp taskloop untied grainsize(2) firstprivate(again)
        for (int i = 0; i < 64; i++) {
          looped[i] += again;
#pragma omp taskyield
          looped[i]++;
        }
        looped[3]++;
      }
#pragma omp taskwait
      for (int i = 0; i < 40; i++) {
#pragma omp task untied
        {
#pragma omp taskyield
#pragma omp critical
          sum++;
#pragma omp taskyield
        }
      }
    }
  }
  return sum != 80;
}
