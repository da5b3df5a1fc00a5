#version 450

// One workgroup per row: the mean of squares, then each element over its root, times the weight.

layout(constant_id = 3) const uint LOCAL = 64;
layout(local_size_x_id = 3) in;

struct Parameters {
  uint columns;
  float eps;
};
layout(push_constant) uniform Push { Parameters p; };

layout(set = 0, binding = 2) readonly buffer Input { float x[]; };
layout(set = 1, binding = 0) readonly buffer Weight { float weight[]; };
layout(set = 1, binding = 1) writeonly buffer Output { float y[]; };

shared float parts[LOCAL];

void main() {
  const uint first = gl_WorkGroupID.x * p.columns;
  const uint i = gl_LocalInvocationID.x;
  float sum = 0;
  for (uint c = i; c < p.columns; c += LOCAL) sum += x[first + c] * x[first + c];
  parts[i] = sum;
  barrier();
  for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {
    if (i < half_size) parts[i] += parts[i + half_size];
    barrier();
  }
  const float scale = inversesqrt(parts[0] / float(p.columns) + p.eps);
  for (uint c = i; c < p.columns; c += LOCAL) y[first + c] = x[first + c] * scale * weight[c];
}
