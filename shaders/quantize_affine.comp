#version 450
#extension GL_GOOGLE_include_directive : require

// q = clamp(roundEven(x * (1 / scale)) + zero_point), one scale and zero point a block; one invocation a quad.
//
// REAL_F16     x is f16 instead of f32
// QUANT_I32    q is i32 instead of i8 or u8
// DOMAIN       DOMAIN_INT, DOMAIN_NONE or DOMAIN_FLOAT
// WHOLE_QUADS  the number of elements is a multiple of 4

#include "common/affine.glslh"
#include "common/div_rn.glslh"
#include "common/packing.glslh"
#include "common/quads.glslh"
#include "common/quantise.glslh"

#if REAL_F16
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

layout(set = 0, binding = 1) restrict readonly buffer Scale { float scale[]; };
#if DOMAIN == DOMAIN_INT
layout(set = 0, binding = 2) restrict readonly buffer ZeroPoint { int zero_point[]; };
#define Q_BINDING 3
#elif DOMAIN == DOMAIN_FLOAT
layout(set = 0, binding = 2) restrict readonly buffer ZeroPoint { float zero_point[]; };
#define Q_BINDING 3
#else
#define Q_BINDING 2
#endif

#if QUANT_I32
layout(set = 0, binding = Q_BINDING) restrict writeonly buffer Q { QUAD_OF_4 q[]; };
QUAD_WRITER_4(write_q, q)
void store_integers(uint quad, ivec4 values) {
  write_q(quad, words_of(1u), uvec4(values));
}
#else
layout(set = 0, binding = Q_BINDING) restrict writeonly buffer Q { QUAD_OF_1 q[]; };
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
  return round_and_clamp(value, rule.nan, rule.zero_point, push.quant_min, push.quant_max);
}

void main() {
  const uint quad = flat_invocation();
  if (quad >= words_of(4u)) return;
  const vec4 reals = load_reals(quad);
  const uvec4 blocks = blocks_of_quad(quad);
  BlockRule rule = rule_of(blocks[0]);
  ivec4 integers;
  for (uint i = 0u; i < 4u; ++i) {
    if (!quad_in_one_block && i > 0u) rule = rule_of(blocks[i]);
    integers[i] = quantise(reals[i], rule);
  }
  store_integers(quad, integers);
}
