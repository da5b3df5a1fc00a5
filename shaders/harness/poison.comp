#version 450
#extension GL_GOOGLE_include_directive : require

// Fills words of a buffer with the host's poison (poison_word in harness/tensor/pack.cpp): 64-bit words, each a hash of
// its place. An invocation computes one of them and stores the halves that are inside.

#include "common/indexing.glslh"

layout(push_constant) uniform Push {
  uint first;     // the first word that is filled, from the buffer's start
  uint words;     // the number of words
  uint position;  // place of the first word, from the poison's start
  uint mask_low;  // each 64-bit word is xor-ed with it: by the poison's kind and number (Poison::mask)
  uint mask_high;
} push;

layout(set = 0, binding = 0) restrict writeonly buffer Data { uint data[]; };

// The product modulo 2^64; in all pairs here x is the low half.
uvec2 product(uvec2 a, uvec2 b) {
  uint high, low;
  umulExtended(a.x, b.x, high, low);
  return uvec2(low, high + a.x * b.y + a.y * b.x);
}

uvec2 poison_word(uint index) {
  uvec2 x = product(uvec2(index + 1u, 0u), uvec2(0x7F4A7C15u, 0x9E3779B9u));
  x.x ^= x.y;
  x = product(x, uvec2(0x6659FD93u, 0xD6E8FEB8u));
  return x ^ uvec2(x.x >> 29 | x.y << 3, x.y >> 29);
}

void main() {
  const uint pair = push.position / 2u + flat_invocation();
  const uvec2 word = poison_word(pair) ^ uvec2(push.mask_low, push.mask_high);
  const uint low = 2u * pair - push.position;  // wraps where only the high half is wanted
  if (low < push.words) data[push.first + low] = word.x;
  if (low + 1u < push.words) data[push.first + low + 1u] = word.y;
}
