#version 450
#extension GL_GOOGLE_include_directive : require

// Writes the values that the taps of each pixel of y reach as rows of real values, [pixels, depth]: along K, tap by
// tap, the quads of channels. Each invocation writes four values.
//
// X_*, TRANSPOSED: see linear/x_images.glslh

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint slots;  // pixels of y
  uint quads;  // quads of a row
  Divider by_quads;
} push;

#include "linear/x_images.glslh"

#if X_F16
layout(set = 0, binding = COLUMNS_AT) restrict writeonly buffer Columns { uvec2 columns[]; };
void store_quad(uint number, vec4 values) { columns[guard_words / 2u + number] = pack_halves(values); }
#else
layout(set = 0, binding = COLUMNS_AT) restrict writeonly buffer Columns { vec4 columns[]; };
void store_quad(uint number, vec4 values) { columns[guard_words / 4u + number] = values; }
#endif

void main() {
  const uint number = flat_invocation();
  const uint slot = divide(number, push.by_quads);
  if (slot >= push.slots) return;
  store_quad(number, met_channels(corner_of(slot), place_of(number - slot * push.quads, 0u)));
}
