// A descriptor of signals tells of what their sender did.
// expect: no race
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int first, second, file;

static void *receiver(void *unused) {
  struct signalfd_siginfo info;
  struct pollfd ready = {file, POLLIN, 0};
  if (read(file, &info, sizeof info) == sizeof info)
    first++;
  if (poll(&ready, 1, -1) == 1)
    second++;
  return unused;
}

static void *sender(void *unused) {
  first = 1;
  kill(getpid(), SIGUSR1);
  second = 1;
  kill(getpid(), SIGUSR2);
  return unused;
}

int main(void) {
  sigset_t signals;
  pthread_t a, b;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals, 0);
  file = signalfd(-1, &signals, 0);
  pthread_create(&a, 0, receiver, 0);
  pthread_create(&b, 0, sender, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
