#version 450
#extension GL_GOOGLE_include_directive : require

// y = float(q - zero_point) * scale, with one scale and zero point per block; one invocation per quad of a buffer or
// per texel. The variants are those of common/affine.glslh.

#include "common/affine.glslh"
#include "common/packing.glslh"
#include "common/quantize.glslh"

// Four integers as they are stored, and as floats minus a number for each.
#if TEXTURE || QUANT_I32
#define INTEGERS ivec4
vec4 integers_less(ivec4 integers, ivec4 less) { return vec4(integers - less); }
#else
layout(constant_id = 18) const bool bytes_are_signed = true;
#define INTEGERS uint
vec4 integers_less(uint word, ivec4 less) {
  return bytes_are_signed ? signed_bytes_less(word, less) : unsigned_bytes_less(word, less);
}
#endif

#if TEXTURE
layout(set = 0, binding = 0, QUANT_TEXEL) uniform restrict readonly QUANT_IMAGE q;
INTEGERS load_integers(uvec3 texel) { return ivec4(imageLoad(q, TEXEL(texel))); }
#elif QUANT_I32
layout(set = 0, binding = 0) restrict readonly buffer Q { QUAD_OF_4 q[]; };
QUAD_READER_4(read_q, q)
INTEGERS load_integers(uint quad) { return ivec4(read_q(quad, words_of(1u))); }
#else
layout(set = 0, binding = 0) restrict readonly buffer Q { QUAD_OF_1 q[]; };
QUAD_READER_1(read_q, q)
INTEGERS load_integers(uint quad) { return read_q(quad, words_of(4u)); }
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
void store_reals(uint quad, vec4 values) { write_y(quad, words_of(2u), pack_halves(values)); }
#else
layout(set = 0, binding = OUTPUT_BINDING) restrict writeonly buffer Y { QUAD_OF_4 y[]; };
QUAD_WRITER_4(write_y, y)
void store_reals(uint quad, vec4 values) { write_y(quad, words_of(1u), floatBitsToUint(values)); }
#endif

// `moved`: the integer minus the zero point.
float dequantize(float moved, BlockParams block) {
#if DOMAIN == DOMAIN_FLOAT
  return sum(product(difference(moved, quant_mid()), block.scale), block.zero_point);
#else
  return product(moved, block.scale);
#endif
}

// The number that is subtracted from the integers of a block.
int zero_of(BlockParams block) {
#if DOMAIN == DOMAIN_INT
  return block.zero_point;
#else
  return 0;
#endif
}

vec4 dequantize_vector(INTEGERS integers, BlockParams lanes[4]) {
  const vec4 moved =
      integers_less(integers, ivec4(zero_of(lanes[0]), zero_of(lanes[1]), zero_of(lanes[2]), zero_of(lanes[3])));
  return vec4(dequantize(moved.x, lanes[0]), dequantize(moved.y, lanes[1]), dequantize(moved.z, lanes[2]),
              dequantize(moved.w, lanes[3]));
}

void main() {
  VECTOR_INDEX index[MOST_VECTORS];
  if (!find_vector(0u, index[0])) return;
  uvec4 blocks = blocks_of(index[0]);
  BlockParams lanes[4] = params_of(blocks);
  for (uint iteration = 0u; iteration < iterations; ++iteration) {
    INTEGERS integers[MOST_VECTORS];
    uint count = 0u;
    for (; count < vectors_per_invocation; ++count) {
      if (!find_vector(iteration * vectors_per_invocation + count, index[count])) break;
      integers[count] = load_integers(index[count]);
    }
    for (uint k = 0u; k < vectors_per_invocation; ++k) {
      if (k >= count) return;
      if (!same_blocks && iteration + k > 0u) {
        const uvec4 own = blocks_of(index[k]);
        if (own != blocks) {
          blocks = own;
          lanes = params_of(blocks);
        }
      }
      store_reals(index[k], dequantize_vector(integers[k], lanes));
    }
  }
}
