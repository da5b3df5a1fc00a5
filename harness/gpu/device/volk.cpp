// The one place where volk's functions and function pointers are defined. It is C code from a system
// directory, so our warnings do not reach it.
#define VOLK_IMPLEMENTATION
#include <volk.h>
