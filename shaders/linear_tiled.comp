#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

// y = x * transpose(w): a workgroup a tile of `tile_m` rows by `tile_n` output channels, an invocation
// 4 * ROW_QUADS by 4 * COLUMN_QUADS of it. K goes by in slabs of `steps`: a slab of x and of w lies in shared memory,
// step by step, while the next one is on its way to registers. A step is one k of real values, or a word of four int8.
//
// REAL           sums of real values in float32; else of int8 values in int32
// GROUPED        int32 sums of each group become float32 sums; W_BITS 4
// DOT            see linear/dot4x8.glslh
// ROW_QUADS, COLUMN_QUADS  1 or 2
// X_*, W_*, Y_*, SUMS, ...: see the included files

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(constant_id = 4) const uint tile_m = 64u;
layout(constant_id = 5) const uint tile_n = 64u;
layout(constant_id = 6) const uint steps = 16u;       // of a slab
#if GROUPED
layout(constant_id = 7) const uint part_steps = 16u;  // of a slab that lie in one group
#endif
layout(constant_id = 8) const uint x_loads = 1u;      // of an invocation, for a slab
layout(constant_id = 9) const uint w_loads = 1u;

layout(push_constant) uniform Push {
  uint rows;            // of x in a plane
  uint slots, slots_of_plane;
  Divider by_slots;
  uint depth, columns;
  uint quads;           // of output channels
  uint blocks;          // of packed weights along K
  uint groups;          // of weights along K
  Divider by_group;     // blocks of a group
  uint tiles_n;
  Divider by_tiles;
  float x_scale;
  int x_zero_point;
  float y_inverse_scale;
  int y_zero_point;
} push;

#include "linear/dot4x8.glslh"
#include "linear/weights.glslh"
#include "linear/y.glslh"
#if REAL
#include "linear/x_real.glslh"
#define STEP_VECTOR vec4
#else
#include "linear/x_int8.glslh"
#define STEP_VECTOR uvec4
#endif

// Quads of a step, and one more, so that the steps of a quad lie in different banks.
const uint x_pitch = tile_m / 4u + 1u;
const uint w_pitch = tile_n / 4u + 1u;
shared STEP_VECTOR x_tile[steps * x_pitch];
shared STEP_VECTOR w_tile[steps * w_pitch];

struct Tile {
  uint first_slot;
  uint first_quad;
};

// --- a slab of x -----------------------------------------------------------------------------------------------------
#if !REAL && X_LAYOUT == X_BLOCKS
// A load is a step of four slots.
#define X_LOADS (steps * (tile_m / 4u))
uvec4 load_x(Tile tile, uint number, uint first_step) {
  return x_block(tile.first_slot / 4u + number / steps, first_step + number % steps);
}
void keep_x(uint number, uvec4 value) { x_tile[number % steps * x_pitch + number / steps] = value; }
#else
// A load is four steps of a row.
#define X_LOADS (steps / 4u * tile_m)
STEP_VECTOR load_x(Tile tile, uint number, uint first_step) {
  return x_quad(row_of(tile.first_slot + number / (steps / 4u)), first_step / 4u + number % (steps / 4u));
}
void keep_x(uint number, STEP_VECTOR value) {
  const uint row = number / (steps / 4u);
  const uint step = number % (steps / 4u) * 4u;
  for (uint i = 0u; i < 4u; ++i) x_tile[(step + i) * x_pitch + row / 4u][row % 4u] = value[i];
}
#endif

// --- a slab of w -----------------------------------------------------------------------------------------------------
#if REAL
#define STEPS_OF_BLOCK BLOCK_DEPTH
#else
#define STEPS_OF_BLOCK (BLOCK_DEPTH / 4u)
#endif
#define BLOCKS_OF_SLAB (steps / STEPS_OF_BLOCK)
#define W_LOADS (BLOCKS_OF_SLAB * (tile_n / 4u))

uint quad_of_load(uint number) { return number / BLOCKS_OF_SLAB; }

uint block_of_load(uint number, uint first_step) {
  return first_step / STEPS_OF_BLOCK + number % BLOCKS_OF_SLAB;
}

