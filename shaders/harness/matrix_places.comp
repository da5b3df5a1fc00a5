#version 450
#extension GL_GOOGLE_include_directive : require

// Looks whether invocations hold elements of matrices where common/placed_matrices.glslh says, as kernels use them:
// rows of a and columns of b are made element by element, and sums are read so. Of halves two products by a unit
// matrix: of numbered rows, and of numbered columns; of int8 one product of numbers without an order. Each invocation
// stores how many of its sums are wrong.
//
// MATRICES, MATRICES_REAL, FRAGMENT_N, FRAGMENT_K, ELEMENTS: see common/placed_matrices.glslh
// COLUMN_WORDS  words of b that an invocation holds

#define FRAGMENT_M 16
#define SUBGROUPS 1
#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/packing.glslh"
#include "common/unroll.glslh"

layout(set = 0, binding = 0) restrict writeonly buffer Wrong { uint wrong[]; };

// The unit matrix, by columns of 16 halves, in units of 16 bytes.
#define UNITS_OF_COLUMN 2
shared uvec4 pool[FRAGMENT_N * UNITS_OF_COLUMN];
#include "common/placed_matrices.glslh"

uint count = 0u;
#if MATRICES_REAL

// Exact as a half.
float number_at(uint row, uint column) { return float(row * 16u + column); }
uint numbers_at(uint row, uint column) {
  return packHalf2x16(vec2(number_at(row, column), number_at(row, column + 1u)));
}
float one_at(uint row, uint column) { return row == column ? 1.0 : 0.0; }
uint ones_at(uint row, uint column) { return packHalf2x16(vec2(one_at(row, column), one_at(row, column + 1u))); }

#define COUNT_ELEMENT(e, wanted, ignored) \
  if (ELEMENT(sums, e) != wanted(row_of_lane() + 8u * HIGH_ROW(e), column_of_lane() + COLUMN(e))) ++count;
#define SET_ROW_WORD(i, of, ignored) \
  SET_WORD(rows, i, of(row_of_lane() + 8u * ((i) / 2), column_of_lane() + 8u * ((i) % 2)))
// Rows of b lie along a column's words.
#define SET_COLUMN_WORD(i, ignored, also_ignored)                                                          \
  SET_WORD(columns, i,                                                                                     \
           packHalf2x16(vec2(number_at(column_of_lane() + 8u * ((i) % 2), row_of_lane() + 8u * ((i) / 2)), \
                             number_at(column_of_lane() + 8u * ((i) % 2) + 1u, row_of_lane() + 8u * ((i) / 2)))))

void count_wrong() {
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
}
#else
int number_of_a(uint row, uint k) { return int((row * 37u + k * 11u + 5u) % 251u) - 125; }
int number_of_b(uint k, uint column) { return int((column * 53u + k * 29u + 3u) % 251u) - 125; }
uint word_of_a(uint row, uint k) {
  return pack_bytes(
      ivec4(number_of_a(row, k), number_of_a(row, k + 1u), number_of_a(row, k + 2u), number_of_a(row, k + 3u)));
}
uint word_of_b(uint k, uint column) {
  return pack_bytes(ivec4(number_of_b(k, column), number_of_b(k + 1u, column), number_of_b(k + 2u, column),
                          number_of_b(k + 3u, column)));
}
int sum_at(uint row, uint column) {
  int sum = 0;
  for (uint k = 0u; k < FRAGMENT_K; ++k) sum += number_of_a(row, k) * number_of_b(k, column);
  return sum;
}

#define SET_WORD_OF_A(i) SET_WORD(rows, i, word_of_a(row_of_lane() + 8u * ((i) / 2), 4u * of_four() + 16u * ((i) % 2)))
#define SET_WORD_OF_B(i) SET_WORD(columns, i, word_of_b(4u * of_four() + 16u * ((i) % 2), of_group() + 8u * ((i) / 2)))
#define COUNT_ELEMENT(e) \
  if (ELEMENT(sums, e) != sum_at(row_of_lane() + 8u * HIGH_ROW(e), column_of_lane() + COLUMN(e))) ++count;

void count_wrong() {
  A_MATRIX rows;
  B_MATRIX columns;
  SUM_MATRIX sums;
  EACH(4, SET_WORD_OF_A)
  EACH(COLUMN_WORDS, SET_WORD_OF_B)
  CLEAR_SUMS(sums);
  MULTIPLY_ADD(rows, columns, sums);
  EACH(ELEMENTS, COUNT_ELEMENT)
}
#endif

void main() {
  count_wrong();
  wrong[guard_words + gl_LocalInvocationID.x] = count;
}
