// What goes through one connection says nothing to who receives from another, or at the same end.
// expect: race on pairs, lines 31 and 48
// expect: race on same_end, lines 33 and 49
// expect: race on tcp, lines 35 and 50
// expect: race on unixes, lines 37 and 51
// expect: race on udp, lines 39 and 52
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PAIRS, SAME_END, TCP, UNIX, UDP, WAYS };
int pairs, same_end, tcp, unixes, udp;
int from[WAYS], to[WAYS], turn;

// A connection of this process with itself.
static void connection(int family, struct sockaddr *address, socklen_t length, int ends[2]) {
  int listener = socket(family, SOCK_STREAM, 0);
  ends[0] = socket(family, SOCK_STREAM, 0);
  bind(listener, address, length);
  listen(listener, 1);
  if (family == AF_INET) getsockname(listener, address, &length);
  connect(ends[0], address, length);
  ends[1] = accept(listener, 0, 0);
  close(listener);
}

static void *first(void *unused) {
  pairs = 1;
  send(from[PAIRS], "a", 1, 0);
  same_end = 1;
  send(from[SAME_END], "a", 1, 0);
  tcp = 1;
  send(from[TCP], "a", 1, 0);
  unixes = 1;
  send(from[UNIX], "a", 1, 0);
  udp = 1;
  send(from[UDP], "a", 1, 0);
  __atomic_store_n(&turn, 1, __ATOMIC_RELAXED);
  return unused;
}

static void *second(void *unused) {
  char byte;
  while (!__atomic_load_n(&turn, __ATOMIC_RELAXED)) usleep(100);
  if (recv(to[PAIRS], &byte, 1, 0) == 1) pairs++;
  if (recv(to[SAME_END], &byte, 1, 0) == 1) same_end++;
  if (recv(to[TCP], &byte, 1, 0) == 1) tcp++;
  if (recv(to[UNIX], &byte, 1, 0) == 1) unixes++;
  if (recv(to[UDP], &byte, 1, 0) == 1) udp++;
  return unused;
}

int main(void) {
  pthread_t a, b;
  struct sockaddr_in port = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_un name[2] = {{AF_UNIX, ""}, {AF_UNIX, ""}};
  int ends[2], others[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  socketpair(AF_UNIX, SOCK_STREAM, 0, others);
  from[PAIRS] = ends[0], to[PAIRS] = others[1];
  send(others[0], "a", 1, 0);
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  from[SAME_END] = to[SAME_END] = ends[0];
  send(ends[1], "a", 1, 0);
  connection(AF_INET, (struct sockaddr *)&port, sizeof port, ends);
  port.sin_port = 0;
  connection(AF_INET, (struct sockaddr *)&port, sizeof port, others);
  from[TCP] = ends[0], to[TCP] = others[1];
  send(others[0], "a", 1, 0);
  for (int way = 0; way < 2; way++) {
    snprintf(name[way].sun_path, sizeof name[way].sun_path, P_tmpdir "/deadheat-apart-%d-%d", (int)getpid(), way);
    connection(AF_UNIX, (struct sockaddr *)&name[way], sizeof name[way], way ? others : ends);
    unlink(name[way].sun_path);
  }
  from[UNIX] = ends[0], to[UNIX] = others[1];
  send(others[0], "a", 1, 0);
  for (int way = 0; way < 2; way++) {
    socklen_t length = sizeof port;
    int *pair = way ? others : ends;
    pair[1] = socket(AF_INET, SOCK_DGRAM, 0);
    pair[0] = socket(AF_INET, SOCK_DGRAM, 0);
    port.sin_port = 0;
    bind(pair[1], (struct sockaddr *)&port, sizeof port);
    getsockname(pair[1], (struct sockaddr *)&port, &length);
    connect(pair[0], (struct sockaddr *)&port, length);
  }
  from[UDP] = ends[0], to[UDP] = others[1];
  send(others[0], "a", 1, 0);
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
