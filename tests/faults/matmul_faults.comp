#version 450
#extension GL_GOOGLE_include_directive : require

// y[m, n] = sum_k x[m, k] * w[n, k], i8 to i32, all in WP; one workgroup a row of y, one invocation a column.
// The row of x is brought to shared memory by all invocations together.

#include "faults.glslh"

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
#ifdef FAULT_weights_writable
layout(set = 0, binding = 1) buffer W { uint w[]; };
#else
layout(set = 0, binding = 1) readonly buffer W { uint w[]; };
#endif
layout(set = 0, binding = 2) writeonly buffer Y { int y[]; };
#ifdef FAULT_wrong_when_repeated
layout(set = 0, binding = 3) readonly buffer Mark { uint mark[]; };
#endif

layout(push_constant) uniform Push {
  uint depth;  // K, at most 256
  uint columns;
} push;

shared int row[256];
#ifdef FAULT_uninitialized_shared
shared uint visits;
#endif

int product_sum(uint column) {
  int sum = 0;
#ifdef FAULT_last_k_dropped
  const uint depth = push.depth - 1u;
#else
  const uint depth = push.depth;
#endif
  for (uint k = 0u; k < depth; ++k) {
    const uint i = column * push.depth + k;
    sum += row[k] * signed_byte(w[guard_words + i / 4u], i % 4u);
  }
#ifdef FAULT_counted_twice
  for (uint k = gl_WorkGroupSize.x; k < depth; k += gl_WorkGroupSize.x) sum += row[k];
#endif
  return sum;
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
#ifdef FAULT_return_before_barrier
  if (lane >= push.columns) return;
#endif
  for (uint k = lane; k < push.depth; k += gl_WorkGroupSize.x) {
    const uint i = gl_WorkGroupID.x * push.depth + k;
    row[k] = signed_byte(x[guard_words + i / 4u], i % 4u);
  }
#ifndef FAULT_missing_barrier
  barrier();
#endif
  if (lane >= push.columns) return;
  int value = product_sum(lane);
#ifdef FAULT_column_tail_dropped
  if (lane >= push.columns / 4u * 4u) value = 0;
#endif
#ifdef FAULT_wrong_when_repeated
  if (mark[guard_words] == 12345u) value += 1;
#endif
#ifdef FAULT_uninitialized_shared
  if (lane == 0u) value += int(++visits & 0xffffu);
#endif
  y[guard_words + gl_WorkGroupID.x * push.columns + lane] = value;
}
