// Runs a program and prints its seconds, its peak memory in kilobytes, its status, and the seconds of processor time that it and
// its children took. A small process does this
// because a peak outlives exec: one started by a large process would never seem small.
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **arguments) {
  struct timespec start, end;
  struct rusage usage;
  int status;
  clock_gettime(CLOCK_MONOTONIC, &start);
  pid_t child = count > 1 ? fork() : -1;
  if (child == 0) {
    execvp(arguments[1], arguments + 1);
    _exit(127);
  }
  if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
    return 1;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  double seconds = end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9;
  double processor = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  dprintf(3, "%.6f %ld %d %.6f\n", seconds, usage.ru_maxrss, status, processor);
}
