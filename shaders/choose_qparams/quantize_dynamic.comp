#version 450
#extension GL_GOOGLE_include_directive : require

// Scale and zero point of each token (a row along the last dim), and its integers: the results of choose_qparams.comp
// followed by quantize_affine.comp. A row is read once: an invocation keeps the first quads that it reads, and reads
// again only those beyond them.
//
// TEXTURE      0: buffers; 2 or 3: textures with this many dimensions; width-packed
// REAL_F16     x is f16 instead of f32
// QUANT_I32    q is i32 instead of i8 or u8; QUANT_U8 (textures): u8
// Q_WORDS      textures: q is a buffer of words, four bytes of a row each
// GIVEN        scale and zero point are read instead of chosen
// WHOLE_ROWS   the width is a multiple of 4: no two rows share a quad
// WHOLE_QUADS, RULE, SUBGROUPS: see the included files

#define LANES_APART 0
#include "common/guards.glslh"
#include "common/indexing.glslh"
#include "common/packing.glslh"
#if GIVEN
#include "common/div_rn.glslh"
#include "common/quantize.glslh"
#else
#include "common/qparams.glslh"
#include "common/value_range.glslh"
#endif

#define MOST_KEPT 16u

layout(constant_id = 16) const uint column_bits = 0u;  // log2 of the invocations per row
layout(constant_id = 17) const uint kept = 1u;         // quads that an invocation keeps
#if !GIVEN
layout(constant_id = 18) const bool once = false;  // one invocation of a row computes its parameters
#endif
// Rows are `kept` quads per invocation, and the grid has no other invocations.
layout(constant_id = 19) const bool complete = false;
// The push constants as constants of the program: a single row waits longest for the push constants (NOTES.md).
layout(constant_id = 20) const bool baked = false;
layout(constant_id = 21) const uint baked_tokens = 1u;
layout(constant_id = 22) const uint baked_width = 1u;
layout(constant_id = 23) const uint baked_height = 1u;
layout(constant_id = 24) const float baked_quant_min = 0.0;
layout(constant_id = 25) const float baked_quant_max = 0.0;

layout(push_constant) uniform Push {
  uint tokens;
  uint width;
  uint height;  // textures: rows of a slice
  Divider by_height;
  float quant_min, quant_max, eps;
} push;

uint token_count() { return baked ? baked_tokens : push.tokens; }
uint row_width() { return baked ? baked_width : push.width; }
uint slice_height() { return baked ? baked_height : push.height; }
uint slice_of(uint token) { return baked ? token / baked_height : divide(token, push.by_height); }
float quant_min() { return baked ? baked_quant_min : push.quant_min; }
float quant_max() { return baked ? baked_quant_max : push.quant_max; }

#if TEXTURE
#include "common/row_texture.glslh"
#else
#include "common/row_buffer.glslh"
#endif

#if GIVEN
layout(set = 0, binding = 1) restrict readonly buffer Scale { float scale[]; };
layout(set = 0, binding = 2) restrict readonly buffer ZeroPoint { int zero_point[]; };
#else
layout(set = 0, binding = 1) restrict writeonly buffer Scale { float scale[]; };
layout(set = 0, binding = 2) restrict writeonly buffer ZeroPoint { int zero_point[]; };
#endif

struct Quantizer {
  float inverse;  // fl32(1 / scale)
  int zero_point;
};

#if !GIVEN
shared Quantizer shared_quantizers[gl_WorkGroupSize.x >> column_bits];
#endif

// The integers, as floats, minus the zero point. The ends of the range are integers, so values may be clamped before
// they are rounded. `finite`: no value is a NaN or infinite, so no product is a NaN.
vec4 quantized(vec4 reals, Quantizer by, bool finite) {
  const float low = quant_min() - float(by.zero_point);
  const float high = quant_max() - float(by.zero_point);
  vec4 values;
  for (uint i = 0u; i < 4u; ++i) values[i] = product(reals[i], by.inverse);
  if (!finite) {
    for (uint i = 0u; i < 4u; ++i) values[i] = is_nan(values[i]) ? 0.0 : values[i];
  }
  for (uint i = 0u; i < 4u; ++i) values[i] = roundEven(min(max(values[i], low), high));
  return values;
}

void store_quantized(uint token, uint quad, vec4 integers, int zero_point) {
#if (TEXTURE && !Q_WORDS) || QUANT_I32
  store_quad(token, quad, integers + float(zero_point));
#else
  store_word(token, quad, pack_integers(integers, float(zero_point)));
#endif
}

void main() {
#if GIVEN
  const uint lane = gl_LocalInvocationID.x;
#else
  const uint lane = flat_lane();
#endif
  const uint columns = 1u << column_bits;
  const uint column = lane & (columns - 1u);
  const uint number = flat_workgroup() * (gl_WorkGroupSize.x >> column_bits) + (lane >> column_bits);
  const bool exists = complete || number < token_count();
  const bool is_first = !exists || baked && baked_tokens == 1u;
  const uint token = is_first ? 0u : number;
  const uint quads = exists ? quads_of_row(token) : 0u;

#if GIVEN
  const float given_scale = scale[guard_words + token];
  const int given_zero_point = zero_point[guard_words + token];
#endif
  vec4 values[MOST_KEPT];
  for (uint i = 0u; i < kept; ++i) {
    const uint quad = column + (i << column_bits);
    values[i] = complete || quad < quads ? load_quad(token, quad) : vec4(0.0);
  }
  const uint first_left = column + (kept << column_bits);
#if GIVEN
  const bool finite = false;  // it is not known
  const Quantizer by = Quantizer(div_rn(1.0, given_scale), given_zero_point);
#else
  QuadRange range = QuadRange(vec4(0.0), vec4(0.0));
  bool finite;
  WIDEN_BY_ALL(range, values, kept, finite)
  if (!complete) {
    for (uint quad = first_left; quad < quads; quad += columns) widen(range, load_quad(token, quad));
  }

  const Range all = reduced(folded(range), lane, 0xffffffffu << column_bits);
  Quantizer by;
  if (!once || column == 0u) {
    const QParams chosen = qparams_of(all.low, all.high, QuantLimits(quant_min(), quant_max(), push.eps));
    if (exists && column == 0u) {
      scale[guard_words + token] = chosen.scale;
      zero_point[guard_words + token] = chosen.zero_point;
    }
    by = Quantizer(div_rn(1.0, chosen.scale), chosen.zero_point);
    if (once) shared_quantizers[lane >> column_bits] = by;
  }
  if (once) {
    barrier();
    by = shared_quantizers[lane >> column_bits];
  }
#endif
  for (uint i = 0u; i < kept; ++i) {
    const uint quad = column + (i << column_bits);
    if (complete || quad < quads) store_quantized(token, quad, quantized(values[i], by, finite), by.zero_point);
  }
  if (complete) return;
  for (uint quad = first_left; quad < quads; quad += columns) {
    store_quantized(token, quad, quantized(load_quad(token, quad), by, false), by.zero_point);
  }
}
