// Locks end when nobody uses them any more, as their own order says.
// expect: no race
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct room {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_barrier_t barrier;
  sem_t semaphore;
  int done;
};

void *visitor(void *argument) {
  struct room *room = argument;
  pthread_barrier_wait(&room->barrier);
  pthread_mutex_lock(&room->mutex);
  room->done = 1;
  pthread_cond_signal(&room->condition);
  pthread_mutex_unlock(&room->mutex);
  return 0;
}

void *poster(void *argument) {
  struct room *room = argument;
  sem_post(&room->semaphore);
  return 0;
}

int main(void) {
  for (int i = 0; i < 20; i++) {
    struct room *room = malloc(sizeof *room);
    room->done = 0;
    pthread_mutex_init(&room->mutex, 0);
    pthread_cond_init(&room->condition, 0);
    pthread_barrier_init(&room->barrier, 0, 2);
    sem_init(&room->semaphore, 0, 0);
    pthread_t a, b;
    pthread_create(&a, 0, visitor, room);
    pthread_create(&b, 0, poster, room);
    pthread_barrier_wait(&room->barrier);
    pthread_mutex_lock(&room->mutex);
    while (!room->done) {
      pthread_cond_wait(&room->condition, &room->mutex);
    }
    pthread_mutex_unlock(&room->mutex);
    pthread_barrier_destroy(&room->barrier);
    pthread_cond_destroy(&room->condition);
    pthread_mutex_destroy(&room->mutex);
    sem_wait(&room->semaphore);
    sem_destroy(&room->semaphore);
    free(room);
    pthread_join(a, 0);
    pthread_join(b, 0);
  }
  return 0;
}
