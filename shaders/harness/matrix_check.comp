#version 450
#extension GL_GOOGLE_include_directive : require

// y = 2 * (a * b) by the cooperative matrices of common/matrices.glslh: one subgroup, one fragment of each. The host
// compares with exact sums, before any kernel relies on fragments of this shape.
//
// MATRICES, MATRICES_REAL, FRAGMENT_M, FRAGMENT_N, FRAGMENT_K, ELEMENTS: see common/matrices.glslh
// UNITS  units of 16 bytes of a row of a, and of a column of b

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(constant_id = 4) const uint subgroup_lanes = 1u;  // invocations of a subgroup

layout(set = 0, binding = 0) restrict readonly buffer A { uvec4 a[]; };   // by rows
layout(set = 0, binding = 1) restrict readonly buffer B { uvec4 b[]; };   // by columns
layout(set = 0, binding = 2) restrict writeonly buffer Y { uvec4 y[]; };  // by rows

const uint guard_units = guard_words / 4u;
const uint a_units = FRAGMENT_M * UNITS;
const uint b_units = FRAGMENT_N * UNITS;
const uint y_units = FRAGMENT_M * FRAGMENT_N / 4;

shared uvec4 pool[a_units + b_units + y_units];
#include "common/matrices.glslh"

void main() {
  const uint lane = gl_LocalInvocationID.x;
  for (uint i = lane; i < a_units; i += gl_WorkGroupSize.x) pool[i] = a[guard_units + i];
  for (uint i = lane; i < b_units; i += gl_WorkGroupSize.x) pool[a_units + i] = b[guard_units + i];
  barrier();
  A_MATRIX rows;
  B_MATRIX columns;
  SUM_MATRIX sums;
  LOAD_A(rows, 0u, UNITS);
  LOAD_B(columns, a_units, UNITS);
  CLEAR_SUMS(sums);
  MULTIPLY_ADD(rows, columns, sums);
  MULTIPLY_ADD(rows, columns, sums);
  STORE_SUMS(sums, a_units + b_units, FRAGMENT_N / 4);
  barrier();
  for (uint i = lane; i < y_units; i += gl_WorkGroupSize.x) y[guard_units + i] = pool[a_units + b_units + i];
}
