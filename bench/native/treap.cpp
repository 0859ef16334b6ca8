// users: ordered sets of nodes on the heap, cut into 64 shards, each with its mutex; inserts, looks up and removes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

struct Node {
  uint64_t key, priority, value;
  Node *left, *right;
};

struct Shard {
  std::mutex mutex;
  Node *root = nullptr;
  long size = 0;
};

enum { THREADS = 2, SHARDS = 64, ROUNDS = 2000000, KEYS = 1 << 17 };
static Shard shards[SHARDS];

static uint64_t next(uint64_t &state) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

static void split(Node *tree, uint64_t key, Node *&less, Node *&rest) {
  if (!tree) {
    less = rest = nullptr;
  } else if (tree->key < key) {
    split(tree->right, key, tree->right, rest);
    less = tree;
  } else {
    split(tree->left, key, less, tree->left);
    rest = tree;
  }
}

static Node *merge(Node *left, Node *right) {
  if (!left || !right) {
    return left ? left : right;
  }
  if (left->priority > right->priority) {
    left->right = merge(left->right, right);
    return left;
  }
  right->left = merge(left, right->left);
  return right;
}

static Node *find(Node *tree, uint64_t key) {
  while (tree && tree->key != key) {
    tree = key < tree->key ? tree->left : tree->right;
  }
  return tree;
}

static void work(uint64_t seed) {
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t key = next(seed) % KEYS, how = next(seed) % 4;
    Shard &shard = shards[key % SHARDS];
    std::lock_guard<std::mutex> guard(shard.mutex);
    Node *found = find(shard.root, key);
    if (how < 2 && found) {
      found->value++;
    } else if (how == 2 && !found) {
      Node *less, *rest, *node = new Node{key, next(seed), 1, nullptr, nullptr};
      split(shard.root, key, less, rest);
      shard.root = merge(merge(less, node), rest);
      shard.size++;
    } else if (how == 3 && found) {
      Node *less, *rest, *one;
      split(shard.root, key, less, rest);
      split(rest, key + 1, one, rest);
      shard.root = merge(less, rest);
      shard.size--;
      delete one;
    }
  }
}

static long count(Node *tree) { return tree ? 1 + count(tree->left) + count(tree->right) : 0; }

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < THREADS; i++) {
    threads.emplace_back(work, 88172645463325252ull + i);
  }
  for (auto &thread : threads) {
    thread.join();
  }
  for (Shard &shard : shards) {
    if (count(shard.root) != shard.size) {
      return 1;
    }
  }
}
