#version 450
#extension GL_GOOGLE_include_directive : require

// Packs weights into units of 16 bytes, as linear/weights.glslh reads them. One invocation per unit. Values past the
// last channel or the end of K are 0.
//
// W_BITS      8: w is int8 [N, K]; 4: uint8 [N, K / 2], two values in a byte
// HIGH_FIRST  W_BITS 4: an even k has the high nibble of its byte
// FOR_HALVES  1: in the order of linear/halves.glslh
// W_ROWS      1: by rows of K, one output channel each
// W_TEXTURE   1: a 2D texture, K in x; 0: a buffer

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint columns, depth;
  uint rows, units;  // rows of packed weights, and units of 16 bytes per row
  Divider by_units;
  uint slab_depth, padded_depth;  // after slab_depth values come zeros, up to padded_depth
  Divider by_padded_depth;
} push;

layout(set = 0, binding = 0) restrict readonly buffer W { uint w[]; };
#if W_TEXTURE
layout(set = 0, binding = 1, rgba32i) uniform restrict writeonly iimage2D packed_w;
void store_unit(uint row, uint unit, uvec4 words) { imageStore(packed_w, ivec2(unit, row), ivec4(words)); }
#else
layout(set = 0, binding = 1) restrict writeonly buffer PackedW { uvec4 packed_w[]; };
void store_unit(uint row, uint unit, uvec4 words) { packed_w[guard_words / 4u + row * push.units + unit] = words; }
#endif

uint w_byte(uint at) { return bitfieldExtract(w[guard_words + (at >> 2)], int(8u * (at & 3u)), 8); }

#if W_BITS == 4
const uint values_of_word = 8u;
const uint past_the_end = 0x88888888u;  // a stored 8 is the value 0

uint stored_value(uint column, uint k) {
  const uint byte = w_byte((column * push.depth + k) >> 1);
  return (byte >> (4u * ((k & 1u) ^ uint(HIGH_FIRST)))) & 15u;
}

#if FOR_HALVES
int place_in_word(uint i) { return int(16u * (i & 1u) + 4u * (i >> 1)); }
#else
// The bit of value i: the low nibbles come first, then the high ones.
int place_in_word(uint i) { return int(8u * (i & 3u) + 4u * (i >> 2)); }
#endif
const int bits_of_value = 4;
#else
const uint values_of_word = 4u;
const uint past_the_end = 0u;

uint stored_value(uint column, uint k) { return w_byte(column * push.depth + k); }
#if FOR_HALVES
int place_in_word(uint i) { return int(16u * (i & 1u) + 8u * (i >> 1)); }
#else
int place_in_word(uint i) { return int(8u * i); }
#endif
const int bits_of_value = 8;
#endif

// `number`: the word's in its row.
uint word_of(uint column, uint number) {
  const uint place = number * values_of_word;
  const uint slab = divide(place, push.by_padded_depth);
  const uint first = place - slab * push.padded_depth;
  uint word = past_the_end;
  for (uint i = 0u; i < values_of_word; ++i) {
    const uint k = slab * push.slab_depth + first + i;
    if (column >= push.columns || k >= push.depth || first + i >= push.slab_depth) continue;
    word = bitfieldInsert(word, stored_value(column, k), place_in_word(i), bits_of_value);
  }
  return word;
}

void main() {
  const uint number = flat_invocation();
  if (number >= push.rows * push.units) return;
  const uint row = divide(number, push.by_units);
  const uint unit = number - row * push.units;
  uvec4 words;
#if W_ROWS
  for (uint i = 0u; i < 4u; ++i) words[i] = word_of(row, unit * 4u + i);
#else
  for (uint i = 0u; i < 4u; ++i) words[i] = word_of(row * 4u + i, unit);
#endif
  store_unit(row, unit, words);
}
