#version 450
#extension GL_GOOGLE_include_directive : require

// q = clamp(roundEven(x * (1 / scale)) + zero_point), with one scale and zero point per block; one invocation per quad
// of a buffer or per texel. The variants are those of common/affine.glslh.

#include "common/affine.glslh"
#include "common/div_rn.glslh"
#include "common/packing.glslh"
#include "common/quantize.glslh"

#if TEXTURE
layout(set = 0, binding = 0, REAL_TEXEL) uniform restrict readonly REAL_IMAGE x;
vec4 load_reals(uvec3 texel) { return imageLoad(x, TEXEL(texel)); }
#elif REAL_F16
layout(set = 0, binding = 0) restrict readonly buffer X { QUAD_OF_2 x[]; };
QUAD_READER_2(read_x, x)
vec4 load_reals(uint quad) { return unpack_halves(read_x(quad, words_of(2u))); }
#else
layout(set = 0, binding = 0) restrict readonly buffer X { QUAD_OF_4 x[]; };
QUAD_READER_4(read_x, x)
vec4 load_reals(uint quad) { return uintBitsToFloat(read_x(quad, words_of(1u))); }
#endif

#if TEXTURE
layout(set = 0, binding = OUTPUT_BINDING, QUANT_TEXEL) uniform restrict writeonly QUANT_IMAGE q;
void store_integers(uvec3 texel, vec4 values) { imageStore(q, TEXEL(texel), QUANT_LANES(ivec4(values))); }
#elif QUANT_I32
layout(set = 0, binding = OUTPUT_BINDING) restrict writeonly buffer Q { QUAD_OF_4 q[]; };
QUAD_WRITER_4(write_q, q)
void store_integers(uint quad, vec4 values) { write_q(quad, words_of(1u), uvec4(ivec4(values))); }
#else
layout(set = 0, binding = OUTPUT_BINDING) restrict writeonly buffer Q { QUAD_OF_1 q[]; };
QUAD_WRITER_1(write_q, q)
void store_integers(uint quad, vec4 values) { write_q(quad, words_of(4u), pack_integers(values, 0.0)); }
#endif

// The numbers that a block applies to its elements.
struct BlockRule {
  float factor;      // 1 / scale; float domain: scale
  float x_min;       // float domain only
  float nan;         // replaces a NaN
  float zero_point;  // the int domain's, else 0
};

BlockRule rule_of(BlockParams block) {
#if DOMAIN == DOMAIN_INT
  return BlockRule(div_rn(1.0, block.scale), 0.0, 0.0, float(block.zero_point));
#elif DOMAIN == DOMAIN_NONE
  return BlockRule(div_rn(1.0, block.scale), 0.0, 0.0, 0.0);
#else
  const float mid = quant_mid();
  return BlockRule(block.scale, difference(block.zero_point, product(block.scale, mid)), mid, 0.0);
#endif
}

// The integer, as a float.
float quantize(float real, BlockRule rule) {
#if DOMAIN == DOMAIN_FLOAT
  const float value = div_rn(difference(real, rule.x_min), rule.factor);
#else
  const float value = product(real, rule.factor);
#endif
  return rounded_and_clamped(value, rule.nan, rule.zero_point, push.range.min, push.range.max);
}

// The rules of the four lanes; where these lie in one block, only the first.
void find_rules(uvec4 blocks, BlockParams params[4], inout BlockRule rules[4]) {
  rules[0] = rule_of(params[0]);
  if (in_one_block) return;
  for (uint i = 1u; i < 4u; ++i) {
    if (blocks[i] == blocks[i - 1u]) {
      rules[i] = rules[i - 1u];
    } else {
      rules[i] = rule_of(params[i]);
    }
  }
}

void main() {
  VECTOR_INDEX index[MOST_VECTORS];
  if (!find_vector(0u, index[0])) return;
  uvec4 blocks = blocks_of(index[0]);
  BlockParams params[4] = params_of(blocks);
  BlockRule rules[4];
  for (uint iteration = 0u; iteration < iterations; ++iteration) {
    vec4 reals[MOST_VECTORS];
    uint count = 0u;
    for (; count < vectors_per_invocation; ++count) {
      if (!find_vector(iteration * vectors_per_invocation + count, index[count])) break;
      reals[count] = load_reals(index[count]);
    }
    // Computed only now: the block's parameters are loaded together with the values.
    if (iteration == 0u) find_rules(blocks, params, rules);
    for (uint k = 0u; k < vectors_per_invocation; ++k) {
      if (k >= count) return;
      if (!same_blocks && iteration + k > 0u) {
        const uvec4 own = blocks_of(index[k]);
        if (own != blocks) {
          blocks = own;
          find_rules(blocks, params_of(blocks), rules);
        }
      }
      vec4 integers;
      for (uint i = 0u; i < 4u; ++i) integers[i] = quantize(reals[k][i], rules[in_one_block ? 0u : i]);
      store_integers(index[k], integers);
    }
  }
}
