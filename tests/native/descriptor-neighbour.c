// A descriptor is closed while another thread may use it; the one beside it was closed before.
// expect: race on file descriptor 4, lines 16 and 32
// expect: race on file descriptor 7, lines 17 and 33
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int turn, files[5];

static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }

static void await(int number) { while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < number) usleep(100); }

static void *first(void *unused) {
  char byte;
  read(files[1], &byte, 1);
  read(files[4], &byte, 1);
  next();
  return unused;
}

static void *second(void *unused) {
  await(1);
  close(files[2]);
  close(files[3]);
  next();
  return unused;
}

static void *third(void *unused) {
  await(2);
  close(files[1]);
  close(files[4]);
  return unused;
}

int main(void) {
  pthread_t a, b, c;
  for (int number = 0; number < 5; number++) files[number] = open("/dev/zero", O_RDONLY);
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_create(&c, 0, third, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
}
