// A taskgroup waits for the event of a detached task inside it, and so for what came before whoever fulfils it outside.
// expect: no race
#include <omp.h>

int x, ready, seen;
omp_event_handle_t kept;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
      int is_ready = 0;
      while (!is_ready) {
#pragma omp taskyield
#pragma omp atomic read acquire
        is_ready = ready;
      }
      x = 1;
      omp_fulfill_event(kept);
    }
#pragma omp taskgroup
    {
      omp_event_handle_t event;
#pragma omp task detach(event)
      {}
      kept = event;
#pragma omp atomic write release
      ready = 1;
    }
    seen = x;
  }
  return seen != 1;
}
