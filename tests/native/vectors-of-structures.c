// A loop over structures becomes one of vectors that hold several of them, and so does a sum of neighbours.
// expect: race on points, lines 14 and 27
// expect: race on row, lines 20 and 28
// options: -O2
#include <pthread.h>

struct point {
  double x, y;
};
struct point points[512];
int row[16], sum;

void turn(void) {
  for (int i = 0; i < 512; i++) { double x = points[i].x; points[i].x = points[i].y; points[i].y = x; }
}

void add(void) {
  int all = 0;
  for (int i = 0; i < 8; i++)
    all += row[i];
  sum = all;
}

void *other(void *unused) {
  for (volatile int i = 0; i < 1000; i++) {
  }
  points[300].y = 1;
  row[5] = 1;
  return unused;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, other, 0);
  turn();
  add();
  pthread_join(a, 0);
  return sum > 1;
}
