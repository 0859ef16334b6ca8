// hard: eight threads write the eight bytes of each word.
#include <pthread.h>

enum { WORDS = 20000, ROUNDS = 60 };
static char bytes[WORDS * 8];

static void *work(void *argument) {
  long me = (long)argument;
  for (int round = 0; round < ROUNDS; round++) {
    for (long i = 0; i < WORDS; i++) {
      bytes[i * 8 + me]++;
    }
  }
  return 0;
}

int main(void) {
  pthread_t threads[8];
  for (long i = 0; i < 8; i++) {
    pthread_create(&threads[i], 0, work, (void *)i);
  }
  for (int i = 0; i < 8; i++) {
    pthread_join(threads[i], 0);
  }
  return bytes[77] != ROUNDS;
}
