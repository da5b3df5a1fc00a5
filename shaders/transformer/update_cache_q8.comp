#version 450
#extension GL_GOOGLE_include_directive : require

// Quantizes rows of x to int8, each by its largest magnitude, and writes them and their scales into a cache. x has rows
// [batch, tokens, heads]; the row of token s becomes the one at start + s of a batch and a head of the cache. Nothing
// of the cache is read, and what is not of these rows keeps its bits.
//
// TEXTURE, F16, WHOLE_ROWS, SUBGROUPS  see transformer/row_reduction.glslh
// BY_HEAD      1: the cache has rows [batch, heads, capacity]; 0: [batch, capacity, heads]
// TURNED       1: what is quantized are the rows of x after rotary_embedding, in float32
// INTERLEAVED  TURNED: pairs are (2i, 2i + 1) instead of (i, i + turned / 2)
// WHOLE_ROWS   TURNED: 1 only where, besides, a quad turns as a whole: by a quad of each table or, INTERLEAVED, by two
//              entries of each

#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint rows, width;
  uint heads, tokens, capacity;
  uint start;  // position of the first token
  Divider by_heads, by_tokens;
#if TURNED
  uint turned;  // values of a row that turn
#endif
} push;

#define ROW_PADDING 0.0
#include "common/div_rn.glslh"
#include "transformer/row_reduction.glslh"

#if WHOLE_ROWS
layout(set = 0, binding = 1) restrict writeonly buffer Cache { uint cache[]; };
#else
layout(set = 0, binding = 1) restrict buffer Cache { uint cache[]; };
#endif
layout(set = 0, binding = 2) restrict writeonly buffer Scale { float scale[]; };
#if TURNED
#include "transformer/turned_row.glslh"
#else
ROW_INPUT(0, X, read_x, load_x, x)
#define LOADED_QUAD KEPT_QUAD
#endif

shared uint shared_bits[gl_WorkGroupSize.x];
ROW_REDUCTION(largest_bits, uint, shared_bits, max)

#define LEAST_BITS 0x0d800000u  // of 2^-100: rows below it are taken for zeros

// The bits of magnitudes are ordered as these are. A NaN is no magnitude.
uint bits_of_magnitude(float value) { return is_nan(value) ? 0u : floatBitsToUint(value) & 0x7fffffffu; }

uint bits_of_largest(vec4 values) {
  return max(max(bits_of_magnitude(values.x), bits_of_magnitude(values.y)),
             max(bits_of_magnitude(values.z), bits_of_magnitude(values.w)));
}

uint cache_row(uint row) {
  const uint token = divide(row, push.by_heads);
  const uint head = row - token * push.heads;
  const uint batch = divide(token, push.by_tokens);
  const uint position = push.start + token - batch * push.tokens;
#if BY_HEAD
  return (batch * push.heads + head) * push.capacity + position;
#else
  return (batch * push.capacity + position) * push.heads + head;
#endif
}

// No value is beyond 127, as no magnitude is more than 127 scales, and the roundings of three steps add 2^-22 of that.
ivec4 quantized(vec4 values, float inverse) {
  vec4 steps;
  for (uint i = 0u; i < 4u; ++i) steps[i] = is_nan(values[i]) ? 0.0 : roundEven(product(values[i], inverse));
  return ivec4(steps);
}

// `place` is of x, `row` of the cache.
void store_quad(RowPart part, uint place, uint row, ivec4 values) {
#if WHOLE_ROWS
  cache[guard_words + row * (push.width / 4u) + place - part.begin / 4u] = pack_bytes(values);
#else
  // A word may have bytes of several rows, which may be written at the same time or stay.
  const bvec4 own = of_row(part, place);
  for (uint i = 0u; i < 4u; ++i) {
    if (!own[i]) continue;
    const uint at = row * push.width + place * 4u + i - part.begin;
    const uint shift = 8u * (at & 3u);
    atomicAnd(cache[guard_words + at / 4u], ~(0xffu << shift));
    atomicOr(cache[guard_words + at / 4u], (uint(values[i]) & 0xffu) << shift);
  }
#endif
}

void main() {
  const RowPart part = this_part();
  LOADED_QUAD quads[MOST_KEPT];
  for (uint i = 0u; i < kept; ++i) quads[i] = load_x(part, kept_place(part, i));
  uint bits = 0u;
  for (uint i = 0u; i < kept; ++i) bits = max(bits, bits_of_largest(values_of(quads[i])));
  EACH_LEFT(bits = max(bits, bits_of_largest(values_of(load_x(part, place))));)
  bits = largest_bits(bits, part.lane);

  if (!complete && part.last == 0u) return;
  const uint row = cache_row(part.begin / push.width);
  const float scale_of_row = bits < LEAST_BITS ? 1.0 : div_rn(uintBitsToFloat(bits), 127.0);
  const float inverse = div_rn(1.0, scale_of_row);
  if ((part.lane & (COLUMNS - 1u)) == 0u) scale[guard_words + row] = scale_of_row;
  for (uint i = 0u; i < kept; ++i) {
    const uint place = kept_place(part, i);
    if (exists(part, place)) store_quad(part, place, row, quantized(values_of(quads[i]), inverse));
  }
  EACH_LEFT(store_quad(part, place, row, quantized(values_of(load_x(part, place)), inverse));)
}
