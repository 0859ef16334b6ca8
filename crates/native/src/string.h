// gcc copies, sets and compares what is small itself, after it has instrumented, and tells nobody. Here it is made to call the
// C library, which is seen; a copy as wide as a number becomes an access that gcc instruments.
#pragma GCC system_header
#include_next <string.h>
#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__ && !defined __deadheat_string
#define __deadheat_string
#ifdef __cplusplus
extern "C" {
#define __deadheat_throw __THROW
#else
#define __deadheat_throw
#endif
#define __deadheat_inline extern __inline __attribute__((__gnu_inline__, __always_inline__, __artificial__))
#define __deadheat_is_number(size) \
  (__builtin_constant_p(size) && ((size) == 1 || (size) == 2 || (size) == 4 || (size) == 8))

extern void *__deadheat_memcpy(void *, const void *, __SIZE_TYPE__) __deadheat_throw __asm__("memcpy");
extern void *__deadheat_memmove(void *, const void *, __SIZE_TYPE__) __deadheat_throw __asm__("memmove");
extern void *__deadheat_memset(void *, int, __SIZE_TYPE__) __deadheat_throw __asm__("memset");
extern int __deadheat_memcmp(const void *, const void *, __SIZE_TYPE__) __deadheat_throw __asm__("memcmp");
extern int __deadheat_strcmp(const char *, const char *) __deadheat_throw __asm__("strcmp");
extern int __deadheat_strncmp(const char *, const char *, __SIZE_TYPE__) __deadheat_throw __asm__("strncmp");

__deadheat_inline void *memcpy(void *__restrict __to, const void *__restrict __from, __SIZE_TYPE__ __size) __deadheat_throw {
  return __deadheat_is_number(__size) ? __builtin_memcpy(__to, __from, __size) : __deadheat_memcpy(__to, __from, __size);
}
__deadheat_inline void *memmove(void *__to, const void *__from, __SIZE_TYPE__ __size) __deadheat_throw {
  return __deadheat_is_number(__size) ? __builtin_memmove(__to, __from, __size) : __deadheat_memmove(__to, __from, __size);
}
__deadheat_inline void *memset(void *__to, int __byte, __SIZE_TYPE__ __size) __deadheat_throw {
  return __deadheat_memset(__to, __byte, __size);
}
__deadheat_inline int memcmp(const void *__a, const void *__b, __SIZE_TYPE__ __size) __deadheat_throw {
  return __deadheat_memcmp(__a, __b, __size);
}
__deadheat_inline int strcmp(const char *__a, const char *__b) __deadheat_throw { return __deadheat_strcmp(__a, __b); }
__deadheat_inline int strncmp(const char *__a, const char *__b, __SIZE_TYPE__ __most) __deadheat_throw {
  return __deadheat_strncmp(__a, __b, __most);
}

#undef __deadheat_throw
#undef __deadheat_inline
#undef __deadheat_is_number
#ifdef __cplusplus
}
#endif
#endif
