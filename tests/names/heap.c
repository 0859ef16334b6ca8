// What lies on the heap, by the type that the allocating line names; and what no line names.
// variable: node.value
// variable: point[2].y
// variable: node[1].value
// variable: unsigned long[3]
// variable: cast.b
// variable: table.entries[2].key
// variable: heap block of 48 bytes+20
#include <pthread.h>
#include <stdlib.h>

struct node {
  struct node *next;
  int value;
};
typedef struct {
  int x, y;
} point;
struct cast {
  int a, b;
};
struct table {
  int count;
  struct {
    int key;
  } entries[];
};

struct node *one, *two;
point *points;
unsigned long *numbers;
struct cast *cast;
struct table *table;
int *rest;

static void *touch(void *unused) {
  (void)unused;
  one->value++;
  points[2].y++;
  two[1].value++;
  numbers[3]++;
  cast->b++;
  table->entries[2].key++;
  rest[5]++;
  return 0;
}

int main(void) {
  one = malloc(sizeof(struct node));
  points = malloc(3 * sizeof *points);
  two = calloc(2, sizeof(*two));
  numbers = malloc(4 * sizeof(unsigned long));
  cast = (struct cast *)malloc(8);
  table = malloc(sizeof(struct table) + 3 * sizeof(int));
  size_t size = 48;
  rest = malloc(size);
  pthread_t a, b;
  pthread_create(&a, 0, touch, 0);
  pthread_create(&b, 0, touch, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
