#version 450

// One workgroup per row; of equal elements the one with the smallest index wins, whatever the order.

layout(local_size_x = 128) in;

layout(binding = 0) readonly buffer X { float values[]; } x;
layout(binding = 1) writeonly buffer Y { int values[]; } y;
layout(push_constant) uniform Push { int columns; };

shared float best[128];
shared int place[128];

void take(uint i, float value, int at) {
  if (value > best[i] || (value == best[i] && at < place[i])) {
    best[i] = value;
    place[i] = at;
  }
}

void main() {
  const uint i = gl_LocalInvocationID.x;
  const int first = int(gl_WorkGroupID.x) * columns;
  best[i] = -3.402823466e38;
  place[i] = columns;
  for (int c = int(i); c < columns; c += 128) take(i, x.values[first + c], c);
  barrier();
  for (uint half_size = 64; half_size > 0; half_size /= 2) {
    if (i < half_size) take(i, best[i + half_size], place[i + half_size]);
    barrier();
  }
  if (i == 0) y.values[gl_WorkGroupID.x] = place[0];
}
