// A lock on a file that belongs to the descriptor keeps threads apart, each with a descriptor of its own.
// expect: no race
// options: -D_GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char name[] = P_tmpdir "/deadheat-lock-XXXXXX";
int count;

static void *thread(void *unused) {
  int file = open(name, O_RDWR);
  for (int i = 0; i < 10; i++) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(file, F_OFD_SETLKW, &lock);
    count++;
    lock.l_type = F_UNLCK;
    fcntl(file, F_OFD_SETLK, &lock);
  }
  close(file);
  return unused;
}

int main(void) {
  pthread_t a, b;
  close(mkstemp(name));
  pthread_create(&a, 0, thread, 0);
  pthread_create(&b, 0, thread, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  unlink(name);
}
