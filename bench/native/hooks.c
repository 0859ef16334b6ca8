// Hooks that do nothing: what instrumentation costs before anything is checked. Linked in place of a runtime.
#include <stddef.h>
#include <string.h>

#define HOOK(name) void name(void *address) { (void)address; }
#define SIZES(kind) HOOK(__tsan_##kind##1) HOOK(__tsan_##kind##2) HOOK(__tsan_##kind##4) HOOK(__tsan_##kind##8) HOOK(__tsan_##kind##16)
SIZES(read)
SIZES(write)
SIZES(read_write)
SIZES(unaligned_read)
SIZES(unaligned_write)
HOOK(__tsan_func_entry)
void __tsan_func_exit(void) {}
void __tsan_init(void) {}
void __tsan_read_range(void *address, size_t size) { (void)address, (void)size; }
void __tsan_write_range(void *address, size_t size) { (void)address, (void)size; }
void *__tsan_memcpy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }
void *__tsan_memmove(void *to, const void *from, size_t size) { return memmove(to, from, size); }
void *__tsan_memset(void *to, int value, size_t size) { return memset(to, value, size); }
#define ATOMICS(bits, type)                                                                                    \
  type __tsan_atomic##bits##_load(const volatile type *place, int order) { (void)order; return __atomic_load_n(place, 5); } \
  void __tsan_atomic##bits##_store(volatile type *place, type value, int order) { (void)order; __atomic_store_n(place, value, 5); } \
  type __tsan_atomic##bits##_fetch_add(volatile type *place, type value, int order) { (void)order; return __atomic_fetch_add(place, value, 5); } \
  type __tsan_atomic##bits##_fetch_sub(volatile type *place, type value, int order) { (void)order; return __atomic_fetch_sub(place, value, 5); }
ATOMICS(32, int)
ATOMICS(64, long)
