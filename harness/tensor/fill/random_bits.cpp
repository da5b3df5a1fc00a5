#include "harness/tensor/fill/random_bits.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

constexpr std::size_t elements_per_call = 4;

/// A bijection of 64 bits in which each input bit changes about half of the output bits.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x7FB5D329728EA185U;
  x ^= x >> 27;
  x *= 0x81DADEF4BC2DD44DU;
  x ^= x >> 33;
  return x;
}

}  // namespace

RandomBits::RandomBits(const DataKey& key)
    : key_(mix(mix(key.seed + 0x9E3779B97F4A7C15U) ^ key.key)), tensor_(key.tensor) {}

void RandomBits::read(std::int64_t first, std::span<Bits> out) const {
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(key_),
                                         static_cast<std::uint32_t>(key_ >> 32)};
  auto block = static_cast<std::uint64_t>(first) / elements_per_call;
  for (std::size_t i = 0; i < out.size(); i += elements_per_call, ++block) {
    const auto low = static_cast<std::uint32_t>(block);
    const auto high = static_cast<std::uint32_t>(block >> 32);
    const auto a = philox4x32({low, high, tensor_, 0}, key);
    const auto b = philox4x32({low, high, tensor_, 1}, key);
    const std::size_t count = std::min(elements_per_call, out.size() - i);
    for (std::size_t j = 0; j < count; ++j) out[i + j] = {a[j], b[j]};
  }
}

std::int64_t RandomBits::pick(std::int64_t count) const {
  return static_cast<std::int64_t>(mix(key_ + tensor_) % static_cast<std::uint64_t>(count));
}

namespace {

struct Product {
  std::uint32_t high, low;
};

Product multiply(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t product = std::uint64_t{a} * b;
  return {static_cast<std::uint32_t>(product >> 32), static_cast<std::uint32_t>(product)};
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  constexpr int rounds = 10;
  for (int round = 0; round < rounds; ++round) {
    const Product a = multiply(0xD2511F53U, counter[0]);
    const Product b = multiply(0xCD9E8D57U, counter[2]);
    counter = {b.high ^ counter[1] ^ key[0], b.low, a.high ^ counter[3] ^ key[1], a.low};
    key[0] += 0x9E3779B9U;  // the golden ratio and sqrt(3) - 1, as fractions of 2^32
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

}  // namespace assay
