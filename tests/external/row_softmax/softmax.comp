#version 450
#ifdef DTYPE_F16
#extension GL_EXT_shader_16bit_storage : require
#define ELEMENT float16_t
#else
#define ELEMENT float
#endif

// One workgroup per row: the largest element, the sum of exp(x - largest), then each element's share of it.

layout(local_size_x_id = 0) in;

layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };

layout(push_constant) uniform Push { uint columns; };

shared float parts[1024];

/// Makes parts[0] the maximum or the sum of all parts; every invocation calls it.
float reduce(bool is_maximum) {
  const uint i = gl_LocalInvocationID.x;
  barrier();
  for (uint half_size = gl_WorkGroupSize.x / 2; half_size > 0; half_size /= 2) {
    if (i < half_size) {
      parts[i] = is_maximum ? max(parts[i], parts[i + half_size]) : parts[i] + parts[i + half_size];
    }
    barrier();
  }
  const float all = parts[0];
  barrier();
  return all;
}

void main() {
  const uint first = gl_WorkGroupID.x * columns;
  const uint i = gl_LocalInvocationID.x;

  float largest = -3.402823466e38;
  for (uint c = i; c < columns; c += gl_WorkGroupSize.x) largest = max(largest, float(x[first + c]));
  parts[i] = largest;
  largest = reduce(true);

  float sum = 0;
  for (uint c = i; c < columns; c += gl_WorkGroupSize.x) sum += exp(float(x[first + c]) - largest);
  parts[i] = sum;
  sum = reduce(false);

  for (uint c = i; c < columns; c += gl_WorkGroupSize.x)
    y[first + c] = ELEMENT(exp(float(x[first + c]) - largest) / sum);
}
