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
HOOK(__tsan_vptr_read)
void __tsan_vptr_update(void *address, void *value) { (void)address, (void)value; }
void __tsan_atomic_thread_fence(int order) { (void)order; __atomic_thread_fence(5); }
#define UPDATE(bits, type, how) \
  type __tsan_atomic##bits##_##how(volatile type *place, type value, int order) { (void)order; return __atomic_##how(place, value, 5); }
#define EXCHANGE(bits, type, how, weak)                                                                        \
  int __tsan_atomic##bits##_compare_exchange_##how(volatile type *place, type *old, type new, int order, int failed) { \
    (void)order, (void)failed;                                                                                 \
    return __atomic_compare_exchange_n(place, old, new, weak, 5, 5);                                           \
  }
#define ATOMICS(bits, type)                                                                                    \
  type __tsan_atomic##bits##_load(const volatile type *place, int order) { (void)order; return __atomic_load_n(place, 5); } \
  void __tsan_atomic##bits##_store(volatile type *place, type value, int order) { (void)order; __atomic_store_n(place, value, 5); } \
  type __tsan_atomic##bits##_exchange(volatile type *place, type value, int order) { (void)order; return __atomic_exchange_n(place, value, 5); } \
  UPDATE(bits, type, fetch_add) UPDATE(bits, type, fetch_sub) UPDATE(bits, type, fetch_or)                     \
  UPDATE(bits, type, fetch_and) UPDATE(bits, type, fetch_xor)                                                  \
  EXCHANGE(bits, type, strong, 0) EXCHANGE(bits, type, weak, 1)                                                \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type *place, type old, type new, int order, int failed) { \
    (void)order, (void)failed;                                                                                 \
    __atomic_compare_exchange_n(place, &old, new, 0, 5, 5);                                                    \
    return old;                                                                                                \
  }
ATOMICS(8, char)
ATOMICS(16, short)
ATOMICS(32, int)
ATOMICS(64, long)
