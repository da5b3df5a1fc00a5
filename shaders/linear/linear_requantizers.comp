#version 450
#extension GL_GOOGLE_include_directive : require

// Set-up of `epilogue: fixed_point`: multipliers, shifts and biases of all output channels, one invocation each, up to
// a multiple of four channels; past the last channel the shift is 1 and the others are 0.
//
// HAS_BIAS  there is a bias

#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "linear/requantizer.glslh"

layout(push_constant) uniform Push {
  uint channels;
  uint padded;   // channels up to a multiple of four
  uint x_scale;  // the bits of a float, like all real numbers here
  uint y_scale;
} push;

layout(set = 0, binding = 0) restrict readonly buffer WScale { uint w_scale[]; };
layout(set = 0, binding = 1) restrict writeonly buffer Requantizers { int requantizers[]; };
#if HAS_BIAS
layout(set = 0, binding = 2) restrict readonly buffer Bias { uint bias[]; };
uint bias_of(uint n) { return bias[guard_words + n]; }
#else
uint bias_of(uint n) { return 0u; }
#endif

void main() {
  const uint n = flat_invocation();
  if (n >= push.padded) return;
  Requantizer made = Requantizer(0, 1, 0);
  if (n < push.channels) made = requantizer(push.x_scale, w_scale[guard_words + n], push.y_scale, bias_of(n));
  requantizers[guard_words + n] = made.multiplier;
  requantizers[guard_words + push.padded + n] = made.shift;
  requantizers[guard_words + 2u * push.padded + n] = made.bias;
}
