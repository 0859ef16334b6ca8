// Objects of the C++ library are changed by one thread and used by another.
// expect: race on appended, lines 47 and 64
// expect: race on assigned, lines 48 and 65
// expect: race on *, lines 49 and 66
// expect: race on *, lines 50 and 67
// expect: race on number, lines 51 and 68
// expect: race on looked_up, lines 52 and 69
// expect: race on erased, lines 53 and 70
// expect: race on *, lines 54 and 71
// expect: race on stream, lines 55 and 72
// expect: race on file, lines 56 and 73
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <pthread.h>
#include <unistd.h>

std::ostringstream out;
std::istringstream in("12 34");
std::string appended = "hello";
std::string assigned = "hello", other(40, 'x');
std::string searched = "hello";
std::string printed(40, 'x');
int number;
std::map<int, int> looked_up = {{1, 2}, {2, 3}, {4, 5}};
std::set<int> erased = {1, 2, 4};
std::list<int> listed = {1, 2};
std::ostringstream stream;
std::ofstream file("/dev/null");

static int turn;

static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }

static void await(int number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < number) {
    usleep(100);
  }
}

void *first(void *unused) {
  volatile size_t size = 0;
  appended += "abcd";
  assigned = other;
  searched[1] = 1;
  out << printed;
  in >> number;
  size += looked_up.count(4);
  erased.erase(2);
  size += listed.back();
  stream << 1;
  file << "one";
  next();
  return unused;
}

void *second(void *unused) {
  volatile size_t size = 0;
  await(1);
  size += appended.size();
  size += assigned.empty();
  size += searched.find("abc");
  printed[3] = 1;
  size += number;
  looked_up.insert({5, 6});
  size += erased.count(4);
  listed.push_back(3);
  stream << 2;
  file << "two";
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, first, 0);
  pthread_create(&b, 0, second, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
