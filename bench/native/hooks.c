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
void __deadheat_memcpy(void *to, const void *from, size_t size) { memcpy(to, from, size); }
void __deadheat_memmove(void *to, const void *from, size_t size) { memmove(to, from, size); }
void __deadheat_memset(void *to, int value, size_t size) { memset(to, value, size); }
int __deadheat_memcmp(const void *a, const void *b, size_t size) { return memcmp(a, b, size); }
void __deadheat_compare(const void *a, const void *b, size_t size) { (void)a, (void)b, (void)size; }
#define RANGES(kind) \
  void __deadheat_##kind##_range(void *address, size_t size) { (void)address, (void)size; } \
  void __deadheat_##kind##_pieces(void *first, size_t size, size_t count, size_t step) { (void)first, (void)size, (void)count, (void)step; }
RANGES(read)
RANGES(write)
RANGES(update)
void __deadheat_loop(int together) { (void)together; }
void __deadheat_iteration(long number) { (void)number; }
void __deadheat_iteration_met(long number) { (void)number; }
void __deadheat_iterations(long first, long count) { (void)first, (void)count; }
void __deadheat_iterations_judged(long first, long count) { (void)first, (void)count; }
void __deadheat_lane(long number) { (void)number; }
void __deadheat_lanes_end(void) {}
#define MEET(name)                                                                                             \
  int name(void *a, long by, long size, long count, long step, void *b, long by2, long size2, long count2, long step2, long iterations, \
           long met[2]) {                                                                                      \
    (void)a, (void)by, (void)size, (void)count, (void)step, (void)b, (void)by2, (void)size2, (void)count2, (void)step2; \
    (void)iterations, (void)met;                                                                               \
    return 0;                                                                                                  \
  }
MEET(__deadheat_meet)
MEET(__deadheat_meet_backwards)
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
