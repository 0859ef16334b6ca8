// A detached task is complete when its event is fulfilled: what was done before that comes before its successor.
// expect: no race
// threads: 1 2 4 16
#include <omp.h>

int x, seen;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
    x = 0;
#pragma omp task depend(in : x)
    seen = x;
#pragma omp task firstprivate(event)
    omp_fulfill_event(event);
  }
  return seen != 0;
}
