#version 450
#extension GL_GOOGLE_include_directive : require

// q = clamp(roundEven(x * (1 / scale)) + zero_point), one scale and zero point a block; one invocation a quad
// of a buffer or a texel. The variants are those of common/affine.glslh.

#include "common/affine.glslh"
#include "common/div_rn.glslh"
#include "common/packing.glslh"
#include "common/quantise.glslh"

#if TEXTURE
layout(set = 0, binding = 0, REAL_TEXEL) uniform restrict readonly REAL_IMAGE x;
vec4 load_reals(uvec3 texel) {
  return imageLoad(x, TEXEL(texel));
}
#elif REAL_F16
layout(set = 0, binding = 0) restrict readonly buffer X { QUAD_OF_2 x[]; };
QUAD_READER_2(read_x, x)
vec4 load_reals(uint quad) {
  return unpack_halves(read_x(quad, words_of(2u)));
}
#else
layout(set = 0, binding = 0) restrict readonly buffer X { QUAD_OF_4 x[]; };
QUAD_READER_4(read_x, x)
vec4 load_reals(uint quad) {
  return uintBitsToFloat(read_x(quad, words_of(1u)));
}
#endif

#if TEXTURE
layout(set = 0, binding = OUTPUT_BINDING, QUANT_TEXEL) uniform restrict writeonly QUANT_IMAGE q;
void store_integers(uvec3 texel, ivec4 values) {
  imageStore(q, TEXEL(texel), QUANT_LANES(values));
}
#elif QUANT_I32
layout(set = 0, binding = OUTPUT_BINDING) restrict writeonly buffer Q { QUAD_OF_4 q[]; };
QUAD_WRITER_4(write_q, q)
void store_integers(uint quad, ivec4 values) {
  write_q(quad, words_of(1u), uvec4(values));
}
#else
layout(set = 0, binding = OUTPUT_BINDING) restrict writeonly buffer Q { QUAD_OF_1 q[]; };
QUAD_WRITER_1(write_q, q)
void store_integers(uint quad, ivec4 values) {
  write_q(quad, words_of(4u), pack_bytes(values));
}
#endif

// What one block does to its elements.
struct BlockRule {
  float factor;      // 1 / scale; float domain: scale
  float x_min;       // float domain only
  float nan;         // stands for a NaN
  float zero_point;  // int domain, else 0
};

BlockRule rule_of(uint block) {
  const float s = scale[guard_words + block];
#if DOMAIN == DOMAIN_INT
  return BlockRule(div_rn(1.0, s), 0.0, 0.0, float(zero_point[guard_words + block]));
#elif DOMAIN == DOMAIN_NONE
  return BlockRule(div_rn(1.0, s), 0.0, 0.0, 0.0);
#else
  const float mid = quant_mid();
  return BlockRule(s, difference(zero_point[guard_words + block], product(s, mid)), mid, 0.0);
#endif
}

int quantise(float real, BlockRule rule) {
#if DOMAIN == DOMAIN_FLOAT
  const float value = div_rn(difference(real, rule.x_min), rule.factor);
#else
  const float value = product(real, rule.factor);
#endif
  return round_and_clamp(value, rule.nan, rule.zero_point, push.range.min, push.range.max);
}

void main() {
  PLACE place;
  if (!find_place(place)) return;
  const vec4 reals = load_reals(place);
  const uvec4 blocks = blocks_of(place);
  BlockRule rule = rule_of(blocks[0]);
  ivec4 integers;
  for (uint i = 0u; i < 4u; ++i) {
    if (!in_one_block && i > 0u) rule = rule_of(blocks[i]);
    integers[i] = quantise(reals[i], rule);
  }
  store_integers(place, integers);
}
