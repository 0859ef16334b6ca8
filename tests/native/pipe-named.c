// A pipe with a name is opened as a stream at both ends.
// expect: no race
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

char name[64];
int data;

static void *writer(void *unused) {
  FILE *stream = fopen(name, "w");
  data = 1;
  fputs("line\n", stream);
  fclose(stream);
  return unused;
}

static void *reader(void *unused) {
  char line[16];
  FILE *stream = fopen(name, "r");
  if (fgets(line, sizeof line, stream))
    data++;
  fclose(stream);
  return unused;
}

int main(void) {
  pthread_t a, b;
  snprintf(name, sizeof name, P_tmpdir "/deadheat-pipe-%d", (int)getpid());
  mkfifo(name, 0600);
  pthread_create(&a, 0, reader, 0);
  pthread_create(&b, 0, writer, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  unlink(name);
}
