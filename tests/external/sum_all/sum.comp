#version 450
#extension GL_GOOGLE_include_directive : require

// Each workgroup sums every n-th element, n invocations in all.

layout(local_size_x = 256) in;

layout(binding = 0) readonly buffer From { float from[]; };
layout(binding = 1) writeonly buffer To { float to[]; };
layout(push_constant) uniform Push { uint count; };

#include "tree.glsl"

void main() {
  const uint step_size = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  float sum = 0;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += step_size) sum += from[i];
  parts[gl_LocalInvocationID.x] = sum;
  add_up();
  if (gl_LocalInvocationID.x == 0) to[gl_WorkGroupID.x] = parts[0];
}
