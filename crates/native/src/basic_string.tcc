// GNU's std::string is compiled into its library, out of the checker's sight, unless its headers are told to leave it to
// whoever uses it. They do so themselves from C++20 on.
#pragma GCC system_header
#pragma push_macro("_GLIBCXX_EXTERN_TEMPLATE")
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#include_next <bits/basic_string.tcc>
#pragma pop_macro("_GLIBCXX_EXTERN_TEMPLATE")
