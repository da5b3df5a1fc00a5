#version 450

// One workgroup per row; of equal elements the one with the smallest index wins, whatever the order.

layout(local_size_x = 128) in;

layout(binding = 0) readonly buffer X { float values[]; }
x;
layout(binding = 1) writeonly buffer Y { int values[]; }
y;
layout(push_constant) uniform Push { int columns; };

shared float best[128];
shared int place[128];

bool is_nan(float value) { return (floatBitsToUint(value) & 0x7FFFFFFFu) > 0x7F800000u; }

/// NaN is larger than every number, as in NumPy.
bool is_larger(float a, float b) { return is_nan(a) ? !is_nan(b) : a > b; }
bool is_equal(float a, float b) { return a == b || (is_nan(a) && is_nan(b)); }

/// `at` == columns: there is no element.
void take(uint i, float value, int at) {
  if (at == columns) return;
  if (place[i] == columns || is_larger(value, best[i]) || (is_equal(value, best[i]) && at < place[i])) {
    best[i] = value;
    place[i] = at;
  }
}

void main() {
  const uint i = gl_LocalInvocationID.x;
  const int first = int(gl_WorkGroupID.x) * columns;
  best[i] = 0;
  place[i] = columns;
  for (int c = int(i); c < columns; c += 128) take(i, x.values[first + c], c);
  barrier();
  for (uint half_size = 64; half_size > 0; half_size /= 2) {
    if (i < half_size) take(i, best[i + half_size], place[i + half_size]);
    barrier();
  }
  if (i == 0) y.values[gl_WorkGroupID.x] = place[0];
}
