// The other end is in another process, which answers: who gets the answer comes after who asked.
// expect: no race
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int ends[2], question;

static void *asker(void *unused) {
  question = 1;
  send(ends[0], "a", 1, 0);
  return unused;
}

static void *reader(void *unused) {
  char byte;
  if (recv(ends[0], &byte, 1, 0) == 1) question++;
  return unused;
}

int main(void) {
  pthread_t a, b;
  char byte;
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    while (recv(ends[1], &byte, 1, 0) == 1) send(ends[1], &byte, 1, 0);
    _exit(0);
  }
  close(ends[1]);
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, asker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  close(ends[0]);
  waitpid(child, 0, 0);
}
