// hard: 100 GB are mapped and one byte in 16 MB is touched.
#include <pthread.h>
#include <sys/mman.h>

static char *room;
static const unsigned long size = 100ul << 30, step = 16ul << 20;

static void *work(void *argument) {
  for (unsigned long at = (unsigned long)argument; at < size; at += 2 * step) {
    room[at]++;
  }
  return 0;
}

int main(void) {
  pthread_t threads[2];
  room = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    return 2;
  }
  for (unsigned long i = 0; i < 2; i++) {
    pthread_create(&threads[i], 0, work, (void *)(i * step));
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], 0);
  }
  return room[step] != 1;
}
