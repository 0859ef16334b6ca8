// Several messages are sent and received by one call.
// expect: race on buffer, lines 17 and 31
// options: -D_GNU_SOURCE
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>

int ends[2], handed_over;
char buffer[2][8];

static void *receiver(void *unused) {
  struct iovec pieces[2] = {{buffer[0], 8}, {buffer[1], 8}};
  struct mmsghdr messages[2] = {
      {.msg_hdr = {.msg_iov = &pieces[0], .msg_iovlen = 1}},
      {.msg_hdr = {.msg_iov = &pieces[1], .msg_iovlen = 1}},
  };
  recvmmsg(ends[0], messages, 2, 0, 0);
  handed_over++;
  return unused;
}

static void *sender(void *unused) {
  struct iovec piece = {"message", 8};
  struct mmsghdr message = {.msg_hdr = {.msg_iov = &piece, .msg_iovlen = 1}}, messages[2] = {message, message};
  handed_over = 1;
  sendmmsg(ends[1], messages, 2, 0);
  return unused;
}

static void *other(void *unused) {
  buffer[1][7] = 1;
  return unused;
}

int main(void) {
  pthread_t a, b, c;
  socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
  pthread_create(&a, 0, receiver, 0);
  pthread_create(&b, 0, sender, 0);
  pthread_create(&c, 0, other, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  pthread_join(c, 0);
}
