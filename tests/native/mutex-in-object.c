// Every object has a mutex of its own, on the heap.
// expect: no race
#include <pthread.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t lock;
  long balance;
};

struct account *accounts[4];

void *pay(void *unused) {
  for (int i = 0; i < 100; i++) {
    struct account *account = accounts[i % 4];
    pthread_mutex_lock(&account->lock);
    account->balance++;
    pthread_mutex_unlock(&account->lock);
  }
  return unused;
}

int main(void) {
  pthread_t a, b;
  for (int i = 0; i < 4; i++) {
    accounts[i] = malloc(sizeof(struct account));
    pthread_mutex_init(&accounts[i]->lock, 0);
    accounts[i]->balance = 0;
  }
  pthread_create(&a, 0, pay, 0);
  pthread_create(&b, 0, pay, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  long sum = 0;
  for (int i = 0; i < 4; i++) {
    sum += accounts[i]->balance;
    pthread_mutex_destroy(&accounts[i]->lock);
    free(accounts[i]);
  }
  return sum != 200;
}
