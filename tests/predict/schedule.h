// Makes the recorded schedule sure and orders nothing: the accesses of these functions are not seen.
#include <unistd.h>

static volatile int passed;

__attribute__((noinline, no_sanitize_thread)) static void pass(int step) { passed = step; }

__attribute__((noinline, no_sanitize_thread)) static void wait_for(int step) {
  while (passed < step) {
    usleep(100);
  }
}
