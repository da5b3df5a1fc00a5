#version 450
#extension GL_GOOGLE_include_directive : require

// quantize_affine, f32 to i8, one scale and zero point a channel, all in WP; one invocation a word of q.

#include "common/div_rn.glslh"
#include "faults.glslh"

layout(set = 0, binding = 0) buffer X { float x[]; };
layout(set = 0, binding = 1) readonly buffer Scale { float scale[]; };
layout(set = 0, binding = 2) readonly buffer ZeroPoint { int zero_point[]; };
layout(set = 0, binding = 3) buffer Q { uint q[]; };

layout(push_constant) uniform Push {
  uint elements;
  uint channels;
  uint plane;  // elements of a channel in one batch
  uint width;
} push;

float rounded(float value) {
#if defined(FAULT_half_away)
  return value < 0.0 ? ceil(value - 0.5) : floor(value + 0.5);
#elif defined(FAULT_truncation)
  return trunc(value);
#else
  return roundEven(value);
#endif
}

float zero_point_of(uint channel) {
#if defined(FAULT_zero_point_ignored)
  return 0.0;
#elif defined(FAULT_zero_point_off_by_one)
  return float(zero_point[guard_words + channel]) + 1.0;
#else
  return float(zero_point[guard_words + channel]);
#endif
}

int quantized(uint i) {
  const uint channel = i / push.plane % push.channels;
  float factor = div_rn(1.0, scale[guard_words + channel]);
#ifdef FAULT_scale_off
  factor *= 1.01;
#endif
  const float value = rounded(product(x[guard_words + i], factor)) + zero_point_of(channel);
  return int(clamp(value, -128.0, 127.0));
}

#ifdef FAULT_reads_uninitialized_workgroup_memory
shared uint notes[1024];
#endif

// The integer, or what a kernel that forgets some elements leaves there.
int element(uint i) {
#ifdef FAULT_only_batch_0
  if (i >= push.channels * push.plane) return 0;
#endif
#ifdef FAULT_width_tail_dropped
  if (i % push.width >= push.width / 4u * 4u) return 0;
#endif
#ifdef FAULT_wrong_without_guards
  if (guard_words == 0u && i == 0u) return quantized(i) ^ 1;
#endif
#ifdef FAULT_reads_uninitialized_variable
  int sum;
  sum += quantized(i);
  return sum;
#endif
#ifdef FAULT_keeps_the_larger_of_an_uninitialized_variable
  int largest;
  return max(largest, quantized(i));
#endif
#ifdef FAULT_reads_past_end
  if (i == 0u) return quantized(i) ^ int(floatBitsToUint(x[guard_words + push.elements]) & 1u);
#endif
  return quantized(i);
}

void main() {
#ifndef FAULT_null_kernel
  const uint words = (push.elements + 3u) / 4u;
  const uint word = flat_invocation();
  if (word >= words) return;
  const uint last = push.elements - 1u;
  const uvec4 i = min(word * 4u + uvec4(0u, 1u, 2u, 3u), uvec4(last));
  uint value = pack_bytes(ivec4(element(i.x), element(i.y), element(i.z), element(i.w)));
#ifdef FAULT_one_element_not_written
  if (word == last / 4u)
    value = bitfieldInsert(value, q[guard_words + word] >> (last % 4u * 8u), int(last % 4u * 8u), 8);
#endif
#ifdef FAULT_reads_uninitialized_workgroup_memory
  value ^= notes[gl_LocalInvocationIndex];
#endif
#ifdef FAULT_keeps_old_bit
  value = bitfieldInsert(value, q[guard_words + word], 0, 1);
#endif
  q[guard_words + word] = value;
#ifdef FAULT_write_past_end
  if (word == 0u) q[guard_words + words] = 0u;
#endif
#ifdef FAULT_write_before_start
  if (word == 0u) q[guard_words - 1u] = 0u;
#endif
#ifdef FAULT_input_overwritten
  if (word == 1u) x[guard_words + i.x] += 1.0;
#endif
#endif
}
