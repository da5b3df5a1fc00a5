#version 450
// y is x mirrored in each dimension, with its lanes rotated by one. FORMAT is the texel format of both
// ("rgba8i"), IMAGE their type ("iimage3D"), DIMS its dimensions.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#if DIMS == 3
#define PLACE(p) (p)
#else
#define PLACE(p) (p).xy
#endif

layout(set = 0, binding = 0, FORMAT) uniform readonly IMAGE x;
layout(set = 0, binding = 1, FORMAT) uniform writeonly IMAGE y;

void main() {
#if DIMS == 3
  const ivec3 size = imageSize(x);
#else
  const ivec3 size = ivec3(imageSize(x), 1);
#endif
  const ivec3 at = ivec3(gl_GlobalInvocationID);
  if (any(greaterThanEqual(at, size))) return;
  imageStore(y, PLACE(size - 1 - at), imageLoad(x, PLACE(at)).yzwx);
}
