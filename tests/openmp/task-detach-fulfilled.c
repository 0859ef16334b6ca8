// Whoever fulfils the event has written before: the successor of the detached task sees it.
// expect: no race
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
      y = 1;
      omp_fulfill_event(event);
    }
#pragma omp task depend(in : x)
    seen = x + y;
  }
  return seen != 2;
}