uvec4 load_w(Tile tile, uint number, uint first_step) {
  const uint quad = tile.first_quad + quad_of_load(number);
  const uint block = block_of_load(number, first_step);
  // What is loaded past the end of K meets x of 0; what is past the last channel is not stored.
  return quad < push.quads && block < push.blocks ? w_block(quad, block, push.blocks) : uvec4(0u);
}

uint group_of_load(uint number, uint first_step) {
  return min(divide(block_of_load(number, first_step), push.by_group), push.groups - 1u);
}

#if W_BITS == 4
// What a stored nibble is more than its value.
uvec4 nibble_zero(Tile tile, uint number, uint first_step) {
#ifdef W_ZERO_AT
  const uint quad = min(tile.first_quad + quad_of_load(number), push.quads - 1u);
  return uvec4(8 + w_zero_point(group_of_load(number, first_step), quad, push.quads));
#else
  return uvec4(8u);
#endif
}
#endif

void keep_step(uint number, uint step, STEP_VECTOR value) {
  w_tile[(number % BLOCKS_OF_SLAB * STEPS_OF_BLOCK + step) * w_pitch + quad_of_load(number)] = value;
}

#if REAL && W_BITS == 4
void keep_w(Tile tile, uint number, uint first_step, uvec4 words) {
  const uint quad = min(tile.first_quad + quad_of_load(number), push.quads - 1u);
  const vec4 scales = w_scale(group_of_load(number, first_step), quad, push.quads);
  [[unroll]] for (uint step = 0u; step < 8u; ++step) {
    const vec4 values = vec4((words >> (8u * (step & 3u) + 4u * (step >> 2))) & 15u) - 8.0;
    keep_step(number, step, values * scales);
  }
}
#elif REAL
void keep_w(Tile tile, uint number, uint first_step, uvec4 words) {
  [[unroll]] for (uint step = 0u; step < 4u; ++step) {
    keep_step(number, step, vec4(bitfieldExtract(ivec4(words), int(8u * step), 8)));
  }
}
#elif W_BITS == 4
void keep_w(Tile tile, uint number, uint first_step, uvec4 words) {
  const uvec4 zero = nibble_zero(tile, number, first_step);
  keep_step(number, 0u, signed_nibbles(first_nibbles(words), zero));
  keep_step(number, 1u, signed_nibbles(last_nibbles(words), zero));
}
#else
void keep_w(Tile tile, uint number, uint first_step, uvec4 words) { keep_step(number, 0u, words); }
#endif

// --- sums ------------------------------------------------------------------------------------------------------------
#if REAL
#define STEP_SUMS vec4
#define PRODUCTS(x_value, w_values) ((x_value) * (w_values))
#else
#define STEP_SUMS ivec4
#define PRODUCTS(x_value, w_values) dots4x8(x_value, w_values)
#endif
#define ROWS_OF_INVOCATION (4 * ROW_QUADS)
#define SUMS_OF_INVOCATION (ROWS_OF_INVOCATION * COLUMN_QUADS)

STEP_SUMS step_sums[SUMS_OF_INVOCATION];

// Neighbours of an invocation's quads lie a quad of invocations apart.
const uint threads_n = tile_n / (4u * COLUMN_QUADS);
const uint threads_m = tile_m / (4u * ROW_QUADS);

void add_steps(uint first, uint count, uvec2 thread) {
  for (uint step = first; step < first + count; ++step) {
    STEP_VECTOR x_values[ROW_QUADS];
    STEP_VECTOR w_values[COLUMN_QUADS];
    [[unroll]] for (uint r = 0u; r < ROW_QUADS; ++r) {
      x_values[r] = x_tile[step * x_pitch + thread.y + r * threads_m];
    }
    [[unroll]] for (uint c = 0u; c < COLUMN_QUADS; ++c) {
      w_values[c] = w_tile[step * w_pitch + thread.x + c * threads_n];
    }
    [[unroll]] for (uint i = 0u; i < ROWS_OF_INVOCATION; ++i) {
      [[unroll]] for (uint c = 0u; c < COLUMN_QUADS; ++c) {
        step_sums[i * COLUMN_QUADS + c] += PRODUCTS(x_values[i / 4u][i % 4u], w_values[c]);
      }
    }
  }
}

#if GROUPED
vec4 group_sums[SUMS_OF_INVOCATION];

