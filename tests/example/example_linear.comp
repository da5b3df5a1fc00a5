#version 450
#extension GL_GOOGLE_include_directive : require

// y[m, n] = scale[n] * sum_k x[m, k] * w[n, k]; w is packed (example_pack.comp).
//
// STAGED  0: an invocation an element, `partial_sums` sums of every so many-th k; 1: a workgroup some columns of
//         one row, whose x is in shared memory, `tile_k` values at a time

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(constant_id = 4) const uint depth = 1u;

layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) readonly buffer Packed { uint packed[]; };
layout(set = 0, binding = 2) readonly buffer Scale { float scale[]; };
layout(set = 0, binding = 3) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint columns;
} push;

float weight(uint k, uint column) {
  const uint word = packed[guard_words + k / 4u * push.columns + column];
  return float(bitfieldExtract(int(word), int(8u * (k % 4u)), 8));
}

void store(uint row, uint column, float sum) {
  precise float scaled = sum * scale[guard_words + column];
  y[guard_words + row * push.columns + column] = scaled;
}

#if STAGED
layout(constant_id = 5) const uint tile_k = 1u;
shared float staged[tile_k];

void main() {
  const uint row = gl_WorkGroupID.y;
  const uint column = gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  precise float sum = 0.0;
  for (uint first = 0u; first < depth; first += tile_k) {
    const uint count = min(tile_k, depth - first);
    barrier();  // the tile before has been read
    for (uint i = gl_LocalInvocationID.x; i < count; i += gl_WorkGroupSize.x) {
      staged[i] = x[guard_words + row * depth + first + i];
    }
    barrier();
    if (column < push.columns) {
      for (uint i = 0u; i < count; ++i) sum += staged[i] * weight(first + i, column);
    }
  }
  if (column < push.columns) store(row, column, sum);
}
#else
layout(constant_id = 5) const uint partial_sums = 1u;

void main() {
  const uint i = flat_invocation();
  if (i >= push.rows * push.columns) return;
  const uint row = i / push.columns, column = i % push.columns;
  precise float sum = 0.0;
  for (uint part = 0u; part < partial_sums; ++part) {
    precise float partial = 0.0;
    for (uint k = part; k < depth; k += partial_sums) {
      partial += x[guard_words + row * depth + k] * weight(k, column);
    }
    sum += partial;
  }
  store(row, column, sum);
}
#endif
