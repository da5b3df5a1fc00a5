#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_spirv_intrinsics : require

// Dot products of four signed bytes: 16 independent chains per invocation, 16 steps per round. The instruction is given
// by its number, since glslang 12 has no function for it.
//
// SATURATE  0: product, then addition; 1: the instruction that adds with saturation

#include "common/indexing.glslh"
#include "ceilings/keep.glslh"
#include "common/unroll.glslh"

// Capabilities DotProduct and DotProductInput4x8BitPacked; the last operand: packed vectors of 4x8 bits.
// clang-format off
#if SATURATE
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6019, 6018], id = 4453)
int dot_and_add(int a, int b, int c, spirv_literal int packed);
#define DOT_AND_ADD(a, b, c) dot_and_add(a, b, c, 0)
#else
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6019, 6018], id = 4450)
int packed_dot(int a, int b, spirv_literal int packed);
#define DOT_AND_ADD(a, b, c) (packed_dot(a, b, 0) + (c))
#endif
// clang-format on

layout(push_constant) uniform Push {
  uint rounds;
  int factor;
  int addend;
  Keep keep;
} push;

layout(set = 0, binding = 0) writeonly buffer Sink { uint sink[]; };

#define START(i) int x##i = int((uint(i) + 1u) * 0x01030507u + gl_LocalInvocationID.x);
#define STEP(i) x##i = DOT_AND_ADD(x##i, factor, addend);
#define SUM(i) sum += uint(x##i);

void main() {
  const int factor = push.factor;
  const int addend = push.addend;
  EACH(16, START)
  for (uint round = 0u; round < push.rounds; ++round) {
    TIMES_16(EACH(16, STEP))
  }
  uint sum = 0u;
  EACH(16, SUM)
  if (keeps(push.keep, sum)) sink[flat_invocation() % uint(sink.length())] = sum;
}
