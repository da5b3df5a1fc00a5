#version 450
// The texture x read in two ways, as a storage image and through a sampler, texel by texel and at the middle of
// each: y counts the lanes that differ. FORMAT is the texel ("rgba8i"), IMAGE and SAMPLER the types ("iimage3D",
// "isampler3D"), DIMS their dimensions.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#if DIMS == 3
#define PLACE(p) (p)
#else
#define PLACE(p) (p).xy
#endif

layout(set = 0, binding = 0, FORMAT) uniform readonly IMAGE x;
layout(set = 0, binding = 1) uniform SAMPLER sampled;
layout(set = 0, binding = 2) buffer Y { uint compared, differences; };

void main() {
#if DIMS == 3
  const ivec3 size = imageSize(x);
  if (any(notEqual(textureSize(sampled, 0), size))) atomicAdd(differences, 1u);
#else
  const ivec3 size = ivec3(imageSize(x), 1);
  if (any(notEqual(textureSize(sampled, 0), size.xy))) atomicAdd(differences, 1u);
#endif
  const ivec3 at = ivec3(gl_GlobalInvocationID);
  if (any(greaterThanEqual(at, size))) return;
  const vec3 middle = (vec3(at) + 0.5) / vec3(size);
  for (int lane = 0; lane < 4; ++lane) {
    const bool is_fetched = texelFetch(sampled, PLACE(at), 0)[lane] == imageLoad(x, PLACE(at))[lane];
    const bool is_sampled = textureLod(sampled, PLACE(middle), 0.0)[lane] == imageLoad(x, PLACE(at))[lane];
    atomicAdd(compared, 1u);
    if (!is_fetched || !is_sampled) atomicAdd(differences, 1u);
  }
}
