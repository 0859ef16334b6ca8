// Both children of a tree's node add to their parent.
// expect: race on tree.sum, lines 31 and 31
// threads: 1 2 4 16
#include <stdlib.h>

struct tree {
  struct tree *parent, *left, *right;
  long sum;
};

struct tree *build(struct tree *parent, int depth) {
  struct tree *tree = calloc(1, sizeof *tree);
  tree->parent = parent;
  tree->sum = 1;
  if (depth > 0) {
    tree->left = build(tree, depth - 1);
    tree->right = build(tree, depth - 1);
  }
  return tree;
}

void sum(struct tree *tree) {
  if (tree->left) {
#pragma omp task
    sum(tree->left);
#pragma omp task
    sum(tree->right);
#pragma omp taskwait
  }
  if (tree->parent) {
    tree->parent->sum += tree->sum;
  }
}

int main(void) {
  struct tree *tree = build(0, 4);
#pragma omp parallel
#pragma omp single
  sum(tree);
}
