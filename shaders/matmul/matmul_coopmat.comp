#version 450
#extension GL_GOOGLE_include_directive : require

// y = alpha * a * b + beta * c by cooperative matrices of half floats with float sums, as linear/linear_coopmat.comp
// multiplies: a workgroup computes a tile of `tile_m` rows by `tile_n` columns, a subgroup FRAGMENTS_M by FRAGMENTS_N
// fragments of it, or a part of their sums. K is processed in slabs: a slab of a lies in shared memory in rows of
// `chunks` units of 16 bytes, a slab of b in a row for each k, while the next one is being loaded into registers.
//
// FRAGMENTS_M, FRAGMENTS_N, STAGED, MATRICES, ...: see linear/linear_coopmat.comp and the included files

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(constant_id = 4) const uint tile_m = 64u;
layout(constant_id = 5) const uint tile_n = 64u;
layout(constant_id = 6) const uint chunks = 4u;       // units of a row of a slab of a
layout(constant_id = 7) const uint slab_depth = 32u;  // values along K of a slab
layout(constant_id = 8) const uint x_loads = 1u;      // loads of an invocation for a slab
layout(constant_id = 9) const uint w_loads = 1u;
layout(constant_id = 10) const uint subgroups_n = 1u;     // subgroups side by side along N
layout(constant_id = 11) const uint subgroup_lanes = 1u;  // invocations of a subgroup
layout(constant_id = 12) const uint pool_units = 1u;      // units of 16 bytes of shared memory
layout(constant_id = 19) const uint subgroups_k =
    1u;  // subgroups that share K: each takes every subgroups_k-th part of a slab

#include "matmul/operands.glslh"

shared uvec4 pool[pool_units];
#define MATRICES_REAL 1
#include "common/matrices.glslh"

// Rows of shared memory are one unit longer than what they hold, so that eight of them lie in different banks.
const uint pitch = chunks + 1u;
const uint w_pitch = tile_n / 8u + 1u;
const uint x_units = tile_m * pitch;
#define VALUES_OF_CHUNK 8u
#define W_BY_K 1
#include "linear/coopmat_sums.glslh"
#define FINAL_SUMS sums
#include "linear/coopmat_y.glslh"

// Loads neither branch nor compute with their results: a kernel would wait for each. Past the end of K they read nearby
// values, and those of b become 0 on the way to shared memory. Those of a are values of the same row: if they are NaN,
// so are the row's sums.

// A load of a is eight values of a row.
#define A_LOADS (tile_m * chunks)
uvec4 load_a(Tile tile, uint number, uint slab) {
  const uint first = slab * slab_depth + number % chunks * 8u;
  return x_halves(existing_row(tile.first_slot + number / chunks), first);
}

void keep_a(uint number, uvec4 words) { pool[number / chunks * pitch + number % chunks] = words; }

// A load of b is eight columns of a row.
#define UNITS_OF_B (tile_n / 8u)
#define B_LOADS (slab_depth * UNITS_OF_B)
uint k_of_load(uint number, uint slab) { return slab * slab_depth + number / UNITS_OF_B; }

uvec4 load_b(Tile tile, uint number, uint slab) {
  return b_halves(row_of_b(tile, k_of_load(number, slab)), tile.first_quad / 2u + number % UNITS_OF_B);
}

void keep_b(uint slab, uint number, uvec4 words) {
  if (k_of_load(number, slab) >= push.depth) words = uvec4(0u);
  pool[x_units + number / UNITS_OF_B * w_pitch + number % UNITS_OF_B] = words;
}

uvec4 next_a[x_loads];
uvec4 next_b[w_loads];

void load_slab(Tile tile, uint lane, uint slab) {
  FOR_EACH(i, x_loads) next_a[i] = load_a(tile, lane + i * gl_WorkGroupSize.x, slab);
  FOR_EACH(i, w_loads) next_b[i] = load_b(tile, lane + i * gl_WorkGroupSize.x, slab);
}

void keep_slab(uint lane, uint slab) {
  FOR_EACH(i, x_loads) {
    const uint load = lane + i * gl_WorkGroupSize.x;
    if (A_LOADS % gl_WorkGroupSize.x == 0u || load < A_LOADS) keep_a(load, next_a[i]);
  }
  FOR_EACH(i, w_loads) {
    const uint load = lane + i * gl_WorkGroupSize.x;
    if (B_LOADS % gl_WorkGroupSize.x == 0u || load < B_LOADS) keep_b(slab, load, next_b[i]);
  }
}

void add_slab() {
  UNROLLED for (uint step = 0u; step < steps_of_slab / subgroups_k; ++step)
      add_step(0u, step * subgroups_k + part_of_subgroup());
}

#define CLEAR_SUM(i) CLEAR_SUMS(sums[i]);

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const Tile tile = tile_of(flat_workgroup(), tile_m, tile_n);
  EACH(SUMS_OF_SUBGROUP, CLEAR_SUM)
  const uint end_slab = (push.depth + slab_depth - 1u) / slab_depth;
  load_slab(tile, lane, 0u);
  load_channels(tile);
  for (uint slab = 0u; slab < end_slab; ++slab) {
    barrier();  // the slab before has been read
    keep_slab(lane, slab);
    barrier();
    if (slab + 1u < end_slab) load_slab(tile, lane, slab + 1u);
    add_slab();
  }
  store_sums(tile, 0u);
}
