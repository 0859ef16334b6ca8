// users: a dictionary compressor and its inverse, a block a thread: bytes, unaligned words, tables of two-byte numbers.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, BLOCK = 1 << 16, ROUNDS = 400, LOG = 13 };

static uint32_t word(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, 4);
  return value;
}

// Literals and matches: a length byte of each kind, two bytes of distance.
static int compress(const uint8_t *in, int size, uint8_t *out, uint16_t *table) {
  int at = 0, literals = 0, used = 0;
  memset(table, 0, sizeof *table << LOG);
  while (at + 8 < size) {
    uint32_t hash = word(in + at) * 2654435761u >> (32 - LOG);
    int before = table[hash];
    table[hash] = at;
    if (before < at && word(in + before) == word(in + at)) {
      int length = 4;
      while (at + length < size - 8 && length < 255 && in[before + length] == in[at + length]) {
        length++;
      }
      while (literals > 0) {
        int part = literals < 255 ? literals : 255;
        out[used++] = part, out[used++] = 0;
        memcpy(out + used, in + at - literals, part);
        used += part, literals -= part;
      }
      uint16_t distance = at - before;
      out[used++] = 0, out[used++] = length;
      memcpy(out + used, &distance, 2);
      used += 2, at += length;
    } else {
      at++, literals++;
    }
  }
  literals += size - at;
  for (at = size; literals > 0;) {
    int part = literals < 255 ? literals : 255;
    out[used++] = part, out[used++] = 0;
    memcpy(out + used, in + at - literals, part);
    used += part, literals -= part;
  }
  return used;
}

static int expand(const uint8_t *in, int size, uint8_t *out) {
  int used = 0;
  for (int at = 0; at < size;) {
    int literals = in[at], length = in[at + 1];
    at += 2;
    if (literals) {
      memcpy(out + used, in + at, literals);
      at += literals, used += literals;
    } else {
      uint16_t distance;
      memcpy(&distance, in + at, 2);
      at += 2;
      for (int i = 0; i < length; i++, used++) {
        out[used] = out[used - distance];
      }
    }
  }
  return used;
}

static void *work(void *argument) {
  uint8_t *text = malloc(BLOCK), *small = malloc(2 * BLOCK), *back = malloc(2 * BLOCK);
  uint16_t *table = malloc(sizeof *table << LOG);
  unsigned seed = (long)argument + 1;
  long failed = 0;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < BLOCK; i++) {
      seed = seed * 1103515245 + 12345;
      text[i] = i > 64 && (seed >> 16) % 8 ? text[i - 1 - (seed >> 22) % 64] : 'a' + (seed >> 20) % 26;
    }
    int size = compress(text, BLOCK, small, table);
    failed += expand(small, size, back) != BLOCK || memcmp(text, back, BLOCK) != 0;
  }
  free(text), free(small), free(back), free(table);
  return (void *)failed;
}

int main(void) {
  pthread_t threads[THREADS];
  long failed = 0;
  for (long i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], 0, work, (void *)i);
  }
  for (int i = 0; i < THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    failed += (long)result;
  }
  return failed != 0;
}
