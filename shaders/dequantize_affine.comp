#version 450
#extension GL_GOOGLE_include_directive : require

// y = float(q - zero_point) * scale, one scale and zero point a block; one invocation a quad of a buffer or a
// texel. The variants are those of common/affine.glslh.

#include "common/affine.glslh"
#include "common/packing.glslh"
#include "common/quantise.glslh"

// Four integers as they are stored, and as floats, less a number each.
#if TEXTURE || QUANT_I32
#define INTEGERS ivec4
vec4 integers_less(ivec4 integers, ivec4 less) {
  return vec4(integers - less);
}
#else
layout(constant_id = 18) const bool bytes_are_signed = true;
#define INTEGERS uint
vec4 integers_less(uint word, ivec4 less) {
  return bytes_are_signed ? signed_bytes_less(word, less) : unsigned_bytes_less(word, less);
}
#endif

#if TEXTURE
layout(set = 0, binding = 0, QUANT_TEXEL) uniform restrict readonly QUANT_IMAGE q;
INTEGERS load_integers(uvec3 texel) {
  return ivec4(imageLoad(q, TEXEL(texel)));
}
#elif QUANT_I32
layout(set = 0, binding = 0) restrict readonly buffer Q { QUAD_OF_4 q[]; };
QUAD_READER_4(read_q, q)
INTEGERS load_integers(uint quad) {
  return ivec4(read_q(quad, words_of(1u)));
}
#else
layout(set = 0, binding = 0) restrict readonly buffer Q { QUAD_OF_1 q[]; };
QUAD_READER_1(read_q, q)
INTEGERS load_integers(uint quad) {
  return read_q(quad, words_of(4u));
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

// What one block does to its elements.
struct BlockRule {
  float scale;
  int zero_point;  // int domain, else 0
  float middle;    // float domain: the real value of the range's middle
};

BlockRule rule_of(uint block) {
  BlockRule rule = BlockRule(scale[guard_words + block], 0, 0.0);
#if DOMAIN == DOMAIN_INT
  rule.zero_point = zero_point[guard_words + block];
#elif DOMAIN == DOMAIN_FLOAT
  rule.middle = zero_point[guard_words + block];
#endif
  return rule;
}

// `moved`: the integer less the zero point.
float dequantise(float moved, BlockRule rule) {
#if DOMAIN == DOMAIN_FLOAT
  return sum(product(difference(moved, quant_mid()), rule.scale), rule.middle);
#else
  return product(moved, rule.scale);
#endif
}

vec4 dequantise_place(INTEGERS integers, BlockRule rule) {
  const vec4 moved = integers_less(integers, ivec4(rule.zero_point));
  return vec4(dequantise(moved.x, rule), dequantise(moved.y, rule), dequantise(moved.z, rule),
              dequantise(moved.w, rule));
}

// Where each of the four elements may have a block of its own.
vec4 dequantise_apart(INTEGERS integers, uvec4 blocks) {
  BlockRule rules[4];
  ivec4 zero_points;
  for (uint i = 0u; i < 4u; ++i) {
    rules[i] = rule_of(blocks[i]);
    zero_points[i] = rules[i].zero_point;
  }
  const vec4 moved = integers_less(integers, zero_points);
  return vec4(dequantise(moved.x, rules[0]), dequantise(moved.y, rules[1]), dequantise(moved.z, rules[2]),
              dequantise(moved.w, rules[3]));
}

void main() {
  PLACE place[MOST_PLACES];
  INTEGERS integers[MOST_PLACES];
  uint count = 0u;
  for (; count < places; ++count) {
    if (!find_place(count, place[count])) break;
    integers[count] = load_integers(place[count]);
  }
  uint block = ~0u;
  BlockRule rule;
  for (uint k = 0u; k < places; ++k) {
    if (k >= count) return;
    const uvec4 blocks = blocks_of(place[k]);
    if (!in_one_block) {
      store_reals(place[k], dequantise_apart(integers[k], blocks));
      continue;
    }
    if (blocks.x != block) {
      block = blocks.x;
      rule = rule_of(block);
    }
    store_reals(place[k], dequantise_place(integers[k], rule));
  }
}
