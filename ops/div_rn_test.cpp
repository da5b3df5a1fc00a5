#include "tests/support/on_device.h"

#include <bit>
#include <cmath>
#include <random>

// Compares shaders/common/div_rn.glslh with the CPU's correctly rounded division.

namespace assay::ops {
namespace {

using namespace test;

struct Operands {
  std::vector<float> a, b;
  void add(float numerator, float denominator) {
    a.push_back(numerator);
    b.push_back(denominator);
  }
};

float with_exponent(std::uint32_t mantissa, std::uint32_t exponent, bool negative) {
  return std::bit_cast<float>((negative ? 0x80000000u : 0u) | exponent << 23 | (mantissa & 0x7fffffu));
}

/// Random mantissas and signs; exponents whose quotient stays normal.
void add_random(Operands& operands, std::mt19937& random, int count) {
  const auto bits = [&] { return static_cast<std::uint32_t>(random()); };
  std::uniform_int_distribution<std::uint32_t> exponent(1 + 63, 254 - 64);
  for (int i = 0; i < count; ++i) {
    operands.add(with_exponent(bits(), exponent(random), (bits() & 1) != 0),
                 with_exponent(bits(), exponent(random), (bits() & 1) != 0));
  }
}

/// Quotients whose mantissa lies as close to the middle of two floats as possible: a = b * (q + 1/2) for a
/// random q, except for the rounding of a to 24 bits.
void add_near_ties(Operands& operands, std::mt19937& random, int count) {
  for (int i = 0; i < count; ++i) {
    const auto b = with_exponent(static_cast<std::uint32_t>(random()), 127, false);
    const double q = 1.0 + (static_cast<double>(random() & 0x7fffffu) + 0.5) * 0x1p-23;
    operands.add(static_cast<float>(static_cast<double>(b) * q), b);
  }
}

void add_extremes(Operands& operands) {
  const float extremes[] = {1.0f,
                            std::nextafterf(1, 2),
                            std::nextafterf(2, 1),
                            0x1p-126f,
                            0x1.fffffep127f,
                            0x1p127f,
                            0x1p-60f,
                            3.0f,
                            10.0f,
                            0x1.fffffep-1f};
  for (const float a : extremes) {
    for (const float b : extremes) {
      if (std::fabs(a / b) >= 0x1p-126f) operands.add(a, b);
    }
  }
}

HostTensor tensor_of(const std::vector<float>& values) {
  HostTensor tensor(DType::F32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.as<float>().begin());
  return tensor;
}

class DivRnTest : public OnDeviceTest {
 protected:
  /// `units_off` is added to the device's own quotient of mantissas, in units of its last place.
  std::vector<float> quotients(const Operands& operands, int units_off = 0) {
    const auto count = static_cast<std::int64_t>(operands.a.size());
    Dispatch dispatch{.label = "div", .shader = "div_rn_test.comp"};
    if (units_off != 0) dispatch.defines = {{"DIV_RN_UNITS_OFF", std::to_string(units_off)}};
    dispatch.workgroups = fold_grid(count, dispatch.local_size[0]);
    dispatch.push.add(count);
    dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
    const Program program{.dispatches = {dispatch}};
    const std::vector<Physical> tensors(3, {{Storage::Buffer, Layout::WP}, DType::F32, {count}});
    gpu::Executable executable(device(), shaders(), program, tensors, 0);
    gpu::Workspace workspace(device(), program, tensors, 0);
    workspace.write(Resource::tensor(0), tensor_of(operands.a).bytes());
    workspace.write(Resource::tensor(1), tensor_of(operands.b).bytes());
    executable.run(workspace, "div_rn", timeout_s);
    std::vector<float> y(operands.a.size());
    const std::vector<std::byte> bytes = workspace.read(Resource::tensor(2));
    std::memcpy(y.data(), bytes.data(), bytes.size());
    return y;
  }

  void expect_correctly_rounded(const Operands& operands, int units_off = 0) {
    const std::vector<float> y = quotients(operands, units_off);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const float want = operands.a[i] / operands.b[i];
      ASSERT_EQ(std::bit_cast<std::uint32_t>(y[i]), std::bit_cast<std::uint32_t>(want))
          << std::hexfloat << operands.a[i] << " / " << operands.b[i] << " gave " << y[i] << ", not " << want
          << ", with quotients " << units_off << " units off";
    }
  }
};

TEST_F(DivRnTest, RoundsRandomQuotientsCorrectly) {
  Operands operands;
  std::mt19937 random(51);
  add_random(operands, random, 1 << 20);
  expect_correctly_rounded(operands);
}

TEST_F(DivRnTest, RoundsQuotientsNextToTiesCorrectly) {
  Operands operands;
  std::mt19937 random(52);
  add_near_ties(operands, random, 1 << 20);
  expect_correctly_rounded(operands);
}

TEST_F(DivRnTest, RoundsReciprocalsAndExtremesCorrectly) {
  Operands operands;
  add_extremes(operands);
  for (std::uint32_t mantissa = 0; mantissa < 1u << 23; mantissa += 13) {
    operands.add(1.0f, with_exponent(mantissa, 120, false));
  }
  expect_correctly_rounded(operands);
}

// Vulkan allows 2.5 units, and CPU devices are exact: only this test shows that errors would be corrected.
TEST_F(DivRnTest, CorrectsQuotientsThatAreThreeUnitsOff) {
  Operands operands;
  std::mt19937 random(53);
  add_extremes(operands);
  add_random(operands, random, 1 << 17);
  add_near_ties(operands, random, 1 << 17);
  for (const int units_off : {-3, -2, -1, 1, 2, 3}) expect_correctly_rounded(operands, units_off);
}

TEST_F(DivRnTest, LeavesInfinitiesZerosAndNanToTheDevice) {
  Operands operands;
  operands.add(INFINITY, 2.0f);
  operands.add(-INFINITY, 2.0f);
  operands.add(0.0f, 3.0f);
  operands.add(1.0f, INFINITY);
  operands.add(NAN, 2.0f);
  const std::vector<float> y = quotients(operands);
  EXPECT_EQ(y[0], INFINITY);
  EXPECT_EQ(y[1], -INFINITY);
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_EQ(y[3], 0.0f);
  EXPECT_TRUE(std::isnan(y[4]));
}

}  // namespace
}  // namespace assay::ops
