// A member of a structure, of a structure in it, and of an element of an array of them.
// variable: thumbnails.misses
// variable: thumbnails.last.height
// variable: slots[3].count
// variable: grid[1][2]
// variable: slots[2].sizes[1].width
#include "race.h"

struct size {
  int width, height;
};
struct cache {
  long hits;
  long misses;
  struct size last;
};
struct slot {
  char name[12];
  int count;
  struct size sizes[2];
};

struct cache thumbnails;
struct slot slots[4];
int grid[3][4];

void *worker(void *which) {
  int *first = which;
  thumbnails.misses = *first;
  thumbnails.last.height = *first;
  slots[3].count = *first;
  grid[1][2] = *first;
  slots[2].sizes[1].width = *first;
  return 0;
}

RACE(worker)
