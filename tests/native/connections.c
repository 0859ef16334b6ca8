// What is sent through one end of a connection orders who receives it at the other, however the two came to be connected.
// expect: no race
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { TCP, TCP6, UNIX, LATE, UDP, UNNAMED, CLIENTS = 3 };
struct way {
  int listener, before, data[CLIENTS], answer[CLIENTS];
  socklen_t length;
  struct sockaddr_storage address;
} ways[LATE + 1];
int datagrams[2], ends[2], copies[2], data[2];

// Each client says who it is, which the server must know all about; then the server answers.
static void *client(void *argument) {
  int number = (int)(long)argument % CLIENTS;
  struct way *way = &ways[(long)argument / CLIENTS];
  int file = socket(way->address.ss_family, SOCK_STREAM, 0);
  char byte = number;
  way->data[number] = 1;
  while (connect(file, (struct sockaddr *)&way->address, way->length) != 0) usleep(1000);
  // Nobody could connect before the server was there.
  if (way->before != 1) return 0;
  if (way == &ways[LATE]) usleep(30000);
  send(file, &byte, 1, 0);
  if (recv(file, &byte, 1, 0) == 1) way->answer[number]++;
  shutdown(file, SHUT_RDWR);
  close(file);
  return 0;
}

static void *server(void *argument) {
  struct way *way = argument;
  char byte;
  way->before = 1;
  listen(way->listener, CLIENTS);
  if (way == &ways[LATE]) usleep(30000);
  for (int count = 0; count < CLIENTS; count++) {
    int file = accept4(way->listener, 0, 0, SOCK_CLOEXEC);
    if (recv(file, &byte, 1, 0) != 1) continue;
    way->data[(int)byte]++;
    way->answer[(int)byte] = 1;
    send(file, "a", 1, 0);
    close(file);
  }
  return 0;
}

static void *sender(void *unused) {
  data[0] = 1;
  send(datagrams[0], "a", 1, 0);
  data[1] = 1;
  send(copies[0], "a", 1, 0);
  return unused;
}

static void *receiver(void *unused) {
  char byte;
  if (recv(datagrams[1], &byte, 1, 0) == 1) data[0]++;
  if (recv(copies[1], &byte, 1, 0) == 1) data[1]++;
  return unused;
}

int main(void) {
  pthread_t threads[4 * CLIENTS + 6];
  int count = 0;
  struct sockaddr_in port = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (int number = TCP; number <= LATE; number++) {
    struct way *way = &ways[number];
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_un name = {AF_UNIX, ""};
    snprintf(name.sun_path, sizeof name.sun_path, P_tmpdir "/deadheat-connections-%d-%d", (int)getpid(), number);
    int family = number == TCP ? AF_INET : number == TCP6 ? AF_INET6 : AF_UNIX;
    way->listener = socket(family, SOCK_STREAM, 0);
    if (way->listener < 0) continue;
    struct sockaddr *address = (struct sockaddr *)&way->address;
    way->length = family == AF_INET ? sizeof port : family == AF_INET6 ? sizeof six : sizeof name;
    if (family == AF_INET) *(struct sockaddr_in *)address = port;
    else if (family == AF_INET6) *(struct sockaddr_in6 *)address = six;
    else *(struct sockaddr_un *)address = name;
    bind(way->listener, address, way->length);
    getsockname(way->listener, address, &way->length);
    if (family == AF_INET6) {
      // A client of the other family, by an address that only looks different.
      struct sockaddr_in four = port;
      four.sin_port = ((struct sockaddr_in6 *)address)->sin6_port;
      *(struct sockaddr_in *)address = four;
      way->length = sizeof four;
    }
    pthread_create(&threads[count++], 0, server, way);
    for (long client_number = 0; client_number < CLIENTS; client_number++)
      pthread_create(&threads[count++], 0, client, (void *)(number * CLIENTS + client_number));
  }
  socklen_t length = sizeof port;
  datagrams[0] = socket(AF_INET, SOCK_DGRAM, 0);
  datagrams[1] = socket(AF_INET, SOCK_DGRAM, 0);
  bind(datagrams[1], (struct sockaddr *)&port, sizeof port);
  getsockname(datagrams[1], (struct sockaddr *)&port, &length);
  connect(datagrams[0], (struct sockaddr *)&port, length);
  socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends);
  copies[0] = dup(ends[0]);
  copies[1] = fcntl(ends[1], F_DUPFD_CLOEXEC, 100);
  pthread_create(&threads[count++], 0, sender, 0);
  pthread_create(&threads[count++], 0, receiver, 0);
  for (int number = 0; number < count; number++) pthread_join(threads[number], 0);
  for (int number = UNIX; number <= LATE; number++) unlink(((struct sockaddr_un *)&ways[number].address)->sun_path);
}
