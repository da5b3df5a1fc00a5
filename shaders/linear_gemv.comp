#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// y = x * transpose(w), for few rows: `workers` invocations share the K of 4 * COLUMN_QUADS output channels of a row, a
// block of weights each in turn, so that neighbours read neighbouring blocks.
//
// REAL           sums of real values in float32; else of int8 values in int32
// GROUPED        int32 sums of each block, less the zero point, times the group's scale, in float32; W_BITS 4
// DOT            see linear/dot4x8.glslh
// COLUMN_QUADS   1 or 2
// X_*, W_*, Y_*, SUMS, SUBGROUPS, ...: see the included files

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(constant_id = 4) const uint workers = 32u;

layout(push_constant) uniform Push {
  uint rows;            // of x in a plane
  uint slots, slots_of_plane;
  Divider by_slots;
  uint depth, columns;
  uint quads;           // of output channels
  uint blocks;          // of packed weights along K
  uint groups;          // of weights along K
  Divider by_group;     // blocks of a group
  uint tiles_n;         // workgroups of a row
  Divider by_tiles;
  float x_scale;
  int x_zero_point;
  float y_inverse_scale;
  int y_zero_point;
} push;

#include "linear/dot4x8.glslh"
#include "linear/weights.glslh"
#include "linear/y.glslh"
#include "linear/reduce.glslh"
#if REAL
#include "linear/x_real.glslh"
#else
#include "linear/x_int8.glslh"
#endif

#define BLOCKS_AT_ONCE 4u

// --- what a block of weights is multiplied with ---------------------------------------------------------------------
#if REAL && W_BITS == 4
struct Values {
  vec4 first, last;
};
Values values_of(Row row, uint slot, uint block) {
  return Values(x_quad(row, 2u * block), x_quad(row, 2u * block + 1u));
}
#elif REAL
#define Values vec4
vec4 values_of(Row row, uint slot, uint block) { return x_quad(row, block); }
#elif X_LAYOUT == X_BLOCKS
#if W_BITS == 4
#define Values uvec2
uvec2 values_of(Row row, uint slot, uint block) {
  return uvec2(x_block(slot >> 2, 2u * block)[slot & 3u], x_block(slot >> 2, 2u * block + 1u)[slot & 3u]);
}
#else
#define Values uint
uint values_of(Row row, uint slot, uint block) { return x_block(slot >> 2, block)[slot & 3u]; }
#endif
#elif W_BITS == 4
#define Values uvec2
uvec2 values_of(Row row, uint slot, uint block) {
  if (!row.exists) return uvec2(0u);
#if X_LAYOUT == X_ROWS && X_WORDS == 2
  return x[guard_words / 2u + row.index * push.blocks + block];
#else
  return uvec2(x_word(row, 2u * block), x_word(row, 2u * block + 1u));
#endif
}
#else
#define Values uint
uint values_of(Row row, uint slot, uint block) { return row.exists ? x_word(row, block) : 0u; }
#endif

// --- sums ------------------------------------------------------------------------------------------------------------
// Integers become floats by the bits of a power of two plus the integer, whose place in the mantissa is that where they
// lie in the word: no shift and no conversion. Every step is exact.
float placed(uint word, uint mask, uint power_bits, float less) {
  return uintBitsToFloat((word & mask) | power_bits) - less;
}

#if REAL && W_BITS == 4
float dot_of(uint word, Values values) {
  const uint upper = word >> 12;
  float sum = values.first.x * placed(word, 0xfu, 0x4b000000u, 8388616.0);
  sum += values.last.x * placed(word, 0xf0u, 0x49000000u, 524296.0);
  sum += values.first.y * placed(word, 0xf00u, 0x47000000u, 32776.0);
  sum += values.last.y * placed(word, 0xf000u, 0x45000000u, 2056.0);
  sum += values.first.z * placed(word, 0xf0000u, 0x43000000u, 136.0);
  sum += values.last.z * placed(upper, 0xf00u, 0x47000000u, 32776.0);
  sum += values.first.w * placed(upper, 0xf000u, 0x45000000u, 2056.0);
  sum += values.last.w * placed(upper, 0xf0000u, 0x43000000u, 136.0);
  return sum;
}
#elif REAL
float dot_of(uint word, vec4 values) {
  const uint bytes = word ^ 0x80808080u;  // q + 128 is unsigned
  const uint upper = bytes >> 16;
  float sum = values.x * placed(bytes, 0xffu, 0x4b000000u, 8388736.0);
  sum += values.y * placed(bytes, 0xff00u, 0x47000000u, 32896.0);
  sum += values.z * placed(upper, 0xffu, 0x4b000000u, 8388736.0);
  sum += values.w * placed(upper, 0xff00u, 0x47000000u, 32896.0);
  return sum;
}
#endif

