#version 450
#extension GL_GOOGLE_include_directive : require

// Adds the sums of parts of K (linear_coopmat.comp), in order, and stores y: one invocation per four output channels of
// a row.
//
// X_SCALE_AT, W_SCALE_AT, Y_*, SUMS, ...: see the included files

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(constant_id = 4) const uint splits = 1u;
layout(constant_id = 5) const uint quads_multiplier = 1u;  // division by quads
layout(constant_id = 6) const uint quads_shift = 0u;

#include "linear/numbers.glslh"
#include "linear/partial_sums.glslh"
#include "linear/y.glslh"

void main() {
  push = numbers();
  const uint number = flat_invocation();
  const uint slot = divide(number, Divider(quads_multiplier, quads_shift));
  if (slot >= push.slots) return;
  const uint quad = number - slot * push.quads;
  SUMS_VEC4 sums = partial_sums[place_of_partial(0u, slot, quad)];
  for (uint part = 1u; part < splits; ++part) sums += partial_sums[place_of_partial(part, slot, quad)];
  store(sums, channels_of(quad), row_of(slot), slot);
}
