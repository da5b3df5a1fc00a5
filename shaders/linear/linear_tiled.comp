#version 450
#extension GL_GOOGLE_include_directive : require

// y = x * transpose(w). A workgroup computes a tile of `tile_m` rows by `tile_n` output channels, an invocation ROWS by
// 4 * COLUMN_QUADS of it. K is processed in slabs of `steps`: a slab of x and of w lies in shared memory, step by step,
// while the next one is being loaded into registers. A step is one k of real values, or a word of four int8 values.
//
// REAL           1: sums of real values in float32; 0: of int8 values in int32
// GROUPED        int32 sums of each group become float32 sums; W_BITS 4
// DOT            see linear/dot4x8.glslh
// GATHERED       1: x is the images of a convolution
// ROWS           rows of an invocation: 4, 8 or 16
// COLUMN_QUADS   1 or 2; SUMS_OF_INVOCATION: their product
// STEPS_AT_ONCE  2 or 4: a divisor of steps and part_steps
// X_*, W_*, Y_*, SUMS, ...: see the included files

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/unroll.glslh"

layout(constant_id = 4) const uint tile_m = 64u;
layout(constant_id = 5) const uint tile_n = 64u;
layout(constant_id = 6) const uint steps = 16u;  // steps of a slab
#if GROUPED
layout(constant_id = 7) const uint part_steps = 16u;  // steps of a slab that lie in one group
#endif
layout(constant_id = 8) const uint x_loads = 1u;  // loads of an invocation for a slab
layout(constant_id = 9) const uint w_loads = 1u;

#include "linear/numbers.glslh"
#include "linear/tiles.glslh"
#include "linear/weights.glslh"
#include "linear/y.glslh"
#if REAL
#include "linear/x_real.glslh"
#define STEP_VECTOR vec4
#else
#if GATHERED
#include "linear/x_gathered.glslh"
#else
#include "linear/x_int8.glslh"
#endif
#define STEP_VECTOR uvec4
#endif
#include "linear/tile_sums.glslh"

// Loads neither branch nor compute with their results: a kernel would wait for each. Past the end they read nearby
// values; values that must be 0 become 0 on the way to shared memory.

// --- a slab of x -----------------------------------------------------------------------------------------------------
#if !GATHERED && !REAL && X_LAYOUT == X_BLOCKS
// A load is a step of each of four slots.
#define X_LOADS (steps * (tile_m / 4u))
uvec4 load_x(Tile tile, uint number, uint first_step) {
  return x_block(tile.first_slot / 4u + number / steps, first_step + number % steps);
}
void keep_x(uint number, uint first_step, uvec4 value) { x_tile[number % steps * x_pitch + number / steps] = value; }
#else
// A load is four steps of a row.
#define X_LOADS (steps / 4u * tile_m)
uint quad_of_x(uint number, uint first_step) { return first_step / 4u + number % (steps / 4u); }

#if !GATHERED
STEP_VECTOR load_x(Tile tile, uint number, uint first_step) {
  const Row row = existing_row(tile.first_slot + number / (steps / 4u));
#if REAL
  return existing_quad(row, min(quad_of_x(number, first_step), (push.depth - 1u) / 4u));
#else
  return x_four(row, quad_of_x(number, first_step) * 4u);
#endif
}
#endif

void keep_x(uint number, uint first_step, STEP_VECTOR value) {
  const uint row = number / (steps / 4u);
  const uint step = number % (steps / 4u) * 4u;
#if REAL
  if (quad_of_x(number, first_step) * 4u >= push.depth) value = vec4(0.0);
#endif
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

uint block_of_load(uint number, uint first_step) { return first_step / STEPS_OF_BLOCK + number % BLOCKS_OF_SLAB; }

uvec4 load_w(Tile tile, uint number, uint first_step) {
  // Values past the last channel are not stored, and sums past the last group are not added.
  const uint quad = min(tile.first_quad + quad_of_load(number), push.quads - 1u);
  return w_block(quad, min(block_of_load(number, first_step), push.blocks - 1u), push.blocks);
}

uint group_of_load(uint number, uint first_step) {
  return min(divide(block_of_load(number, first_step), push.by_group), push.groups - 1u);
}

#if W_BITS == 4
// The difference between a stored nibble and its value.
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
  const uvec4 upper = words >> 12;
  keep_step(number, 0u, PLACED_NIBBLE_0(words) * scales);
  keep_step(number, 1u, PLACED_NIBBLE_1(words) * scales);
  keep_step(number, 2u, PLACED_NIBBLE_2(words) * scales);
  keep_step(number, 3u, PLACED_NIBBLE_3(upper) * scales);
  keep_step(number, 4u, PLACED_NIBBLE_4(words) * scales);
  keep_step(number, 5u, PLACED_NIBBLE_5(words) * scales);
  keep_step(number, 6u, PLACED_NIBBLE_6(upper) * scales);
  keep_step(number, 7u, PLACED_NIBBLE_7(upper) * scales);
}
#elif REAL
void keep_w(Tile tile, uint number, uint first_step, uvec4 words) {
  const uvec4 bytes = words ^ 0x80808080u;
  const uvec4 upper = bytes >> 16;
  keep_step(number, 0u, PLACED_EVEN_BYTE(bytes));
  keep_step(number, 1u, PLACED_ODD_BYTE(bytes));
  keep_step(number, 2u, PLACED_EVEN_BYTE(upper));
  keep_step(number, 3u, PLACED_ODD_BYTE(upper));
}
#elif W_BITS == 4
void keep_w(Tile tile, uint number, uint first_step, uvec4 words) {
  const uvec4 zero = nibble_zero(tile, number, first_step);
  keep_step(number, 0u, signed_nibbles(first_nibbles(words), zero));
  keep_step(number, 1u, signed_nibbles(last_nibbles(words), zero));
}
#else
void keep_w(Tile tile, uint number, uint first_step, uvec4 words) {
  keep_step(number, 0u, block_of_load(number, first_step) < push.blocks ? words : uvec4(0u));
}
#endif

