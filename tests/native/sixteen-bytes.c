// A vector of sixteen bytes is stored at once; another thread writes its last byte.
// expect: race on vector.bytes[15], lines 13 and 20
#include <pthread.h>

typedef char vector_type __attribute__((vector_size(16)));

union {
  vector_type whole;
  char bytes[16];
} vector;

void *writer(void *unused) {
  vector.whole = (vector_type){1, 2, 3};
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, writer, 0);
  vector.bytes[15] = 1;
  pthread_join(a, 0);
}