#if GROUPED
// The sum of (x - zero point) * (nibble - stored zero) over a block.
vec4 block_sums(uvec4 words, uvec2 values, ivec4 stored_zero, int zero_point) {
  const uint ones = 0x01010101u;
  const uvec4 first = first_nibbles(words), last = last_nibbles(words);
  const ivec4 products = dots4x8(values.x, first) + dots4x8(values.y, last);
  const ivec4 nibbles = dots4x8(ones, first + last);
  const int x_sum = dot4x8(values.x, ones) + dot4x8(values.y, ones);
  return vec4(products - zero_point * nibbles - stored_zero * (x_sum - 8 * zero_point));
}
#endif

SUMS_VEC4 products_of(uvec4 words, Values values, uint quad, uint block, int zero_point) {
#if REAL
  vec4 sums;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) sums[i] = dot_of(words[i], values);
#if W_BITS == 4
  sums *= w_scale(divide(block, push.by_group), quad, push.quads);
#endif
  return sums;
#elif GROUPED
  const uint group = divide(block, push.by_group);
#ifdef W_ZERO_AT
  const ivec4 stored_zero = 8 + w_zero_point(group, quad, push.quads);
#else
  const ivec4 stored_zero = ivec4(8);
#endif
  return block_sums(words, values, stored_zero, zero_point) * w_scale(group, quad, push.quads);
#else
  return dots4x8(values, words);
#endif
}

void main() {
  const uint lane = worker_lane();
  const uint worker = lane & (workers - 1u);
  const uint number = flat_workgroup();
  const uint slot = divide(number, push.by_tiles);
  const Row row = row_of(slot);
  const uint part = (number - slot * push.tiles_n) * (gl_WorkGroupSize.x / workers) + lane / workers;
#if GROUPED
  const int zero_point = row.exists ? x_zero_point(row.index) : 0;
#else
  const int zero_point = 0;
#endif
  uint quads[COLUMN_QUADS];
  SUMS_VEC4 sums[COLUMN_QUADS];
  [[unroll]] for (uint c = 0u; c < COLUMN_QUADS; ++c) {
    quads[c] = min(part * COLUMN_QUADS + c, push.quads - 1u);
    sums[c] = SUMS_VEC4(0);
  }
  uint block = worker;
  for (; block + (BLOCKS_AT_ONCE - 1u) * workers < push.blocks; block += BLOCKS_AT_ONCE * workers) {
    Values values[BLOCKS_AT_ONCE];
    uvec4 words[BLOCKS_AT_ONCE * COLUMN_QUADS];
    [[unroll]] for (uint i = 0u; i < BLOCKS_AT_ONCE; ++i) {
      [[unroll]] for (uint c = 0u; c < COLUMN_QUADS; ++c) {
        words[i * COLUMN_QUADS + c] = w_block(quads[c], block + i * workers, push.blocks);
      }
      values[i] = values_of(row, slot, block + i * workers);
    }
    [[unroll]] for (uint i = 0u; i < BLOCKS_AT_ONCE; ++i) {
      [[unroll]] for (uint c = 0u; c < COLUMN_QUADS; ++c) {
        sums[c] += products_of(words[i * COLUMN_QUADS + c], values[i], quads[c], block + i * workers, zero_point);
      }
    }
  }
  for (; block < push.blocks; block += workers) {
    const Values values = values_of(row, slot, block);
    [[unroll]] for (uint c = 0u; c < COLUMN_QUADS; ++c) {
      sums[c] += products_of(w_block(quads[c], block, push.blocks), values, quads[c], block, zero_point);
    }
  }
  [[unroll]] for (uint c = 0u; c < COLUMN_QUADS; ++c) {
    const SUMS_VEC4 sum_of_all = sum_of_workers(sums[c], lane);
    // One worker a quad of channels stores it.
    if (worker == min(c, workers - 1u) && part * COLUMN_QUADS + c < push.quads) store(sum_of_all, channels_of(quads[c]), row, slot);
  }
}
