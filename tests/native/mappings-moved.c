// Threads take turns in having memory at one address: by mremap, by system calls of their own, as shared memory of System V.
// Whoever comes next has other memory there.
// expect: no race
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 4 * 4096, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS, RIGHTS = PROT_READ | PROT_WRITE };
static char *moved, *raw, *attached, *spare;
static int id;
static int turn;

// Nobody else may get what is left empty.
static void leave(char *place) { syscall(SYS_mmap, place, SIZE, PROT_NONE, FLAGS | MAP_FIXED, -1, 0); }

void *user(void *number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) != (long)number) usleep(100);
  char *own = mmap(0, SIZE, RIGHTS, FLAGS, -1, 0);
  char *there = mremap(own, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, moved);
  memset(there, 1, SIZE);
  mremap(there, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, spare + (long)number * SIZE);
  leave(moved);

  there = (char *)syscall(SYS_mmap, raw, SIZE, RIGHTS, FLAGS | MAP_FIXED, -1, 0);
  memset(there, 2, SIZE);
  leave(there);

  there = shmat(id, attached, SHM_REMAP);
  memset(there, 3, SIZE);
  shmdt(there);
  leave(there);
  __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED);
  return 0;
}

int main(void) {
  char *room = mmap(0, 8 * SIZE, PROT_NONE, FLAGS, -1, 0);
  moved = room, raw = moved + SIZE, attached = raw + SIZE, spare = attached + SIZE;
  id = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0600);
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, user, (void *)i);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  shmctl(id, IPC_RMID, 0);
  return 0;
}
