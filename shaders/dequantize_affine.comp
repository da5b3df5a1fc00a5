#version 450
#extension GL_GOOGLE_include_directive : require

// y = float(q - zero_point) * scale, one scale and zero point a block; one invocation a quad.
//
// REAL_F16     y is f16 instead of f32
// QUANT_I32    q is i32 instead of i8 or u8
// DOMAIN       DOMAIN_INT, DOMAIN_NONE or DOMAIN_FLOAT
// WHOLE_QUADS  the number of elements is a multiple of 4

#include "common/affine.glslh"
#include "common/packing.glslh"
#include "common/quads.glslh"
#include "common/quantise.glslh"

layout(constant_id = 18) const bool bytes_are_signed = true;

#if QUANT_I32
layout(set = 0, binding = 0) restrict readonly buffer Q { QUAD_OF_4 q[]; };
QUAD_READER_4(read_q, q)
ivec4 load_integers(uint quad) {
  return ivec4(read_q(quad, words_of(1u)));
}
#else
layout(set = 0, binding = 0) restrict readonly buffer Q { QUAD_OF_1 q[]; };
QUAD_READER_1(read_q, q)
ivec4 load_integers(uint quad) {
  const uint word = read_q(quad, words_of(4u));
  return bytes_are_signed ? unpack_signed_bytes(word) : unpack_unsigned_bytes(word);
}
#endif

layout(set = 0, binding = 1) restrict readonly buffer Scale { float scale[]; };
#if DOMAIN == DOMAIN_INT
layout(set = 0, binding = 2) restrict readonly buffer ZeroPoint { int zero_point[]; };
#define Y_BINDING 3
#elif DOMAIN == DOMAIN_FLOAT
layout(set = 0, binding = 2) restrict readonly buffer ZeroPoint { float zero_point[]; };
#define Y_BINDING 3
#else
#define Y_BINDING 2
#endif

#if REAL_F16
layout(set = 0, binding = Y_BINDING) restrict writeonly buffer Y { QUAD_OF_2 y[]; };
QUAD_WRITER_2(write_y, y)
void store_reals(uint quad, vec4 values) {
  write_y(quad, words_of(2u), pack_halves(values));
}
#else
layout(set = 0, binding = Y_BINDING) restrict writeonly buffer Y { QUAD_OF_4 y[]; };
QUAD_WRITER_4(write_y, y)
void store_reals(uint quad, vec4 values) {
  write_y(quad, words_of(1u), floatBitsToUint(values));
}
#endif

float dequantise(int integer, uint block) {
  const float s = scale[guard_words + block];
#if DOMAIN == DOMAIN_INT
  return product(float(integer - zero_point[guard_words + block]), s);
#elif DOMAIN == DOMAIN_NONE
  return product(float(integer), s);
#else
  return sum(product(difference(float(integer), quant_mid()), s), zero_point[guard_words + block]);
#endif
}

void main() {
  const uint quad = flat_invocation();
  if (quad >= words_of(4u)) return;
  const ivec4 integers = load_integers(quad);
  const uvec4 blocks = blocks_of_quad(quad);
  vec4 reals;
  for (uint i = 0u; i < 4u; ++i) reals[i] = dequantise(integers[i], blocks[i]);
  store_reals(quad, reals);
}
