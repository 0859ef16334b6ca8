// Compresses text on four worker threads, twice with one context, and back again.
//   zstd [MEGABYTES]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

int main(int count, char **arguments) {
  size_t size = (size_t)(count > 1 ? atoi(arguments[1]) : 12) << 20, bound = ZSTD_compressBound(size);
  char *text = malloc(size), *packed = malloc(bound), *back = malloc(size);
  unsigned seed = 1;
  for (size_t i = 0; i < size; i++) {
    seed = seed * 1103515245 + 12345;
    text[i] = "etaoin shrdlu\n"[(seed >> 16) % (i % 4096 < 2048 ? 14 : 5)];
  }
  ZSTD_CCtx *context = ZSTD_createCCtx();
  for (int level = 1; level <= 3; level += 2) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 4))) {
      puts("zstd was built without threads");
      return 1;
    }
    ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, 1 << 20);
    size_t length = ZSTD_compress2(context, packed, bound, text, size);
    memset(back, 0, size);
    if (ZSTD_isError(length) || ZSTD_decompress(back, size, packed, length) != size || memcmp(text, back, size)) {
      printf("level %d: wrong\n", level);
      return 1;
    }
    printf("level %d: %zu bytes to less than a half: %s\n", level, size, length * 2 < size ? "yes" : "no");
  }
  ZSTD_freeCCtx(context);
  return 0;
}
