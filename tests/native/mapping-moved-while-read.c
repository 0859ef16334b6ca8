// Memory is moved away while another thread may still read it; of another piece only the end goes away.
// expect: race on *, lines 14 and 27
// expect: race on *, lines 15 and 28
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };
static char *moved, *cut, sum;
static int seen;

void *reader(void *unused) {
  sum += moved[5];
  sum += cut[PAGE + 5];
  sum += cut[5];
  __atomic_store_n(&seen, 1, __ATOMIC_RELAXED);
  return unused;
}

int main(void) {
  moved = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cut = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_t a;
  pthread_create(&a, 0, reader, 0);
  while (!__atomic_load_n(&seen, __ATOMIC_RELAXED)) usleep(100);
  char *other = mremap(moved, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
  mremap(cut, 2 * PAGE, PAGE, 0), pthread_join(a, 0);
  return other == MAP_FAILED;
}
