#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_memory_scope_semantics : require

// As sum.comp, but in one dispatch: the workgroup that comes last adds up the sums of all.

layout(local_size_x = 256) in;

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) coherent buffer Sums { float sums[]; };
layout(binding = 2) coherent buffer Arrived { uint arrived; };
layout(binding = 3) writeonly buffer Y { float y; };
layout(push_constant) uniform Push { uint count; };

#include "tree.glsl"

shared bool is_last;
shared float joined[256];  // `parts` may not be used again: it depends on inputs

// Whether all workgroups have stored their sums.
bool is_last_workgroup() {
  const int memory = gl_StorageSemanticsBuffer | gl_StorageSemanticsShared;
  controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, memory, gl_SemanticsAcquireRelease);
  if (gl_LocalInvocationID.x == 0) {
    const uint before = atomicAdd(arrived, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    is_last = before == gl_NumWorkGroups.x - 1;
  }
  controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, memory, gl_SemanticsAcquireRelease);
  return is_last;
}

void main() {
  const uint step_size = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  float sum = 0;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += step_size) sum += x[i];
  parts[gl_LocalInvocationID.x] = sum;
  add_up();
  if (gl_LocalInvocationID.x == 0) sums[gl_WorkGroupID.x] = parts[0];
  if (!is_last_workgroup()) return;
  float all = 0;
  for (uint i = gl_LocalInvocationID.x; i < gl_NumWorkGroups.x; i += gl_WorkGroupSize.x) all += sums[i];
  joined[gl_LocalInvocationID.x] = all;
  barrier();
  if (gl_LocalInvocationID.x > 0) return;
  arrived = 0;
  all = 0;
  for (uint i = 0; i < gl_WorkGroupSize.x; ++i) all += joined[i];
  y = all;
}
