// The sum of `parts` in parts[0], by a tree of fixed order.
shared float parts[256];

void add_up() {
  barrier();
  for (uint half_size = 128; half_size > 0; half_size /= 2) {
    if (gl_LocalInvocationID.x < half_size) parts[gl_LocalInvocationID.x] += parts[gl_LocalInvocationID.x + half_size];
    barrier();
  }
}
