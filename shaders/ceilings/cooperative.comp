#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_NV_cooperative_matrix : require

// Products of cooperative matrices: 8 independent sums, 4 steps per round.
//
// ROWS, COLUMNS, DEPTH  a is ROWS x DEPTH, b is DEPTH x COLUMNS
// ELEMENTS              elements of a sum that an invocation holds
// HALF                  1: a and b are float16, sums have SUM_BITS 16 or 32; 0: signed bytes, sums are int

#if HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define FACTOR(rows, columns) fcoopmatNV<16, gl_ScopeSubgroup, rows, columns>
#define TERM(value) float16_t(value)
#define TOTAL fcoopmatNV<SUM_BITS, gl_ScopeSubgroup, ROWS, COLUMNS>
#if SUM_BITS == 16
#define ELEMENT float16_t
#else
#define ELEMENT float
#endif
#define NUMBER float
#else
#extension GL_NV_integer_cooperative_matrix : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#define FACTOR(rows, columns) icoopmatNV<8, gl_ScopeSubgroup, rows, columns>
#define TERM(value) int8_t(value)
#define TOTAL icoopmatNV<32, gl_ScopeSubgroup, ROWS, COLUMNS>
#define ELEMENT int
#define NUMBER int
#endif

#include "common/indexing.glslh"
#include "ceilings/keep.glslh"
#include "common/unroll.glslh"

layout(push_constant) uniform Push {
  uint rounds;
  NUMBER factor;
  NUMBER addend;
  Keep keep;
} push;

layout(set = 0, binding = 0) writeonly buffer Sink { uint sink[]; };

#define START(i) TOTAL x##i = TOTAL(ELEMENT(i));
#define STEP(i) x##i = coopMatMulAddNV(a, b, x##i);
#define SUM(i) \
  for (int k = 0; k < ELEMENTS; ++k) sum += NUMBER(x##i[k]);

void main() {
  const FACTOR(ROWS, DEPTH) a = FACTOR(ROWS, DEPTH)(TERM(push.factor));
  const FACTOR(DEPTH, COLUMNS) b = FACTOR(DEPTH, COLUMNS)(TERM(push.addend));
  EACH(8, START)
  for (uint round = 0u; round < push.rounds; ++round) {
    TIMES_4(EACH(8, STEP))
  }
  NUMBER sum = NUMBER(0);
  EACH(8, SUM)
#if HALF
  const uint bits = floatBitsToUint(sum);
#else
  const uint bits = uint(sum);
#endif
  if (keeps(push.keep, bits)) sink[flat_invocation() % uint(sink.length())] = bits;
}
