// users: a bounded queue of shared_ptr with a mutex and two condition variables, two producers and two consumers.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Message {
  int from, number;
  std::string text;
  std::vector<int> parts;
};

class Queue {
public:
  void push(std::shared_ptr<Message> message) {
    std::unique_lock<std::mutex> lock(mutex);
    room.wait(lock, [&] { return messages.size() < 256; });
    messages.push_back(std::move(message));
    some.notify_one();
  }

  std::shared_ptr<Message> pop() {
    std::unique_lock<std::mutex> lock(mutex);
    some.wait(lock, [&] { return !messages.empty(); });
    auto message = std::move(messages.front());
    messages.pop_front();
    room.notify_one();
    return message;
  }

private:
  std::mutex mutex;
  std::condition_variable some, room;
  std::deque<std::shared_ptr<Message>> messages;
};

enum { PAIRS = 2, MESSAGES = 300000 };
static Queue queue;
static long sums[PAIRS];

static void produce(int from) {
  for (int i = 0; i < MESSAGES; i++) {
    auto message = std::make_shared<Message>();
    message->from = from;
    message->number = i;
    message->text = "message number " + std::to_string(i);
    for (int part = 0; part < 12; part++) {
      message->parts.push_back(part * i);
    }
    queue.push(message);
  }
}

static void consume(int who) {
  for (int i = 0; i < MESSAGES; i++) {
    auto message = queue.pop();
    auto copy = message;
    for (int part : copy->parts) {
      sums[who] += part % 7;
    }
    for (char c : message->text) {
      sums[who] += c == '1';
    }
  }
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < PAIRS; i++) {
    threads.emplace_back(produce, i);
    threads.emplace_back(consume, i);
  }
  for (auto &thread : threads) {
    thread.join();
  }
  return sums[0] + sums[1] > 0 ? 0 : 1;
}
