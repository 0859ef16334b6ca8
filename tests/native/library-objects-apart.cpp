// Standard streams may be shared; other objects of the C++ library are each thread's own.
// expect: no race
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <pthread.h>
#include <unistd.h>
#include <regex>
#include <locale>
#include <iomanip>

std::map<int, int> map = {{1, 2}, {2, 3}};
std::string shared(40, 'x');

static int turn;

static void next(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }

static void await(int number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) < number) {
    usleep(100);
  }
}

void *first(void *unused) {
  volatile size_t size = 0;
  std::cout << "one " << 1 << std::endl;
  std::cerr << std::setw(4) << 1.5 << "\n";
  size += std::regex_match("axb", std::regex("a.*b"));
  std::ostringstream a; a << std::fixed << 1.5; size += a.str().size();
  size += map.at(1);
  std::ostringstream c; c << shared; size += shared.find("y");
  next();
  return unused;
}

void *second(void *unused) {
  volatile size_t size = 0;
  await(1);
  std::cout << "two " << 2 << std::endl;
  std::cerr << std::setw(4) << 2.5 << "\n";
  size += std::regex_match("axb", std::regex("a.*b"));
  std::ostringstream b; b << std::fixed << 2.5; size += b.str().size();
  size += map.count(2);
  std::string d = shared; size += d.size();
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
