// A descriptor is closed while another thread may still use it; its number is then used again.
// expect: race on file descriptor 3, lines 20 and 27
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int turn, used, ordered;

static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }

static void await(int number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < number) {
    usleep(100);
  }
}

void *first(void *unused) {
  char byte;
  read(ordered, &byte, 1);
  read(used, &byte, 1);
  next();
  return unused;
}

void *second(void *unused) {
  await(1);
  close(used);
  int again = open("/dev/zero", O_RDONLY);
  char byte;
  read(again, &byte, 1);
  next();
  return unused;
}

void *third(void *unused) {
  await(2);
  int other = open("/dev/zero", O_RDONLY);
  char byte;
  read(other, &byte, 1);
  close(other);
  return unused;
}

int main(void) {
  used = open("/dev/zero", O_RDONLY);
  ordered = open("/dev/zero", O_RDONLY);
  pthread_t a, b, c;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_create(&c, 0, third, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
  close(ordered);
  return 0;
}
