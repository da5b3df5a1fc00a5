#version 450
#extension GL_GOOGLE_include_directive : require

// Writes the values that the taps of each pixel of y reach as rows: images of the size of y in 4C, whose channels are,
// group by group, the values along K of a product. Each invocation writes 16 bytes of a row.
//
// X_AT, X_WORDS, TRANSPOSED: see linear/x_gathered.glslh

#include "common/guards.glslh"
#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint slots;  // pixels of y
  uint units;  // units of 16 bytes in a row
  Divider by_units;
  uint units_of_group;
  Divider by_units_of_group;
  int x_zero_point;
} push;

#include "linear/x_gathered.glslh"

layout(set = 0, binding = COLUMNS_AT) restrict writeonly buffer Columns { uvec4 columns[]; };

void main() {
  const uint number = flat_invocation();
  const uint slot = divide(number, push.by_units);
  if (slot >= push.slots) return;
  const uint unit = number - slot * push.units;
  const uint group = divide(unit, push.by_units_of_group);
  uvec4 outside;
  const uvec4 words = gathered_four(corner_of(slot), (unit - group * push.units_of_group) * 4u, group, outside);
  columns[guard_words / 4u + number] = with_zeros(words, outside);
}
