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
void store_integers(uvec3 texel, vec4 values) {
  imageStore(q, TEXEL(texel), QUANT_LANES(ivec4(values)));
}
#elif QUANT_I32
layout(set = 0, binding = OUTPUT_BINDING) restrict writeonly buffer Q { QUAD_OF_4 q[]; };
QUAD_WRITER_4(write_q, q)
void store_integers(uint quad, vec4 values) {
  write_q(quad, words_of(1u), uvec4(ivec4(values)));
}
#else
layout(set = 0, binding = OUTPUT_BINDING) restrict writeonly buffer Q { QUAD_OF_1 q[]; };
QUAD_WRITER_1(write_q, q)
void store_integers(uint quad, vec4 values) {
  write_q(quad, words_of(4u), pack_integers(values, 0.0));
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

// The integer, as a float.
float quantise(float real, BlockRule rule) {
#if DOMAIN == DOMAIN_FLOAT
  const float value = div_rn(difference(real, rule.x_min), rule.factor);
#else
  const float value = product(real, rule.factor);
#endif
  return rounded_and_clamped(value, rule.nan, rule.zero_point, push.range.min, push.range.max);
}

void main() {
  PLACE place[MOST_PLACES];
  vec4 reals[MOST_PLACES];
  uint count = 0u;
  for (; count < places; ++count) {
    if (!find_place(count, place[count])) break;
    reals[count] = load_reals(place[count]);
  }
  uint block = ~0u;
  BlockRule rule;
  for (uint k = 0u; k < places; ++k) {
    if (k >= count) return;
    const uvec4 blocks = blocks_of(place[k]);
    vec4 integers;
    for (uint i = 0u; i < 4u; ++i) {
      if (blocks[i] != block && (i == 0u || !in_one_block)) {
        block = blocks[i];
        rule = rule_of(block);
      }
      integers[i] = quantise(reals[k][i], rule);
    }
    store_integers(place[k], integers);
  }
}
