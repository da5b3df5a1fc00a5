#include "harness/tensor/fill/philox.h"

namespace assay {
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
