#version 450
#extension GL_GOOGLE_include_directive : require

// y = (x - mean) / sqrt(variance + eps) * w + b, with mean and variance (the mean of squared deviations) of each row,
// in two passes over what an invocation keeps of it.
//
// TEXTURE, F16, WHOLE_ROWS, SUBGROUPS: see transformer/row_reduction.glslh

layout(push_constant) uniform Push {
  uint rows, width;
  float mean_factor;
  float eps;
  float inverse_width;
} push;

#include "transformer/norms.glslh"

layout(set = 0, binding = 1) restrict readonly buffer W { ROW_ARRAY w[]; };
layout(set = 0, binding = 2) restrict readonly buffer B { ROW_ARRAY b[]; };
ROW_INPUT(0, X, read_x, load_x, x)
COLUMN_READER(load_w, w)
COLUMN_READER(load_b, b)
ROW_OUTPUT(3, Y, write_y, store_y, y)

// 0 for elements that are not of the row.
vec4 deviations(KEPT_QUAD quad, bvec4 own, float mean) {
  precise vec4 apart = values_of(quad) - mean;
  return mix(vec4(0.0), apart, own);
}

vec4 normalized(vec4 apart, float inverse, KEPT_QUAD weights, KEPT_QUAD biases) {
  vec4 result = products(apart, inverse, values_of(weights));
  add_quad(result, values_of(biases));
  return result;
}

void main() {
  const RowPart part = this_part();
  KEPT_QUAD quads[MOST_KEPT], weights[MOST_KEPT], biases[MOST_KEPT];
  LOAD_KEPT(quads, load_x)
  LOAD_KEPT(biases, load_b)  // before the sums are known: later, each row would wait for them again
  vec4 total = vec4(0.0);
  for (uint i = 0u; i < kept; ++i) add_quad(total, values_of(quads[i]));
  EACH_LEFT(add_quad(total, values_of(load_x(part, place)));)
  const float mean = product(row_sum(folded_sum(total), part.lane), push.inverse_width);

  vec4 squares = vec4(0.0);
  for (uint i = 0u; i < kept; ++i) {
    add_quad(squares, scaled_squares(deviations(quads[i], kept_in_row(part, i), mean)));
  }
  EACH_LEFT(add_quad(squares, scaled_squares(deviations(load_x(part, place), of_row(part, place), mean)));)
  const float inverse = inverse_root(row_sum(folded_sum(squares), part.lane));

  LOAD_KEPT(weights, load_w)  // with both before the sums, fewer workgroups would have registers
  STORE_KEPT(store_y, normalized(deviations(quads[i], kept_in_row(part, i), mean), inverse, weights[i], biases[i]))
  EACH_LEFT(store_y(part, place,
                    normalized(deviations(load_x(part, place), of_row(part, place), mean), inverse, load_w(part, place),
                               load_b(part, place)));)
}
