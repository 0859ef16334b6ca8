// Two tellers book deposits. The balance is protected, the count of bookings was forgotten.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance;
static long bookings;

static void deposit(long amount) {
  pthread_mutex_lock(&lock);
  balance += amount;
  pthread_mutex_unlock(&lock);
  bookings++;
}

static void *teller(void *unused) {
  for (int i = 0; i < 1000; i++) {
    deposit(10);
  }
  return unused;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, NULL, teller, NULL);
  pthread_create(&second, NULL, teller, NULL);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  printf("%ld in %ld bookings\n", balance, bookings);
}
