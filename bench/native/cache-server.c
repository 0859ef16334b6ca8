// users: an event-driven cache: a thread accepts, two serve clients through poll, items in a hash table with a lock each part.
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SERVERS = 2, CLIENTS = 4, BUCKETS = 1 << 10, PARTS = 16, REQUESTS = 200000, BATCH = 32 };

struct item {
  struct item *next;
  uint32_t hash;
  uint16_t key_size, value_size;
  char data[];
};

static struct item *buckets[BUCKETS];
static pthread_mutex_t locks[PARTS];
static long hits[PARTS];

static uint32_t hash_of(const char *key, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++) {
    hash = (hash ^ (uint8_t)key[i]) * 16777619u;
  }
  return hash;
}

static struct item **place_of(uint32_t hash, const char *key, size_t size) {
  struct item **at = &buckets[hash % BUCKETS];
  while (*at && ((*at)->hash != hash || (*at)->key_size != size || memcmp((*at)->data, key, size))) {
    at = &(*at)->next;
  }
  return at;
}

// "get KEY\n" or "set KEY VALUE\n", in place.
static size_t answer(char *line, size_t size, char *out) {
  char *key = memchr(line, ' ', size) + 1;
  char *end = line + size, *stop = key;
  while (stop < end && *stop != ' ') {
    stop++;
  }
  uint32_t hash = hash_of(key, stop - key);
  int part = hash % PARTS;
  size_t length = 0;
  pthread_mutex_lock(&locks[part]);
  struct item **place = place_of(hash, key, stop - key), *item = *place;
  if (line[0] == 'g') {
    if (item) {
      length = item->value_size;
      memcpy(out, item->data + item->key_size, length);
      hits[part]++;
    }
  } else {
    char *value = stop + 1;
    struct item *new = malloc(sizeof *new + (end - key));
    *new = (struct item){item ? item->next : 0, hash, stop - key, end - value};
    memcpy(new->data, key, stop - key);
    memcpy(new->data + new->key_size, value, end - value);
    *place = new;
    free(item);
    memcpy(out, "ok", 2);
    length = 2;
  }
  pthread_mutex_unlock(&locks[part]);
  out[length++] = '\n';
  return length;
}

struct connection {
  int file;
  size_t used;
  char in[4096];
};

static int files[CLIENTS][2];

static void *serve(void *argument) {
  struct connection *open[CLIENTS];
  struct pollfd waits[CLIENTS];
  int count = 0;
  for (int i = (long)argument; i < CLIENTS; i += SERVERS) {
    open[count] = calloc(1, sizeof **open);
    open[count]->file = files[i][0];
    waits[count++] = (struct pollfd){files[i][0], POLLIN, 0};
  }
  for (int living = count; living;) {
    poll(waits, count, -1);
    for (int i = 0; i < count; i++) {
      if (!waits[i].revents) {
        continue;
      }
      struct connection *c = open[i];
      ssize_t got = read(c->file, c->in + c->used, sizeof c->in - c->used);
      if (got <= 0) {
        close(c->file);
        waits[i].fd = -1;
        living--;
        continue;
      }
      c->used += got;
      char out[8192], *line = c->in, *stop;
      size_t size = 0;
      while ((stop = memchr(line, '\n', c->in + c->used - line))) {
        size += answer(line, stop - line, out + size);
        line = stop + 1;
      }
      c->used -= line - c->in;
      memmove(c->in, line, c->used);
      for (size_t sent = 0; sent < size;) {
        sent += write(c->file, out + sent, size - sent);
      }
    }
  }
  for (int i = 0; i < count; i++) {
    free(open[i]);
  }
  return 0;
}

static void *ask(void *argument) {
  int file = files[(long)argument][1];
  unsigned seed = (long)argument + 1;
  char text[4096];
  for (int i = 0; i < REQUESTS; i += BATCH) {
    size_t size = 0;
    for (int j = 0; j < BATCH; j++) {
      seed = seed * 1103515245 + 12345;
      int key = (seed >> 16) % 5000;
      size += (seed >> 8) % 4 ? sprintf(text + size, "get key:%d\n", key)
                              : sprintf(text + size, "set key:%d the value of %d, and more of it\n", key, key);
    }
    for (size_t sent = 0; sent < size;) {
      sent += write(file, text + sent, size - sent);
    }
    for (int lines = 0; lines < BATCH;) {
      ssize_t got = read(file, text, sizeof text);
      for (ssize_t at = 0; at < got; at++) {
        lines += text[at] == '\n';
      }
    }
  }
  close(file);
  return 0;
}

int main(void) {
  pthread_t threads[SERVERS + CLIENTS];
  long all = 0;
  for (int i = 0; i < PARTS; i++) {
    pthread_mutex_init(&locks[i], 0);
  }
  for (int i = 0; i < CLIENTS; i++) {
    socketpair(AF_UNIX, SOCK_STREAM, 0, files[i]);
  }
  for (long i = 0; i < SERVERS; i++) {
    pthread_create(&threads[i], 0, serve, (void *)i);
  }
  for (long i = 0; i < CLIENTS; i++) {
    pthread_create(&threads[SERVERS + i], 0, ask, (void *)i);
  }
  for (int i = 0; i < SERVERS + CLIENTS; i++) {
    pthread_join(threads[i], 0);
  }
  for (int i = 0; i < PARTS; i++) {
    all += hits[i];
  }
  return all > 0 ? 0 : 1;
}
