// Runs a program and prints the processor's seconds it took, its peak memory in kilobytes and its status. A small process does this
// because a peak outlives exec: one started by a large process would never seem small.
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
  struct rusage usage;
  int status;
  pid_t child = count > 1 ? fork() : -1;
  if (child == 0) {
    execvp(arguments[1], arguments + 1);
    _exit(127);
  }
  if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
    return 1;
  }
  double seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  dprintf(3, "%.6f %ld %d\n", seconds, usage.ru_maxrss, status);
}
