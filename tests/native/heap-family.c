// calloc, realloc, aligned_alloc, posix_memalign, reallocarray, strdup: all give fresh memory.
// expect: no race
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *worker(void *unused) {
  intptr_t wrong = 0;
  for (int i = 0; i < 50; i++) {
    int *zeros = calloc(16, sizeof(int));
    wrong |= zeros[7];
    zeros[7] = 1;
    zeros = realloc(zeros, 200 * sizeof(int));
    wrong |= zeros[7] != 1;
    zeros[150] = 1;
    zeros = reallocarray(zeros, 20, sizeof(int));
    wrong |= zeros[7] != 1;
    free(zeros);
    int *aligned = aligned_alloc(64, 128);
    wrong |= (uintptr_t)aligned % 64 != 0;
    aligned[3] = 1;
    free(aligned);
    void *other = 0;
    wrong |= posix_memalign(&other, 256, 512);
    wrong |= (uintptr_t)other % 256 != 0;
    memset(other, i, 512);
    free(other);
    char *text = strdup("text");
    wrong |= strcmp(text, "text");
    text[0] = 'n';
    free(text);
    free(0);
  }
  return wrong ? "wrong" : unused;
}

int main(void) {
  pthread_t a, b;
  void *results[2];
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, &results[0]);
  pthread_join(b, &results[1]);
  return results[0] != 0 || results[1] != 0;
}
