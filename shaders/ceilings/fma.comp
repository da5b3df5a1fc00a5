#version 450
#extension GL_GOOGLE_include_directive : require

// Multiplications and additions of floats: 16 independent chains per invocation, 16 steps per round.
//
// HALF  0: float; 1: pairs of float16

#if HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define REAL f16vec2
#define TO_FLOAT(pair) (float((pair).x) + float((pair).y))
#else
#define REAL float
#define TO_FLOAT(test_case) (test_case)
#endif

#include "common/indexing.glslh"
#include "ceilings/keep.glslh"
#include "common/unroll.glslh"

layout(push_constant) uniform Push {
  uint rounds;
  float factor;
  float addend;
  Keep keep;
} push;

layout(set = 0, binding = 0) writeonly buffer Sink { uint sink[]; };

#define START(i) REAL x##i = REAL(float(i + 1) + float(gl_LocalInvocationID.x & 7u));
#define STEP(i) x##i = fma(x##i, factor, addend);
#define SUM(i) sum += TO_FLOAT(x##i);

void main() {
  const REAL factor = REAL(push.factor);
  const REAL addend = REAL(push.addend);
  EACH(16, START)
  for (uint round = 0u; round < push.rounds; ++round) {
    TIMES_16(EACH(16, STEP))
  }
  float sum = 0.0;
  EACH(16, SUM)
  const uint bits = floatBitsToUint(sum);
  if (keeps(push.keep, bits)) sink[flat_invocation() % uint(sink.length())] = bits;
}
