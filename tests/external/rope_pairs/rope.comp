#version 450
#if IS_HALF
#extension GL_EXT_shader_16bit_storage : require
#endif

// One invocation per pair of neighbours: both are rotated by the angle of their token and place.

layout(local_size_x_id = 0) in;

layout(set = 0, binding = 0) readonly buffer X { ELEMENT x[]; };
layout(set = 0, binding = 1) readonly buffer Cosines { float cosines[]; };
layout(set = 0, binding = 2) readonly buffer Sines { float values[]; }
sine_table;
layout(set = 0, binding = 3) writeonly buffer Y { ELEMENT y[]; };
layout(set = 0, binding = 4, std140) uniform Sizes {
  uint pairs;
  uint heads;
  uint half_size;
} sizes;

void main() {
  const uint pair = gl_GlobalInvocationID.x;
  if (pair >= sizes.pairs) return;
  const uint token = pair / (sizes.half_size * sizes.heads);
  const uint angle = token * sizes.half_size + pair % sizes.half_size;
  const float a = float(x[2 * pair]), b = float(x[2 * pair + 1]);
  const float c = cosines[angle], s = sine_table.values[angle];
  y[2 * pair] = ELEMENT(a * c - b * s);
  y[2 * pair + 1] = ELEMENT(a * s + b * c);
}
