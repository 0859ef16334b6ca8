// Calls without a path, or without what to send: the kernel says EFAULT or EBADF, as without checking.
// expect: no race
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void *work(void *nothing) {
  struct stat status;
  char text[8];
  const char *volatile none = nothing;
  int bad = statx(0, none, 0, STATX_BASIC_STATS, nothing) + stat(none, &status) + lstat(none, &status) +
            fstatat(AT_FDCWD, none, &status, 0) + access(none, R_OK) + unlink(none) + mkdir(none, 0) + rmdir(none) +
            chdir(none) + rename(none, none) + (int)readlink(none, text, sizeof text) + (int)writev(-1, nothing, 1) +
            (int)sendmsg(-1, nothing, 0) + sendmmsg(-1, nothing, 1, 0);
  if (bad != -14)
    abort();
  return 0;
}

int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
}
