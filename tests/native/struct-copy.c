// A struct is assigned while another thread changes a member.
// expect: race on shared, lines 10 and 17
#include <pthread.h>

struct record {
  long members[12];
} shared, copy;

void *copier(void *unused) {
  copy = shared;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, copier, 0);
  shared.members[5] = 1;
  pthread_join(a, 0);
}
