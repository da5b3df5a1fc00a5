#version 450

// Asks for what its program does not give: each FAULT_<name> for another thing. It never runs.

#ifdef FAULT_other_workgroup
layout(local_size_x = 8) in;
#else
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#endif

layout(set = 0, binding = 0) readonly buffer X { uint x[]; };
layout(set = 0, binding = 2) writeonly buffer Y { uint y[]; };

#ifdef FAULT_constant_not_pushed
layout(push_constant) uniform Push { uint more; };
#else
const uint more = 0u;
#endif

#ifdef FAULT_set_seven
layout(set = 7, binding = 0) readonly buffer Far { uint other[]; };
#elif defined(FAULT_binding_nine)
layout(set = 0, binding = 9) readonly buffer Far { uint other[]; };
#else
const uint other[1] = {0u};
#endif

#ifdef FAULT_huge_shared_memory
layout(constant_id = 20) const uint size = 1u;
shared uint tile[size];
#else
shared uint tile[1];
#endif

void main() {
  tile[0] = x[0];
  barrier();
  y[0] = tile[0] + more + other[0];
}
