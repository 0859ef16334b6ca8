// A lock-free stack: push with release, take everything with acquire.
// expect: no race
#include <atomic>
#include <thread>

struct Node {
  int value;
  Node *next;
};

std::atomic<Node *> top;

void push(int value) {
  Node *node = new Node{value, top.load(std::memory_order_relaxed)};
  while (!top.compare_exchange_weak(node->next, node, std::memory_order_release,
                                    std::memory_order_relaxed)) {
  }
}

int main() {
  auto worker = [] {
    for (int i = 1; i <= 50; i++) {
      push(i);
    }
  };
  std::thread a(worker), b(worker);
  int sum = 0, count = 0;
  while (count < 100) {
    Node *node = top.exchange(nullptr, std::memory_order_acquire);
    while (node) {
      Node *next = node->next;
      sum += node->value;
      count++;
      delete node;
      node = next;
    }
    std::this_thread::yield();
  }
  a.join();
  b.join();
  return sum != 2550;
}
