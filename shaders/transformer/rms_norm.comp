#version 450
#extension GL_GOOGLE_include_directive : require

// y = x * w / sqrt(mean of x^2 along the row + eps), or of h = x + residual in place of x, which is stored, too.
//
// RESIDUAL  there are a residual and h
// TEXTURE, F16, WHOLE_ROWS, SUBGROUPS: see transformer/row_reduction.glslh

layout(push_constant) uniform Push {
  uint rows, width;
  float mean_factor;
  float eps;
} push;

#include "transformer/norms.glslh"

#define Y_AT (RESIDUAL + 2)
layout(set = 0, binding = 1) restrict readonly buffer W { ROW_ARRAY w[]; };
ROW_INPUT(0, X, read_x, load_x, x)
COLUMN_READER(load_w, w)
ROW_OUTPUT(Y_AT, Y, write_y, store_y, y)

#if RESIDUAL
ROW_INPUT(2, Residual, read_residual, load_residual, residual)
ROW_OUTPUT(4, H, write_h, store_h, h)

vec4 added(vec4 values, vec4 more) {
  add_quad(values, more);
  return values;
}

// As h is stored.
KEPT_QUAD kept_sum(KEPT_QUAD of_x, KEPT_QUAD more) { return kept_of(added(values_of(of_x), values_of(more))); }
#if WHOLE_PAIRS
uvec4 load_values(RowPart part, uint i) {
  const uvec4 of_x = load_x(part, i), more = load_residual(part, i);
  return uvec4(kept_sum(of_x.xy, more.xy), kept_sum(of_x.zw, more.zw));
}
#else
KEPT_QUAD load_values(RowPart part, uint place) { return kept_sum(load_x(part, place), load_residual(part, place)); }
void keep_values(RowPart part, uint place, KEPT_QUAD quad) { store_h(part, place, values_of(quad)); }
#endif
#else
#define load_values load_x
void keep_values(RowPart part, uint place, KEPT_QUAD quad) {}
#endif

void main() {
  const RowPart part = this_part();
  // Weights are loaded before the sum is known: later, each row would wait for them again. Where most quads are kept,
  // they come after h is stored, which needs registers, too.
  const bool loads_weights_late = kept == MOST_KEPT;
  KEPT_QUAD quads[MOST_KEPT], weights[MOST_KEPT];
  LOAD_KEPT(quads, load_values)
  if (!loads_weights_late) LOAD_KEPT(weights, load_w)
  vec4 squares = vec4(0.0);
  for (uint i = 0u; i < kept; ++i) add_quad(squares, scaled_squares(values_of(quads[i])));
#if RESIDUAL
  STORE_KEPT(store_h, values_of(quads[i]))
#endif
  EACH_LEFT(const KEPT_QUAD more = load_values(part, place); add_quad(squares, scaled_squares(values_of(more)));
            keep_values(part, place, more);)
  if (loads_weights_late) LOAD_KEPT(weights, load_w)
  const float inverse = inverse_root(row_sum(folded_sum(squares), part.lane));

  STORE_KEPT(store_y, products(values_of(quads[i]), inverse, values_of(weights[i])))
  EACH_LEFT(
      store_y(part, place, products(values_of(load_values(part, place)), inverse, values_of(load_w(part, place))));)
}
