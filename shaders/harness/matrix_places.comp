#version 450
#extension GL_GOOGLE_include_directive : require

// Looks whether invocations hold elements of matrices where common/placed_matrices.glslh says, as kernels use them:
// rows of a and columns of b are made element by element, and sums are read so. Two products, by a unit matrix: of
// numbered rows, and of numbered columns. Each invocation stores how many of its sums are wrong.
//
// MATRICES, FRAGMENT_N, ELEMENTS: see common/placed_matrices.glslh
// COLUMN_WORDS  words of b that an invocation holds

#define FRAGMENT_M 16
#define FRAGMENT_K 16
#define SUBGROUPS 1
#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/unroll.glslh"

layout(set = 0, binding = 0) restrict writeonly buffer Wrong { uint wrong[]; };

// The unit matrix, by columns of 16 halves, in units of 16 bytes.
#define UNITS_OF_COLUMN 2
shared uvec4 pool[FRAGMENT_N * UNITS_OF_COLUMN];
#include "common/placed_matrices.glslh"

// Exact as a half.
float number_at(uint row, uint column) { return float(row * 16u + column); }
uint numbers_at(uint row, uint column) {
  return packHalf2x16(vec2(number_at(row, column), number_at(row, column + 1u)));
}
float one_at(uint row, uint column) { return row == column ? 1.0 : 0.0; }
uint ones_at(uint row, uint column) { return packHalf2x16(vec2(one_at(row, column), one_at(row, column + 1u))); }

uint count = 0u;
#define COUNT_ELEMENT(e, wanted, ignored) \
  if (ELEMENT(sums, e) != wanted(row_of_lane() + 8u * HIGH_ROW(e), column_of_lane() + COLUMN(e))) ++count;
#define SET_ROW_WORD(i, of, ignored) \
  SET_WORD(rows, i, of(row_of_lane() + 8u * ((i) / 2), column_of_lane() + 8u * ((i) % 2)))
// Rows of b lie along a column's words.
#define SET_COLUMN_WORD(i, ignored, also_ignored)                                                          \
  SET_WORD(columns, i,                                                                                     \
           packHalf2x16(vec2(number_at(column_of_lane() + 8u * ((i) % 2), row_of_lane() + 8u * ((i) / 2)), \
                             number_at(column_of_lane() + 8u * ((i) % 2) + 1u, row_of_lane() + 8u * ((i) / 2)))))

void main() {
  for (uint i = gl_LocalInvocationID.x; i < FRAGMENT_N * UNITS_OF_COLUMN; i += gl_WorkGroupSize.x) {
    const uint column = i / UNITS_OF_COLUMN, first = i % UNITS_OF_COLUMN * 8u;
    pool[i] = uvec4(ones_at(column, first), ones_at(column, first + 2u), ones_at(column, first + 4u),
                    ones_at(column, first + 6u));
  }
  barrier();
  A_MATRIX rows;
  B_MATRIX columns;
  SUM_MATRIX sums;
  EACH_INNERMOST(4, SET_ROW_WORD, numbers_at, 0)
  LOAD_B(columns, 0u, UNITS_OF_COLUMN);
  CLEAR_SUMS(sums);
  MULTIPLY_ADD(rows, columns, sums);
  EACH_ELEMENT(COUNT_ELEMENT, number_at, 0)

  EACH_INNERMOST(4, SET_ROW_WORD, ones_at, 0)
  EACH_INNERMOST(COLUMN_WORDS, SET_COLUMN_WORD, 0, 0)
  CLEAR_SUMS(sums);
  MULTIPLY_ADD(rows, columns, sums);
  EACH_ELEMENT(COUNT_ELEMENT, number_at, 0)
  wrong[guard_words + gl_LocalInvocationID.x] = count;
}
