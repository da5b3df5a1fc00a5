#version 450
#extension GL_GOOGLE_include_directive : require

// Leaves poison in workgroup memory (harness/gpu/kernels/workgroup_memory.cpp), where the next program's workgroups
// find it unless the driver clears that memory.

layout(local_size_x_id = 0) in;

layout(constant_id = 20) const uint words = 4096u;  // all workgroup memory that a device has

layout(push_constant) uniform Push {
  uint mask;  // each word is xor-ed with it: all bits differ between the two kinds of poison
} push;

layout(set = 0, binding = 0) restrict writeonly buffer Seen { uint seen[]; };

shared uint memory[words];

void main() {
  for (uint i = gl_LocalInvocationIndex; i < words; i += gl_WorkGroupSize.x)
    memory[i] = (i + 1u) * 0x9E3779B9u ^ push.mask;
  barrier();
  // A compiler may leave out stores that no other invocation reads.
  seen[gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationIndex] = memory[words - 1u - gl_LocalInvocationIndex];
}
