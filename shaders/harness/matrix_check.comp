#version 450
#extension GL_GOOGLE_include_directive : require

// y = 2 * (a * b) by the cooperative matrices of common/matrices.glslh: one subgroup, one fragment of each. The host
// compares with exact sums, before any kernel relies on fragments of this shape. Behind the sums y has them once more,
// as kernels scale them: as floats, element by element, each plus the product of a number of its row and one of its
// column, which are loaded with a stride of 0. An invocation that holds more elements than ELEMENTS leaves some out.
//
// MATRICES, MATRICES_REAL, FRAGMENT_M, FRAGMENT_N, FRAGMENT_K: see common/matrices.glslh
// ELEMENTS  see there; MATRICES_NV: 0 leaves out the second part of y
// UNITS     units of 16 bytes of a row of a, and of a column of b

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/matrix_kinds.glslh"

layout(constant_id = 4) const uint subgroup_lanes = 1u;  // invocations of a subgroup

layout(set = 0, binding = 0) restrict readonly buffer A { uvec4 a[]; };   // by rows
layout(set = 0, binding = 1) restrict readonly buffer B { uvec4 b[]; };   // by columns
layout(set = 0, binding = 2) restrict writeonly buffer Y { uvec4 y[]; };  // by rows

#define HAS_ELEMENTS (MATRICES == MATRICES_PLAIN || ELEMENTS > 0)

const uint guard_units = guard_words / 4u;
const uint a_units = FRAGMENT_M * UNITS;
const uint b_units = FRAGMENT_N * UNITS;
const uint y_units = FRAGMENT_M * FRAGMENT_N / 4;
const uint y_at = a_units + b_units;
const uint row_numbers_at = y_at + y_units;
const uint row_number_units = (FRAGMENT_M + 3) / 4;
const uint column_numbers_at = row_numbers_at + row_number_units;
const uint column_number_units = FRAGMENT_N / 4;

shared uvec4 pool[column_numbers_at + column_number_units];
#include "common/matrices.glslh"

// From 1, `apart` apart; four in a unit.
void keep_numbers(uint lane, uint at, uint units, float apart) {
  for (uint i = lane; i < units; i += gl_WorkGroupSize.x) {
    pool[at + i] = floatBitsToUint((float(i * 4u) + vec4(0.0, 1.0, 2.0, 3.0)) * apart + 1.0);
  }
}

void store_results(uint lane, uint first) {
  for (uint i = lane; i < y_units; i += gl_WorkGroupSize.x) y[guard_units + first + i] = pool[y_at + i];
}

#define ADD_NUMBERS(e, i, j) ELEMENT(reals, e) += ELEMENT(row_numbers, e) * ELEMENT(column_numbers, e);

void main() {
  const uint lane = gl_LocalInvocationID.x;
  for (uint i = lane; i < a_units; i += gl_WorkGroupSize.x) pool[i] = a[guard_units + i];
  for (uint i = lane; i < b_units; i += gl_WorkGroupSize.x) pool[a_units + i] = b[guard_units + i];
  keep_numbers(lane, row_numbers_at, row_number_units, 1.0);
  keep_numbers(lane, column_numbers_at, column_number_units, 2.0);
  barrier();
  A_MATRIX rows;
  B_MATRIX columns;
  SUM_MATRIX sums;
  LOAD_A(rows, 0u, UNITS);
  LOAD_B(columns, a_units, UNITS);
  CLEAR_SUMS(sums);
  MULTIPLY_ADD(rows, columns, sums);
  MULTIPLY_ADD(rows, columns, sums);
  STORE_SUMS(sums, y_at, FRAGMENT_N / 4);
  barrier();
  store_results(lane, 0u);
#if HAS_ELEMENTS
  REAL_MATRIX reals;
  REAL_MATRIX row_numbers;
  REAL_MATRIX column_numbers;
#if MATRICES_REAL
  LOAD_REALS(reals, y_at, FRAGMENT_N / 4);
#else
  REAL_OF_SUMS(reals, sums);
#endif
  LOAD_PER_ROW(row_numbers, row_numbers_at);
  LOAD_PER_COLUMN(column_numbers, column_numbers_at);
  EACH_ELEMENT(ADD_NUMBERS, 0, 0)
  barrier();  // the sums have been read
  STORE_SUMS(reals, y_at, FRAGMENT_N / 4);
  barrier();
  store_results(lane, y_units);
#endif
}
