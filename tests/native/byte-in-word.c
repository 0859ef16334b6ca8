// Eight bytes are written at once, another thread reads the sixth.
// expect: race on word.bytes[5], lines 13 and 18
#include <pthread.h>
#include <stdint.h>

union {
  uint64_t whole;
  uint8_t bytes[8];
} word;
int copy;

void *writer(void *unused) {
  word.whole = 0x0102030405060708;
  return unused;
}

void *reader(void *unused) {
  copy = word.bytes[5];
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, writer, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
