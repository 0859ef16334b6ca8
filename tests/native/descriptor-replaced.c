// Another file is put in the place of a descriptor that another thread uses, before or after.
// expect: race on file descriptor 3, lines 13 and 22
// expect: race on file descriptor 4, lines 16 and 23
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int turn, before, after, other;

static void *first(void *unused) {
  char byte;
  read(before, &byte, 1);
  __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < 2) usleep(100);
  read(after, &byte, 1);
  return unused;
}

static void *second(void *unused) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < 1) usleep(100);
  dup2(other, before);
  dup3(other, after, O_CLOEXEC);
  __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED);
  return unused;
}

int main(void) {
  pthread_t a, b;
  before = open("/dev/zero", O_RDONLY);
  after = open("/dev/zero", O_RDONLY);
  other = open("/dev/zero", O_RDONLY);
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
