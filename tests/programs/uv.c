// An event loop with its thread pool: work items, file operations, wake-ups from another thread, timers.
//   uv [TURNS]      (how often each work item is queued)
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { ITEMS = 200, WAKES = 100 };
static long results[ITEMS], done, ticks, files;
static int turns = 1, had[ITEMS];
static atomic_int wakes_sent;
static int wakes_seen;
static uv_async_t async;
static uv_timer_t timer;

static void work(uv_work_t *request) {
  long sum = 0;
  for (long i = 0; i < 1000; i++) {
    sum += i % 7;
  }
  *(long *)request->data = sum;
}

static void after(uv_work_t *request, int status) {
  int item = (long *)request->data - results;
  if (status == 0 && ++had[item] < turns) {
    uv_queue_work(request->loop, request, work, after);
    return;
  }
  done += status == 0 && results[item] > 0;
}

static void woken(uv_async_t *handle) {
  wakes_seen++;
  if (atomic_load(&wakes_sent) == WAKES) {
    uv_close((uv_handle_t *)handle, 0);
  }
}

static void wake(void *unused) {
  (void)unused;
  for (int i = 0; i < WAKES; i++) {
    atomic_fetch_add(&wakes_sent, 1);
    uv_async_send(&async);
  }
}

static void tick(uv_timer_t *handle) {
  if (++ticks == 5) {
    uv_close((uv_handle_t *)handle, 0);
  }
}

static void statted(uv_fs_t *request) {
  files += request->result == 0;
  uv_fs_req_cleanup(request);
}

int main(int count, char **arguments) {
  turns = count > 1 ? atoi(arguments[1]) : 1;
  static uv_work_t requests[ITEMS];
  static uv_fs_t stats[20];
  uv_loop_t *loop = uv_default_loop();
  uv_async_init(loop, &async, woken);
  uv_timer_init(loop, &timer);
  uv_timer_start(&timer, tick, 1, 1);
  for (int i = 0; i < ITEMS; i++) {
    requests[i].data = &results[i];
    uv_queue_work(loop, &requests[i], work, after);
  }
  for (int i = 0; i < 20; i++) {
    uv_fs_stat(loop, &stats[i], "/", statted);
  }
  uv_thread_t thread;
  uv_thread_create(&thread, wake, 0);
  uv_run(loop, UV_RUN_DEFAULT);
  uv_thread_join(&thread);
  uv_loop_close(loop);
  printf("%ld items, %ld files, %ld ticks, woken: %s\n", done, files, ticks, wakes_seen > 0 ? "yes" : "no");
  return !(done == ITEMS && files == 20 && ticks == 5 && wakes_seen > 0);
}
