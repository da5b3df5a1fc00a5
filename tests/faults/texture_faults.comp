#version 450
#extension GL_GOOGLE_include_directive : require

// y = x with every bit turned, i8 from texture to texture, four values along the width in a texel; one
// invocation a texel. IMAGE is iimage2D or iimage3D, DIMS its dimensions.

#include "faults.glslh"

#if DIMS == 3
#define PLACE(p) (p)
#else
#define PLACE(p) (p).xy
#endif

layout(set = 0, binding = 0, rgba8i) uniform IMAGE x;
layout(set = 0, binding = 1, rgba8i) uniform IMAGE y;

layout(push_constant) uniform Push {
  int width;  // of a row, in elements
} push;

void main() {
#if DIMS == 3
  const ivec3 size = imageSize(x);
#else
  const ivec3 size = ivec3(imageSize(x), 1);
#endif
  const ivec3 at = ivec3(gl_GlobalInvocationID);
  if (any(greaterThanEqual(at, size))) return;
  ivec3 from = at;
#ifdef FAULT_rows_swapped
  from.y = size.y - 1 - at.y;
#endif
  ivec4 value = ~imageLoad(x, PLACE(from));
#ifdef FAULT_one_texel_not_written
  if (at == ivec3(0, 1, size.z - 1)) return;
#endif
#ifdef FAULT_one_texel_wrong
  if (at == ivec3(0, 1, size.z - 1)) value.y ^= 1;
#endif
#ifdef FAULT_depends_on_padding
  if (at == ivec3(size.x - 1, 0, 0)) value.x ^= imageLoad(x, PLACE(at))[push.width % 4] & 1;
#endif
#ifdef FAULT_keeps_old_bit
  value.x = bitfieldInsert(value.x, imageLoad(y, PLACE(at)).x, 0, 1);
#endif
  imageStore(y, PLACE(at), value);
#ifdef FAULT_input_overwritten
  if (at == ivec3(0, 1, 0)) imageStore(x, PLACE(at), value);
#endif
}