// Adds the sums of a group, less x's zero points, times its scales, and begins the next.
void end_group(Tile tile, uint group, uvec2 thread) {
  [[unroll]] for (uint c = 0u; c < COLUMN_QUADS; ++c) {
    const uint quad = min(tile.first_quad + thread.x + c * threads_n, push.quads - 1u);
    const vec4 scales = w_scale(group, quad, push.quads);
    const ivec4 weights = w_sums(group, quad, push.quads);
    [[unroll]] for (uint i = 0u; i < ROWS_OF_INVOCATION; ++i) {
      const Row row = row_of(tile.first_slot + (thread.y + i / 4u * threads_m) * 4u + i % 4u);
      const int zero_point = row.exists ? x_zero_point(row.index) : 0;
      const uint at = i * COLUMN_QUADS + c;
      group_sums[at] += vec4(step_sums[at] - zero_point * weights) * scales;
      step_sums[at] = ivec4(0);
    }
  }
}

void add_slab(Tile tile, uint first_step, uvec2 thread) {
  for (uint first = 0u; first < steps; first += part_steps) {
    add_steps(first, part_steps, thread);
    const uint next_block = (first_step + first + part_steps) / STEPS_OF_BLOCK;
    const uint group = divide(next_block, push.by_group) - 1u;  // that ends here, if one does
    const uint blocks_of_group = push.blocks / push.groups;
    if ((group + 1u) * blocks_of_group == next_block && group < push.groups) end_group(tile, group, thread);
  }
}
#define FINAL_SUMS group_sums
#else
void add_slab(Tile tile, uint first_step, uvec2 thread) { add_steps(0u, steps, thread); }
#define FINAL_SUMS step_sums
#endif

void store_sums(Tile tile, uvec2 thread) {
  [[unroll]] for (uint c = 0u; c < COLUMN_QUADS; ++c) {
    const Channels channels = channels_of(tile.first_quad + thread.x + c * threads_n);
    [[unroll]] for (uint i = 0u; i < ROWS_OF_INVOCATION; ++i) {
      const uint slot = tile.first_slot + (thread.y + i / 4u * threads_m) * 4u + i % 4u;
      store(FINAL_SUMS[i * COLUMN_QUADS + c], channels, row_of(slot), slot);
    }
  }
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uvec2 thread = uvec2(lane % threads_n, lane / threads_n);
  const uint number = flat_workgroup();
  const uint tile_row = divide(number, push.by_tiles);
  const Tile tile = Tile(tile_row * tile_m, (number - tile_row * push.tiles_n) * (tile_n / 4u));
  [[unroll]] for (uint i = 0u; i < SUMS_OF_INVOCATION; ++i) {
    step_sums[i] = STEP_SUMS(0);
#if GROUPED
    group_sums[i] = vec4(0.0);
#endif
  }

  STEP_VECTOR next_x[x_loads];
  uvec4 next_w[w_loads];
  const uint all_steps = push.blocks * STEPS_OF_BLOCK;
  for (uint i = 0u; i < x_loads; ++i) next_x[i] = load_x(tile, lane + i * gl_WorkGroupSize.x, 0u);
  for (uint i = 0u; i < w_loads; ++i) next_w[i] = load_w(tile, lane + i * gl_WorkGroupSize.x, 0u);
  for (uint first_step = 0u; first_step < all_steps; first_step += steps) {
    barrier();  // the slab before has been read
    for (uint i = 0u; i < x_loads; ++i) {
      const uint load = lane + i * gl_WorkGroupSize.x;
      if (load < X_LOADS) keep_x(load, next_x[i]);
    }
    for (uint i = 0u; i < w_loads; ++i) {
      const uint load = lane + i * gl_WorkGroupSize.x;
      if (load < W_LOADS) keep_w(tile, load, first_step, next_w[i]);
    }
    barrier();
    const uint next_step = first_step + steps;
    if (next_step < all_steps) {
      for (uint i = 0u; i < x_loads; ++i) next_x[i] = load_x(tile, lane + i * gl_WorkGroupSize.x, next_step);
      for (uint i = 0u; i < w_loads; ++i) next_w[i] = load_w(tile, lane + i * gl_WorkGroupSize.x, next_step);
    }
    add_slab(tile, first_step, thread);
  }
  store_sums(tile, thread);
}
