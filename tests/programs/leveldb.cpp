// Three writers and two readers on one database, small enough buffers that it compacts meanwhile.
//   leveldb DATABASE [KEYS]
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/write_batch.h"

int main(int count, char **arguments) {
  const int keys = count > 2 ? std::atoi(arguments[2]) : 1500;
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  options.block_cache = leveldb::NewLRUCache(1 << 20);
  leveldb::DB *db = nullptr;
  leveldb::DestroyDB(arguments[1], options);
  if (!leveldb::DB::Open(options, arguments[1], &db).ok()) {
    std::puts("cannot open");
    return 1;
  }
  std::atomic<long> errors{0};
  auto key = [](int writer, int i) { return std::to_string(writer) + ":" + std::to_string(i); };
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 3; writer++) {
    threads.emplace_back([&, writer] {
      for (int i = 0; i < keys; i++) {
        leveldb::WriteBatch batch;
        batch.Put(key(writer, i), std::string(100, 'a' + i % 26));
        errors += !db->Write(leveldb::WriteOptions(), &batch).ok();
      }
    });
  }
  for (int reader = 0; reader < 2; reader++) {
    threads.emplace_back([&] {
      for (int i = 0; i < keys / 10; i++) {
        leveldb::Iterator *iterator = db->NewIterator(leveldb::ReadOptions());
        std::string before;
        int seen = 0;
        for (iterator->Seek(key(i % 3, i)); iterator->Valid() && seen < 200; iterator->Next(), seen++) {
          errors += iterator->key().ToString() <= before;
          before = iterator->key().ToString();
        }
        delete iterator;
      }
    });
  }
  for (auto &thread : threads) {
    thread.join();
  }
  db->CompactRange(nullptr, nullptr);
  long found = 0;
  std::string value;
  for (int writer = 0; writer < 3; writer++) {
    for (int i = 0; i < keys; i++) {
      found += db->Get(leveldb::ReadOptions(), key(writer, i), &value).ok() && value == std::string(100, 'a' + i % 26);
    }
  }
  delete db;
  delete options.block_cache;
  std::printf("%ld of %d found, %ld errors\n", found, 3 * keys, errors.load());
  return found != 3 * keys || errors != 0;
}
