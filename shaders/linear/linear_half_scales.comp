#version 450
#extension GL_GOOGLE_include_directive : require

// Scales of int4 weights as half floats, for kernels that multiply weights by them. The scales of an output channel are
// divided by a power of two, its factor, by which sums are multiplied in the end. The largest scale of a channel
// becomes a number in [2^11, 2^12), so that 8 times it is still a half, and one that is 2^25 times smaller is still a
// normal half. Smaller ones lose digits and finally become 0, as denormal floats do. Infinite or NaN scales stay so,
// and do not affect the factor. One workgroup per four output channels.

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint quads, groups;  // quads of channels; groups of each
} push;

layout(set = 0, binding = 0) restrict readonly buffer Scales { vec4 scales[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Halves { uvec4 halves[]; };
layout(set = 0, binding = 2) restrict writeonly buffer Factors { vec4 factors[]; };

shared uvec4 largest[gl_WorkGroupSize.x];

const uint infinity_bits = 0x7f800000u;

uint place_of(uint group, uint quad) { return guard_words / 4u + group * push.quads + quad; }

uvec4 finite_magnitudes(vec4 values) {
  const uvec4 bits = floatBitsToUint(values) & 0x7fffffffu;
  return mix(uvec4(0u), bits, lessThan(bits, uvec4(infinity_bits)));
}

// The largest magnitudes of this workgroup's channels.
uvec4 largest_of(uint quad, uint lane) {
  uvec4 found = uvec4(0u);
  for (uint group = lane; group < push.groups; group += gl_WorkGroupSize.x) {
    found = max(found, finite_magnitudes(scales[place_of(group, quad)]));
  }
  largest[lane] = found;
  for (uint half_size = gl_WorkGroupSize.x / 2u; half_size > 0u; half_size /= 2u) {
    barrier();
    if (lane < half_size) largest[lane] = max(largest[lane], largest[lane + half_size]);
  }
  barrier();
  return largest[0];
}

// The exponent bits of factors: 1 to 243, so that both a factor and its reciprocal are normal numbers.
uvec4 factor_exponents(uvec4 magnitudes) { return max(magnitudes >> 23, uvec4(12u)) - 11u; }

// A scale divided by the factor, as a half. It is rounded to nearest even on bits, so the result does not depend on the
// device.
uint half_of(float scale, float inverse) {
  const uint magnitude = floatBitsToUint(scale) & 0x7fffffffu;
  const uint sign = (floatBitsToUint(scale) >> 16) & 0x8000u;
  if (magnitude >= infinity_bits) return sign | (magnitude == infinity_bits ? 0x7c00u : 0x7e00u);
  if (magnitude < 0x00800000u) return sign;
  const float value = abs(scale) * inverse;
  const uint bits = floatBitsToUint(value);
  if (bits < 0x38800000u) return sign | uint(roundEven(value * 16777216.0));  // not a normal half: steps of 2^-24
  return sign | ((bits - 0x38000000u + 0xfffu + ((bits >> 13) & 1u)) >> 13);
}

void main() {
  const uint quad = flat_workgroup();  // a folded grid may have more workgroups than quads
  const uint lane = gl_LocalInvocationID.x;
  const uvec4 exponents = factor_exponents(largest_of(min(quad, push.quads - 1u), lane));
  if (quad >= push.quads) return;
  const vec4 inverse = uintBitsToFloat((254u - exponents) << 23);
  for (uint group = lane; group < push.groups; group += gl_WorkGroupSize.x) {
    const uint at = place_of(group, quad);
    uvec4 twice;
    for (uint i = 0u; i < 4u; ++i) twice[i] = half_of(scales[at][i], inverse[i]) * 0x10001u;
    halves[at] = twice;
  }
  if (lane == 0u) factors[guard_words / 4u + quad] = uintBitsToFloat(exponents << 23);
}