// --- sums ------------------------------------------------------------------------------------------------------------
#if GROUPED
int zero_points[ROWS];  // zero points of the rows of x
vec4 group_scales[COLUMN_QUADS];
ivec4 group_weights[COLUMN_QUADS];  // sums of w

int zero_point_of(Row row) { return row.exists ? x_zero_point(row.index) : 0; }
#define LOAD_ZERO_POINT(i) zero_points[i] = zero_point_of(row_of(slot_of(tile, thread, i)));
void load_zero_points(Tile tile, uvec2 thread) { EACH(ROWS, LOAD_ZERO_POINT) }

#define LOAD_GROUP(column)                                                 \
  {                                                                        \
    const uint quad = min(quad_of(tile, thread, column), push.quads - 1u); \
    group_scales[column] = w_scale(group, quad, push.quads);               \
    group_weights[column] = w_sums(group, quad, push.quads);               \
  }
void load_group(Tile tile, uint group, uvec2 thread) { EACH(COLUMN_QUADS, LOAD_GROUP) }

// Adds the sums of a group, minus x's zero points, times its scales, and begins the next group.
#define END_GROUP(i, column)                                                                                      \
  group_sums[(i)*COLUMN_QUADS + column] +=                                                                        \
      vec4(step_sums[(i)*COLUMN_QUADS + column] - zero_points[i] * group_weights[column]) * group_scales[column]; \
  step_sums[(i)*COLUMN_QUADS + column] = ivec4(0);
#define END_GROUP_OF_0(i) END_GROUP(i, 0)
#define END_GROUP_OF_1(i) END_GROUP(i, 1)
void end_group() {
  EACH(ROWS, END_GROUP_OF_0)
#if COLUMN_QUADS == 2
  EACH(ROWS, END_GROUP_OF_1)
#endif
}

void add_slab(Tile tile, uint first_step, uvec2 thread) {
  const uint blocks_of_group = push.blocks / push.groups;
  for (uint first = 0u; first < steps; first += part_steps) {
    const uint next_block = (first_step + first + part_steps) / STEPS_OF_BLOCK;
    const uint group = divide(next_block, push.by_group) - 1u;  // the group that ends with this part, if one does
    const bool ends = (group + 1u) * blocks_of_group == next_block && group < push.groups;
    if (ends) load_group(tile, group, thread);
    add_steps(first, part_steps, thread);
    if (ends) end_group();
  }
}
#else
void add_slab(Tile tile, uint first_step, uvec2 thread) { add_steps(0u, steps, thread); }
#endif

void main() {
  push = numbers();
#if REAL
  set_powers();
#endif
  const uint lane = gl_LocalInvocationID.x;
  const uvec2 thread = uvec2(lane % threads_n, lane / threads_n);
  const uint number = flat_workgroup();
  const Tile tile = tile_of(number, tile_m, tile_n);
  EACH(SUMS_OF_INVOCATION, CLEAR_STEP_SUMS)
#if GROUPED
  EACH(SUMS_OF_INVOCATION, CLEAR_GROUP_SUMS)
  load_zero_points(tile, thread);
#endif

  STEP_VECTOR next_x[x_loads];
  uvec4 next_w[w_loads];
#if GATHERED
  uvec4 outside[x_loads];
  Corner corners[x_loads];
  for (uint i = 0u; i < x_loads; ++i) {
    corners[i] = corner_of(tile.first_slot + (lane + i * gl_WorkGroupSize.x) / (steps / 4u));
  }
#define LOAD_X(i, step) \
  gathered_four(corners[i], quad_of_x(lane + i * gl_WorkGroupSize.x, step) * 4u, channel_group, outside[i])
#define LOADED_X(i) with_zeros(next_x[i], outside[i])
#else
#define LOAD_X(i, step) load_x(tile, lane + i * gl_WorkGroupSize.x, step)
#define LOADED_X(i) next_x[i]
#endif
  const uint all_steps = push.blocks * STEPS_OF_BLOCK;
  for (uint i = 0u; i < x_loads; ++i) next_x[i] = LOAD_X(i, 0u);
  for (uint i = 0u; i < w_loads; ++i) next_w[i] = load_w(tile, lane + i * gl_WorkGroupSize.x, 0u);
  for (uint first_step = 0u; first_step < all_steps; first_step += steps) {
    barrier();  // the slab before has been read
    for (uint i = 0u; i < x_loads; ++i) {
      const uint load = lane + i * gl_WorkGroupSize.x;
      if (X_LOADS % gl_WorkGroupSize.x == 0u || load < X_LOADS) keep_x(load, first_step, LOADED_X(i));
    }
    for (uint i = 0u; i < w_loads; ++i) {
      const uint load = lane + i * gl_WorkGroupSize.x;
      if (W_LOADS % gl_WorkGroupSize.x == 0u || load < W_LOADS) keep_w(tile, load, first_step, next_w[i]);
    }
    barrier();
    const uint next_step = first_step + steps;
    if (next_step < all_steps) {
      for (uint i = 0u; i < x_loads; ++i) next_x[i] = LOAD_X(i, next_step);
      for (uint i = 0u; i < w_loads; ++i) next_w[i] = load_w(tile, lane + i * gl_WorkGroupSize.x, next_step);
    }
    add_slab(tile, first_step, thread);
  }
  store_sums(tile, thread);
}
