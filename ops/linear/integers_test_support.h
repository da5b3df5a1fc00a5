#pragma once

// The host's arithmetic with which shaders/linear/requantizer.glslh and fixed_point.glslh are compared.

#include "tests/support/on_device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::test {

/// The integers that requantize the sums of one output channel.
struct HostRequantizer {
  std::int32_t multiplier = 0, shift = 1, bias = 0;
  friend bool operator==(const HostRequantizer&, const HostRequantizer&) = default;
};

/// Computes them in float64 by the formula of ops/linear/requantizers.h; the shift is clamped to 1..62.
HostRequantizer host_requantizer(float x_scale, float w_scale, float y_scale, float bias);

/// Runs shaders over 32-bit words: x (binding 0) has four per invocation; y is binding 1.
class WordsTest : public OnDeviceTest {
 protected:
  /// The words that `shader` writes to y, `results` per invocation.
  std::vector<std::int32_t> run(const std::string& shader, const std::vector<std::uint32_t>& words,
                                std::int64_t results);
};

}  // namespace assay::test
