#version 450
#extension GL_GOOGLE_include_directive : require

// y = alpha * a * b + beta * c. A workgroup computes a tile of `tile_m` rows by `tile_n` columns, an invocation ROWS by
// 4 * COLUMN_QUADS of it. K is processed in slabs of `steps`: a slab of a and of b lies in shared memory, k by k, while
// the next one is being loaded into registers.
//
// CONV1D  1: the operands are those of a pointwise convolution along one axis: a is its w, b its x
// ROWS, COLUMN_QUADS, ...: see linear/linear_tiled.comp and the included files

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(constant_id = 4) const uint tile_m = 64u;
layout(constant_id = 5) const uint tile_n = 64u;
layout(constant_id = 6) const uint steps = 16u;   // values along K of a slab
layout(constant_id = 8) const uint x_loads = 1u;  // loads of an invocation for a slab
layout(constant_id = 9) const uint w_loads = 1u;

#if CONV1D
#include "convolution/conv1d_operands.glslh"
#else
#include "matmul/operands.glslh"
#endif
#define STEP_VECTOR vec4
#include "linear/tile_sums.glslh"

// Loads neither branch nor compute with their results: a kernel would wait for each. Past the end of K they read nearby
// values, and those of b become 0 on the way to shared memory. Those of a are values of the same row: if they are NaN,
// so are the row's sums.

// A load of a is four values of a row.
#define A_LOADS (steps / 4u * tile_m)
uint quad_of_a(uint number, uint first_step) { return first_step / 4u + number % (steps / 4u); }

vec4 load_a(Tile tile, uint number, uint first_step) {
  const Row row = row_of_a(tile.first_slot + number / (steps / 4u));
  return existing_quad(row, min(quad_of_a(number, first_step), (push.depth - 1u) / 4u));
}

void keep_a(uint number, vec4 value) {
  const uint row = number / (steps / 4u);
  const uint step = number % (steps / 4u) * 4u;
  for (uint i = 0u; i < 4u; ++i) x_tile[(step + i) * x_pitch + row / 4u][row % 4u] = value[i];
}

// A load of b is four columns of a row.
#define B_LOADS (steps * (tile_n / 4u))
uint step_of_b(uint number) { return number / (tile_n / 4u); }

vec4 load_b(Tile tile, uint number, uint first_step) {
  return b_near(row_of_b(tile, first_step + step_of_b(number)), tile.first_quad + number % (tile_n / 4u));
}

void keep_b(uint number, uint first_step, vec4 value) {
  const uint step = step_of_b(number);
  if (first_step + step >= push.depth) value = vec4(0.0);
  w_tile[step * w_pitch + number % (tile_n / 4u)] = value;
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uvec2 thread = uvec2(lane % threads_n, lane / threads_n);
  const Tile tile = tile_of(flat_workgroup(), tile_m, tile_n);
  EACH(SUMS_OF_INVOCATION, CLEAR_STEP_SUMS)

  vec4 next_a[x_loads];
  vec4 next_b[w_loads];
  for (uint i = 0u; i < x_loads; ++i) next_a[i] = load_a(tile, lane + i * gl_WorkGroupSize.x, 0u);
  for (uint i = 0u; i < w_loads; ++i) next_b[i] = load_b(tile, lane + i * gl_WorkGroupSize.x, 0u);
  for (uint first_step = 0u; first_step < push.depth; first_step += steps) {
    barrier();  // the slab before has been read
    for (uint i = 0u; i < x_loads; ++i) {
      const uint load = lane + i * gl_WorkGroupSize.x;
      if (A_LOADS % gl_WorkGroupSize.x == 0u || load < A_LOADS) keep_a(load, next_a[i]);
    }
    for (uint i = 0u; i < w_loads; ++i) {
      const uint load = lane + i * gl_WorkGroupSize.x;
      if (B_LOADS % gl_WorkGroupSize.x == 0u || load < B_LOADS) keep_b(load, first_step, next_b[i]);
    }
    barrier();
    const uint next_step = first_step + steps;
    if (next_step < push.depth) {
      for (uint i = 0u; i < x_loads; ++i) next_a[i] = load_a(tile, lane + i * gl_WorkGroupSize.x, next_step);
      for (uint i = 0u; i < w_loads; ++i) next_b[i] = load_b(tile, lane + i * gl_WorkGroupSize.x, next_step);
    }
    add_steps(0u, steps, thread);
  }
  store_sums(tile, thread);
}
