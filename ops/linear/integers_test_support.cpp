#include "ops/linear/integers_test_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace assay::test {
namespace {

std::int32_t host_bias(double step, float bias) {
  using Int32 = std::numeric_limits<std::int32_t>;
  if (std::isnan(bias)) return 0;
  const double steps = std::clamp<double>(static_cast<double>(bias) / step, Int32::min(), Int32::max());
  return static_cast<std::int32_t>(std::llrint(steps));
}

}  // namespace

HostRequantizer host_requantizer(float x_scale, float w_scale, float y_scale, float bias) {
  const double step = static_cast<double>(x_scale) * static_cast<double>(w_scale);
  int exponent = 0;
  const double mantissa = std::frexp(step / static_cast<double>(y_scale), &exponent);
  long long multiplier = std::llrint(std::ldexp(mantissa, 31));
  if (multiplier == 1LL << 31) {
    multiplier /= 2;
    ++exponent;
  }
  return {static_cast<std::int32_t>(multiplier), std::clamp(31 - exponent, 1, 62), host_bias(step, bias)};
}

std::vector<std::int32_t> WordsTest::run(const std::string& shader, const std::vector<std::uint32_t>& words,
                                         std::int64_t results) {
  const auto count = static_cast<std::int64_t>(words.size() / 4);
  Dispatch dispatch{.label = "words", .shader = shader};
  dispatch.workgroups = fold_grid(count, dispatch.local_size[0]);
  dispatch.push.add(count);
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1)};
  const Program program{.dispatches = {dispatch}};
  const std::vector<Physical> tensors{test::words(4 * count), test::words(results * count)};
  gpu::Executable executable(device(), shaders(), program, tensors, 0);
  gpu::Workspace workspace(device(), program, tensors, 0);
  workspace.write(Resource::tensor(0), bytes_of(words));
  executable.run(workspace, shader, timeout_s);
  std::vector<std::int32_t> y(static_cast<std::size_t>(results * count));
  const std::vector<std::byte> bytes = workspace.read(Resource::tensor(1));
  std::memcpy(y.data(), bytes.data(), bytes.size());
  return y;
}

}  // namespace assay::test
