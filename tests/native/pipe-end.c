// Whoever closed the other end of a pipe comes before who finds that nothing more will come.
// expect: no race
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

int ends[2][2];
int data[2];

static void *reader(void *unused) {
  char byte;
  while (read(ends[0][0], &byte, 1) > 0) {
  }
  int sum = data[0];
  while (recv(ends[1][0], &byte, 1, 0) > 0) {
  }
  sum += data[1];
  return sum == 2 ? unused : &data;
}

int main(void) {
  pthread_t thread;
  void *wrong;
  if (pipe(ends[0]) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends[1])) return 2;
  pthread_create(&thread, 0, reader, 0);
  data[0] = 1;
  close(ends[0][1]);
  data[1] = 1;
  shutdown(ends[1][1], SHUT_WR);
  pthread_join(thread, &wrong);
  return wrong != 0;
}
