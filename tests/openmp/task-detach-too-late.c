// Whoever fulfils the event writes after that: the successor of the detached task may read at the same time.
// expect: race on y, lines 18 and 21
// threads: 1 2 4 16
#include <omp.h>

int x, y, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
    x = 1;
#pragma omp task firstprivate(event)
    {
      omp_fulfill_event(event);
      y = 1;
    }
#pragma omp task depend(in : x)
    seen = x + y;
  }
}
