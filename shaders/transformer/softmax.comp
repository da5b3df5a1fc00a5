#version 450
#extension GL_GOOGLE_include_directive : require

// y = exp(x - m) / sum, along each row, with m its largest value and sum that of all exp(x - m). A row of -infinity
// alone gives zeros; a NaN or +infinity gives NaN in the whole row.
//
// TEXTURE, F16, WHOLE_ROWS, SUBGROUPS: see transformer/row_reduction.glslh

layout(push_constant) uniform Push {
  uint rows, width;
} push;

#define ROW_PADDING uintBitsToFloat(0xff800000u)  // -infinity
#define WHOLE_PAIRS PAIRS
#include "transformer/row_reduction.glslh"

ROW_INPUT(0, X, read_x, load_x, x)
ROW_OUTPUT(1, Y, write_y, store_y, y)

shared uint shared_keys[gl_WorkGroupSize.x];
ROW_REDUCTION(largest_key, uint, shared_keys, max)

#define KEY_OF_MINUS_INFINITY 0x007fffffu
#define KEY_OF_INFINITY 0xff800000u

// Keys are ordered as the values are, and a NaN's is above all others: drivers disagree about NaN in max().
uint key_of(float value) {
  const uint bits = floatBitsToUint(value);
  if (is_nan(value)) return 0xffffffffu;
  return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}

float value_of(uint key) { return uintBitsToFloat((key & 0x80000000u) != 0u ? key & 0x7fffffffu : ~key); }

uint largest_key_of(vec4 values) {
  return max(max(key_of(values.x), key_of(values.y)), max(key_of(values.z), key_of(values.w)));
}

// exp(x - m). Below -104 it is flushed to zero, so nothing needs exp() of -infinity.
vec4 weights_of(vec4 values, float largest) {
  vec4 weights;
  for (uint i = 0u; i < 4u; ++i) weights[i] = exp(max(difference(values[i], largest), -200.0));
  return weights;
}

vec4 shares_of(vec4 weights, float inverse) {
  for (uint i = 0u; i < 4u; ++i) weights[i] = product(weights[i], inverse);
  return weights;
}

void store_row(RowPart part, vec4 values) {
  STORE_KEPT(store_y, values)
  EACH_LEFT(store_y(part, place, values);)
}

void main() {
  const RowPart part = this_part();
  KEPT_QUAD quads[MOST_KEPT];
  LOAD_KEPT(quads, load_x)
  uint key = 0u;
  for (uint i = 0u; i < kept; ++i) key = max(key, largest_key_of(values_of(quads[i])));
  EACH_LEFT(key = max(key, largest_key_of(values_of(load_x(part, place))));)
  key = largest_key(key, part.lane);
  const float largest = value_of(key);

  // exp() twice is faster than what it costs to keep its results.
  vec4 total = vec4(0.0);
  for (uint i = 0u; i < kept; ++i) add_quad(total, weights_of(values_of(quads[i]), largest));
  EACH_LEFT(add_quad(total, weights_of(values_of(load_x(part, place)), largest));)
  const float inverse = 1.0 / row_sum(folded_sum(total), part.lane);

  if (key >= KEY_OF_INFINITY) {
    store_row(part, vec4(uintBitsToFloat(NAN_BITS)));
  } else if (key <= KEY_OF_MINUS_INFINITY) {
    store_row(part, vec4(0.0));
  } else {
    STORE_KEPT(store_y, shares_of(weights_of(values_of(quads[i]), largest), inverse))
    EACH_LEFT(store_y(part, place, shares_of(weights_of(values_of(load_x(part, place)), largest), inverse));)
  }
}
