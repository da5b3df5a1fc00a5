#version 450
#extension GL_GOOGLE_include_directive : require

// y = float(q - zero_point) * scale, one scale and zero point a block; one invocation a quad of a buffer or a
// texel. The variants are those of common/affine.glslh.

#include "common/affine.glslh"
#include "common/packing.glslh"
#include "common/quantise.glslh"

#if TEXTURE
layout(set = 0, binding = 0, QUANT_TEXEL) uniform restrict readonly QUANT_IMAGE q;
ivec4 load_integers(uvec3 texel) {
  return ivec4(imageLoad(q, TEXEL(texel)));
}
#elif QUANT_I32
layout(set = 0, binding = 0) restrict readonly buffer Q { QUAD_OF_4 q[]; };
QUAD_READER_4(read_q, q)
ivec4 load_integers(uint quad) {
  return ivec4(read_q(quad, words_of(1u)));
}
#else
layout(constant_id = 18) const bool bytes_are_signed = true;
layout(set = 0, binding = 0) restrict readonly buffer Q { QUAD_OF_1 q[]; };
QUAD_READER_1(read_q, q)
ivec4 load_integers(uint quad) {
  const uint word = read_q(quad, words_of(4u));
  return bytes_are_signed ? unpack_signed_bytes(word) : unpack_unsigned_bytes(word);
}
#endif

#if TEXTURE
layout(set = 0, binding = OUTPUT_BINDING, REAL_TEXEL) uniform restrict writeonly REAL_IMAGE y;
void store_reals(uvec3 texel, vec4 values) {
#if REAL_F16
  values = overflowed_halves(values);
#endif
  imageStore(y, TEXEL(texel), values);
}
#elif REAL_F16
layout(set = 0, binding = OUTPUT_BINDING) restrict writeonly buffer Y { QUAD_OF_2 y[]; };
QUAD_WRITER_2(write_y, y)
void store_reals(uint quad, vec4 values) {
  write_y(quad, words_of(2u), pack_halves(values));
}
#else
layout(set = 0, binding = OUTPUT_BINDING) restrict writeonly buffer Y { QUAD_OF_4 y[]; };
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
  PLACE place;
  if (!find_place(place)) return;
  const ivec4 integers = load_integers(place);
  const uvec4 blocks = blocks_of(place);
  vec4 reals;
  for (uint i = 0u; i < 4u; ++i) reals[i] = dequantise(integers[i], blocks[i]);
  store_reals(place, reals);
}
