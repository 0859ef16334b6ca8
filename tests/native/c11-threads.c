// C11's own threads: thrd_create, thrd_join, mtx_lock, cnd_wait, call_once, tss_set.
// expect: no race
#include <stdlib.h>
#include <threads.h>

int x, ready, prepared;
mtx_t m;
cnd_t changed;
once_flag once = ONCE_FLAG_INIT;
tss_t key;

void prepare(void) {
  prepared = 1;
}

int worker(void *unused) {
  (void)unused;
  call_once(&once, prepare);
  tss_set(key, malloc(8));
  mtx_lock(&m);
  x += prepared;
  ready = 1;
  cnd_signal(&changed);
  mtx_unlock(&m);
  return 7;
}

int main(void) {
  thrd_t a;
  int result;
  mtx_init(&m, mtx_plain);
  cnd_init(&changed);
  tss_create(&key, free);
  thrd_create(&a, worker, 0);
  mtx_lock(&m);
  while (!ready) {
    cnd_wait(&changed, &m);
  }
  x++;
  mtx_unlock(&m);
  call_once(&once, prepare);
  x += prepared;
  thrd_join(a, &result);
  return result != 7 || x != 3;
}
