// What one thread sends through the kernel, another gets: streams, sockets, counters, queues, semaphores, signals.
// expect: no race
// options: -lrt
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WAYS = 14 };
long x[WAYS];
int pipes[WAYS][2], sockets[2], counter, semaphores, messages, epolls[2];
mqd_t queue;
sigset_t signals;
struct message {
  long type;
  char text;
};

void send_by(int way) {
  struct iovec piece = {"a", 1};
  struct sembuf give = {0, 1, 0};
  struct message message = {1, 2};
  switch (way) {
  case 0: write(pipes[0][1], "a", 1); break;
  case 1: writev(pipes[1][1], &piece, 1); break;
  case 2: dprintf(pipes[2][1], "%d", 5); break;
  case 3: {
    FILE *out = fdopen(pipes[3][1], "w");
    fputs("a\n", out);
    fclose(out);
    break;
  }
  case 4: sendto(sockets[0], "a", 1, 0, 0, 0); break;
  case 5: eventfd_write(counter, 1); break;
  case 6: semop(semaphores, &give, 1); break;
  case 7: msgsnd(messages, &message, 1, 0); break;
  case 8: mq_send(queue, "a", 1, 0); break;
  case 9: kill(getpid(), SIGUSR1); break;
  default: write(pipes[way][1], "a", 1); break;
  }
}

void receive_by(int way) {
  char bytes[16];
  struct iovec piece = {bytes, 1};
  struct sembuf take = {0, -1, 0};
  struct message message;
  struct pollfd ready = {pipes[10][0], POLLIN, 0};
  struct epoll_event event;
  eventfd_t count;
  fd_set set;
  int signal;
  switch (way) {
  case 0: read(pipes[0][0], bytes, 1); break;
  case 1: readv(pipes[1][0], &piece, 1); break;
  case 2: read(pipes[2][0], bytes, 1); break;
  case 3: {
    FILE *in = fdopen(pipes[3][0], "r");
    fgets(bytes, 9, in);
    fclose(in);
    break;
  }
  case 4: recvfrom(sockets[1], bytes, 1, 0, 0, 0); break;
  case 5: eventfd_read(counter, &count); break;
  case 6: semop(semaphores, &take, 1); break;
  case 7: msgrcv(messages, &message, 1, 0, 0); break;
  case 8: mq_receive(queue, bytes, 16, 0); break;
  case 9: sigwait(&signals, &signal); break;
  case 10: poll(&ready, 1, -1); break;
  case 11:
    FD_ZERO(&set);
    FD_SET(pipes[11][0], &set);
    select(pipes[11][0] + 1, &set, 0, 0, 0);
    break;
  case 12: epoll_wait(epolls[0], &event, 1, -1); break;
  case 13: epoll_pwait(epolls[1], &event, 1, -1, 0); break;
  }
}

void *sender(void *unused) {
  for (int way = 0; way < WAYS; way++) {
    x[way]++;
    send_by(way);
  }
  return unused;
}

void *receiver(void *unused) {
  for (int way = 0; way < WAYS; way++) {
    receive_by(way);
    x[way]++;
  }
  return unused;
}

int main(void) {
  for (int way = 0; way < WAYS; way++) {
    pipe(pipes[way]);
  }
  socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets);
  counter = eventfd(0, 0);
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  messages = msgget(IPC_PRIVATE, 0600);
  char name[32];
  snprintf(name, sizeof name, "/deadheat-%d", getpid());
  struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 16};
  queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
  for (int i = 0; i < 2; i++) {
    epolls[i] = epoll_create1(0);
    struct epoll_event event = {EPOLLIN, {.u32 = 7}};
    epoll_ctl(epolls[i], EPOLL_CTL_ADD, pipes[12 + i][0], &event);
  }
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, 0);
  pthread_t a, b;
  pthread_create(&a, 0, sender, 0);
  pthread_create(&b, 0, receiver, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  semctl(semaphores, 0, IPC_RMID);
  msgctl(messages, IPC_RMID, 0);
  mq_unlink(name);
  return 0;
}
