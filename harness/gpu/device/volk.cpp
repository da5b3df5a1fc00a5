// The only place where volk's functions and function pointers are defined. It is C code from a system
// directory, so our warnings do not apply to it.
#define VOLK_IMPLEMENTATION
#include <volk.h>
