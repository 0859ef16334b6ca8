// A lock-free stack that publishes its nodes with a relaxed exchange.
// expect: race on Node.value, lines 15 and 28
#include <atomic>
#include <thread>

struct Node {
  long value;
  Node *next;
};

std::atomic<Node *> top;

void push(long value) {
  Node *node = new Node;
  node->value = value;
  Node *seen = top.load(std::memory_order_relaxed);
  while (!top.compare_exchange_weak(seen, node, std::memory_order_relaxed)) {
  }
}

int main() {
  std::thread a(push, 42);
  Node *node = nullptr;
  while (!node) {
    std::this_thread::yield();
    node = top.exchange(nullptr, std::memory_order_acquire);
  }
  long seen = node->value;
  a.join();
  return seen != 42;
}
