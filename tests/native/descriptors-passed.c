// Descriptors that come through a socket stand for what they stood for: a pipe and a counter of events.
// expect: no race
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int way[2], pipes[2], counter, x, y;

static void *sender(void *unused) {
  uint64_t one = 1;
  x = 1;
  write(pipes[1], "a", 1);
  y = 1;
  write(counter, &one, sizeof one);
  return unused;
}

static void *receiver(void *argument) {
  int *files = argument;
  uint64_t count;
  char byte;
  if (read(files[0], &byte, 1) == 1) x++;
  if (read(files[1], &count, sizeof count) == sizeof count) y++;
  return 0;
}

int main(void) {
  pthread_t a, b;
  int files[2];
  char byte = 0, room[CMSG_SPACE(sizeof files)];
  struct iovec piece = {&byte, 1};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *part = CMSG_FIRSTHDR(&message);
  socketpair(AF_UNIX, SOCK_STREAM, 0, way);
  pipe(pipes);
  counter = eventfd(0, 0);
  files[0] = pipes[0], files[1] = counter;
  part->cmsg_level = SOL_SOCKET, part->cmsg_type = SCM_RIGHTS, part->cmsg_len = CMSG_LEN(sizeof files);
  memcpy(CMSG_DATA(part), files, sizeof files);
  sendmsg(way[0], &message, 0);
  recvmsg(way[1], &message, 0);
  memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof files);
  pthread_create(&a, 0, receiver, files);
  pthread_create(&b, 0, sender, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
