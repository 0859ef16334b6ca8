// users: a tokenizer that counts words in a hash table of its own, each thread its part of the text, joined under a mutex.
#include <cctype>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Entry {
  Entry *next;
  unsigned hash, count;
  std::string word;
};

struct Table {
  std::vector<Entry *> buckets = std::vector<Entry *>(1024);
  unsigned &count(const char *word, size_t length) {
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < length; i++) {
      hash = (hash ^ (unsigned char)word[i]) * 16777619u;
    }
    Entry *&first = buckets[hash % buckets.size()];
    for (Entry *entry = first; entry; entry = entry->next) {
      if (entry->hash == hash && entry->word.size() == length && !memcmp(entry->word.data(), word, length)) {
        return entry->count;
      }
    }
    first = new Entry{first, hash, 0, std::string(word, length)};
    return first->count;
  }
  ~Table() {
    for (Entry *entry : buckets) {
      while (entry) {
        Entry *next = entry->next;
        delete entry;
        entry = next;
      }
    }
  }
};

enum { THREADS = 2, SIZE = 1 << 24, PART = 1 << 16 };
static std::string text;
static std::mutex mutex;
static Table all;
static size_t given;

static void work() {
  for (;;) {
    size_t from;
    {
      std::lock_guard<std::mutex> guard(mutex);
      from = given;
      given += PART;
    }
    if (from >= SIZE) {
      return;
    }
    Table own;
    const char *at = text.data() + from, *end = at + PART;
    while (at < end) {
      while (at < end && !isalpha((unsigned char)*at)) {
        at++;
      }
      const char *start = at;
      while (at < end && isalpha((unsigned char)*at)) {
        at++;
      }
      own.count(start, at - start)++;
    }
    std::lock_guard<std::mutex> guard(mutex);
    for (Entry *entry : own.buckets) {
      for (; entry; entry = entry->next) {
        all.count(entry->word.data(), entry->word.size()) += entry->count;
      }
    }
  }
}

int main() {
  unsigned seed = 1;
  while (text.size() < SIZE) {
    seed = seed * 1103515245 + 12345;
    unsigned number = (seed >> 16) % 3000;
    for (unsigned rest = number + 26; rest; rest /= 26) {
      text += 'a' + rest % 26;
    }
    text += number % 9 ? " " : ", ";
  }
  text.resize(SIZE);
  std::vector<std::thread> threads;
  for (int i = 0; i < THREADS; i++) {
    threads.emplace_back(work);
  }
  for (auto &thread : threads) {
    thread.join();
  }
  return all.count("b", 1) > 0 ? 0 : 1;
}
