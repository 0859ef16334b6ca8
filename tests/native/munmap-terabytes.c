// Terabytes that were reserved and hardly used are given back at once; what is no mapping is left to the kernel to refuse.
// expect: no race
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

static int failed;

void *user(void *unused) {
  const size_t size = (size_t)1 << 45;
  char *room = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    room[0] = room[size / 2] = room[size - 1] = 1;
    failed |= munmap(room, size) != 0;
  }
  failed |= munmap((char *)&failed + 1, (size_t)1 << 46) == 0;
  failed |= munmap((void *)4096, SIZE_MAX / 2) == 0;
  failed |= munmap((void *)((uintptr_t)&failed & -4096), SIZE_MAX & -4096) == 0;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, user, 0);
  pthread_join(a, 0);
  return failed;
}
