#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { vec4 x[]; };
layout(binding = 1) buffer Y { vec4 y[]; };
layout(push_constant) uniform Push {
  float a;
  uint vectors;
};

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < vectors) y[i] += a * x[i];
}
