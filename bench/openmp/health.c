// tasks: villages treat patients and hand the hard cases up, a task for each village and step.
#include <stdio.h>
#include <stdlib.h>

enum { BRANCHES = 4, LEVELS = 5, STEPS = 60, STAFF = 3 };
struct patient {
  struct patient *next;
  int days, visits;
};
struct village {
  struct village *parts[BRANCHES];
  struct patient *waiting, *referred;
  unsigned seed;
  int level;
  long treated;
};

static struct village *build(int level, unsigned seed) {
  struct village *village = calloc(1, sizeof *village);
  village->level = level;
  village->seed = seed;
  for (int i = 0; level > 0 && i < BRANCHES; i++) village->parts[i] = build(level - 1, seed * 31 + i + 1);
  return village;
}

static unsigned draw(struct village *village) { return (village->seed = village->seed * 1103515245 + 12345) >> 16; }

static void step(struct village *village) {
  for (int i = 0; village->level > 0 && i < BRANCHES; i++) {
    struct village *part = village->parts[i];
    #pragma omp task firstprivate(part)
    step(part);
  }
  if (village->level == 0 && draw(village) % 2) {
    struct patient *ill = calloc(1, sizeof *ill);
    ill->next = village->waiting;
    village->waiting = ill;
  }
  struct patient *left = 0;
  int staff = STAFF;
  while (village->waiting) {
    struct patient *next = village->waiting->next, *ill = village->waiting;
    village->waiting = next;
    ill->visits++;
    if (staff-- > 0 && draw(village) % 4) {
      village->treated++;
      free(ill);
    } else {
      struct patient **list = draw(village) % 3 ? &left : &village->referred;
      ill->next = *list;
      *list = ill;
    }
  }
  village->waiting = left;
  #pragma omp taskwait
  for (int i = 0; village->level > 0 && i < BRANCHES; i++)
    while (village->parts[i]->referred) {
      struct patient *ill = village->parts[i]->referred;
      village->parts[i]->referred = ill->next;
      ill->next = village->waiting;
      village->waiting = ill;
    }
}

static long treated(struct village *village) {
  long all = village->treated;
  for (int i = 0; village->level > 0 && i < BRANCHES; i++) all += treated(village->parts[i]);
  return all;
}

int main(void) {
  struct village *top = build(LEVELS, 1);
  #pragma omp parallel
  #pragma omp single
  for (int i = 0; i < STEPS; i++) step(top);
  printf("%ld\n", treated(top));
}
