// A tree is built and summed by tasks.
// expect: no race
// threads: 1 2 4 16
#include <stdlib.h>

struct tree {
  struct tree *left, *right;
  int sum;
};

struct tree *build(int depth) {
  struct tree *tree = calloc(1, sizeof *tree);
  tree->sum = 1;
  if (depth > 0) {
#pragma omp task
    tree->left = build(depth - 1);
#pragma omp task
    tree->right = build(depth - 1);
#pragma omp taskwait
  }
  return tree;
}

int sum(struct tree *tree) {
  if (tree->left) {
    int left;
#pragma omp task shared(left)
    left = sum(tree->left);
    tree->sum += sum(tree->right);
#pragma omp taskwait
    tree->sum += left;
    free(tree->left);
    free(tree->right);
  }
  return tree->sum;
}

int main(void) {
  int total = 0;
#pragma omp parallel
#pragma omp single
  {
    struct tree *tree = build(5);
    total = sum(tree);
    free(tree);
  }
  return total != 63;
}
