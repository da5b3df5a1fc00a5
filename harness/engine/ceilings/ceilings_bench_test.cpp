#include "harness/engine/ceilings/ceilings_bench.h"

#include "tests/support/shaders_under_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

namespace assay::ceiling {

// A kernel that a compiler has optimized away would reach any ceiling. So all kernels are run over little
// data, and their results are compared with what they claim to do.

namespace {

constexpr Grid grid{.workgroups = 4, .local_size = 32};
constexpr std::uint64_t half_bytes = 256 << 10;  ///< bytes per buffer
constexpr std::uint32_t untouched = 0xa5a5a5a5;

std::vector<std::byte> bytes_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::byte> bytes(words.size() * sizeof(std::uint32_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

class KernelTest : public ::testing::Test {
 protected:
  KernelTest() {
    for (const std::uint32_t buffer : {first, second, sink}) {
      const std::size_t words = workspace.size(Resource::tensor(buffer)) / sizeof(std::uint32_t);
      set(buffer, std::vector<std::uint32_t>(words, untouched));
    }
  }

  void TearDown() override {
    EXPECT_EQ(instance.validation_messages(), 0) << ::testing::PrintToString(instance.validation_texts());
  }

  void run(const Program& program) {
    gpu::Executable(device, shaders, program, buffers(half_bytes), 0).run(workspace, "test", 30);
  }

  void set(std::uint32_t buffer, const std::vector<std::uint32_t>& words) {
    workspace.write(Resource::tensor(buffer), bytes_of(words));
  }

  std::vector<std::uint32_t> words(std::uint32_t buffer) const {
    const std::vector<std::byte> bytes = workspace.read(Resource::tensor(buffer));
    std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
  }

  /// The result of each invocation of the grid in the sink; nothing else was written there.
  std::vector<std::uint32_t> results() const {
    std::vector<std::uint32_t> all = words(sink);
    const std::size_t invocations = std::size_t{grid.workgroups} * grid.local_size;
    EXPECT_EQ(all[invocations], untouched);
    all.resize(invocations);
    return all;
  }

  gpu::Instance instance{{.validation = true}};
  gpu::Device device{instance, gpu::select_devices(instance.devices(), {}).front()};
  gpu::ShaderLibrary shaders{test::shaders_under_test()};
  gpu::Workspace workspace{device, {}, buffers(half_bytes), 0};
};

std::vector<Walk> walks() {
  std::vector<Walk> all;
  for (const std::uint32_t vectors : {1U, 2U, 4U, 8U}) {
    for (const bool rounds : {false, true}) all.push_back({vectors, rounds});
  }
  return all;
}

/// Three chunks: not a multiple of the workgroups, so workgroups visit each other's chunks.
std::uint64_t footprint_of(Walk walk) {
  return 3 * chunk_bytes(walk, grid);
}

std::size_t half_words(Walk walk) {
  return footprint_of(walk) / 2 / sizeof(std::uint32_t);
}

TEST_F(KernelTest, FillWritesBothBuffersWithWordsThatDiffer) {
  run(fill_program(grid, half_bytes));
  std::vector<std::uint32_t> all = words(first);
  const std::vector<std::uint32_t> other = words(second);
  all.insert(all.end(), other.begin(), other.end());
  EXPECT_EQ(std::set<std::uint32_t>(all.begin(), all.end()).size(), all.size());
  int bits = 0;
  for (const std::uint32_t word : all) bits += std::popcount(word);
  EXPECT_NEAR(static_cast<double>(bits) / static_cast<double>(all.size()), 16, 0.1);
}

/// What fill.comp makes of a word's number.
std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

// Any other function might leave patterns that memory compresses. The buffers are longer than what is filled.
TEST_F(KernelTest, FillWritesTheHashOfEachPlaceAndNoMore) {
  constexpr std::uint64_t bytes = half_bytes - std::uint64_t{5} * 16;
  run(fill_program(grid, bytes));
  for (const std::uint32_t buffer : {first, second}) {
    const std::vector<std::uint32_t> filled = words(buffer);
    for (std::uint32_t i = 0; i < filled.size(); ++i) {
      const std::uint32_t number = 8 * (i / 4) + i % 4 + (buffer == second ? 4 : 0);
      ASSERT_EQ(filled[i], i < bytes / 4 ? mixed(number) : untouched) << buffer << ' ' << i;
    }
  }
}

TEST_F(KernelTest, CopyCopiesTheFootprintAndNoMore) {
  run(fill_program(grid, half_bytes));
  const std::vector<std::uint32_t> from = words(first);
  for (const Walk walk : walks()) {
    SCOPED_TRACE(::testing::Message() << walk.vectors << " vectors, rounds " << walk.rounds);
    set(second, std::vector<std::uint32_t>(from.size(), untouched));
    run(bandwidth_kernel(Access::Copy, walk, grid, footprint_of(walk), 3).program);
    std::vector<std::uint32_t> expected = from;
    std::fill(expected.begin() + static_cast<std::ptrdiff_t>(half_words(walk)), expected.end(), untouched);
    EXPECT_EQ(words(second), expected);
    EXPECT_EQ(words(first), from);
  }
}

TEST_F(KernelTest, WriteWritesTheWholeFootprintAndNoMore) {
  const std::vector<std::uint32_t> before(half_bytes / sizeof(std::uint32_t), untouched);
  for (const Walk walk : walks()) {
    SCOPED_TRACE(::testing::Message() << walk.vectors << " vectors, rounds " << walk.rounds);
    set(first, before);
    set(second, before);
    run(bandwidth_kernel(Access::Write, walk, grid, footprint_of(walk), 3).program);
    for (const std::uint32_t buffer : {first, second}) {
      const std::vector<std::uint32_t> after = words(buffer);
      for (std::size_t i = 0; i < after.size(); ++i) {
        ASSERT_EQ(after[i] != untouched, i < half_words(walk)) << i;
      }
    }
  }
}

// Words that differ from one another, as equal ones could be compressed. With rounds, workgroups write the
// same chunks in any order.
TEST_F(KernelTest, WriteWritesAWordOfEachInvocationAndItsComplement) {
  constexpr std::array<std::uint32_t, 4> factors{0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f};
  for (const Walk walk : walks()) {
    if (walk.rounds) continue;
    SCOPED_TRACE(walk.vectors);
    run(bandwidth_kernel(Access::Write, walk, grid, footprint_of(walk), 1).program);
    const std::vector<std::uint32_t> a = words(first), b = words(second);
    for (std::uint32_t i = 0; i < half_words(walk); ++i) {
      const std::uint32_t vector = i / 4, chunk = vector / (walk.vectors * grid.local_size);
      const std::uint32_t invocation = chunk * grid.local_size + vector % grid.local_size;
      ASSERT_EQ(a[i], invocation * factors.at(i % 4)) << i;
      ASSERT_EQ(b[i], ~a[i]) << i;
    }
  }
}

// A grid of many workgroups is folded, which leaves some past the end.
TEST_F(KernelTest, SurplusWorkgroupsMoveNothing) {
  constexpr Walk walk{.vectors = 1, .rounds = false};
  Program program = bandwidth_kernel(Access::Write, walk, grid, footprint_of(walk), 1).program;
  ASSERT_EQ(program.dispatches.front().workgroups, (std::array<std::uint32_t, 3>{3, 1, 1}));
  program.dispatches.front().workgroups = {3, 2, 1};
  run(program);
  for (const std::uint32_t buffer : {first, second}) {
    const std::vector<std::uint32_t> after = words(buffer);
    for (std::size_t i = 0; i < after.size(); ++i)
      ASSERT_EQ(after[i] != untouched, i < half_words(walk)) << i;
  }
}

/// The XOR of one chunk's vectors that one local invocation reads.
std::uint32_t chunk_xor(const std::vector<std::uint32_t>& words, Walk walk, std::uint32_t chunk,
                        std::uint32_t local) {
  std::uint32_t value = 0;
  for (std::uint32_t v = 0; v < walk.vectors; ++v) {
    const std::size_t vector = std::size_t{chunk * walk.vectors + v} * grid.local_size + local;
    for (std::size_t lane = 0; lane < 4; ++lane) value ^= words[4 * vector + lane];
  }
  return value;
}

TEST_F(KernelTest, ReadReadsOneChunkAWorkgroupWithoutRounds) {
  run(fill_program(grid, half_bytes));
  const std::vector<std::uint32_t> a = words(first), b = words(second);
  for (const Walk walk : walks()) {
    if (walk.rounds) continue;
    SCOPED_TRACE(walk.vectors);
    const std::uint64_t footprint = grid.workgroups * chunk_bytes(walk, grid);
    run(bandwidth_kernel(Access::Read, walk, grid, footprint, 1, Keep::all()).program);
    const std::vector<std::uint32_t> got = results();
    for (std::uint32_t i = 0; i < got.size(); ++i) {
      const std::uint32_t chunk = i / grid.local_size, local = i % grid.local_size;
      ASSERT_EQ(got[i], chunk_xor(a, walk, chunk, local) ^ chunk_xor(b, walk, chunk, local)) << i;
    }
  }
}

// With as many rounds as chunks every workgroup reads the whole footprint, whichever its first chunk.
TEST_F(KernelTest, ReadTakesAnotherChunkEachRound) {
  run(fill_program(grid, half_bytes));
  const std::vector<std::uint32_t> a = words(first), b = words(second);
  for (const std::uint32_t chunks : {1U, 2U, 3U, 4U, 5U, 8U}) {
    for (const Walk walk : walks()) {
      if (!walk.rounds || chunks * chunk_bytes(walk, grid) > 2 * half_bytes) continue;
      SCOPED_TRACE(::testing::Message() << chunks << " chunks, " << walk.vectors << " vectors");
      run(bandwidth_kernel(Access::Read, walk, grid, chunks * chunk_bytes(walk, grid), chunks, Keep::all())
              .program);
      const std::vector<std::uint32_t> got = results();
      for (std::uint32_t i = 0; i < got.size(); ++i) {
        std::uint32_t expected = 0;
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
          expected ^=
              chunk_xor(a, walk, chunk, i % grid.local_size) ^ chunk_xor(b, walk, chunk, i % grid.local_size);
        }
        ASSERT_EQ(got[i], expected) << i;
      }
    }
  }
}

// More invocations than the sink has words, of which one has the result that is kept.
TEST_F(KernelTest, ReadStoresWhatIsKeptAndBeginsAgainAtTheSinksEnd) {
  constexpr Walk walk{.vectors = 1, .rounds = false};
  const std::uint32_t words_of_sink = static_cast<std::uint32_t>(words(sink).size());
  const std::uint32_t chunks = words_of_sink / grid.local_size + 1, local = 7;
  const std::uint64_t footprint = chunks * chunk_bytes(walk, grid);
  gpu::Workspace large(device, {}, buffers(footprint / 2), 0);
  std::vector<std::uint32_t> a(footprint / 8, 0);
  const std::size_t kept = 4 * ((std::size_t{chunks} - 1) * grid.local_size + local);
  a.at(kept) = 0x1234567;
  a.at(kept + 2) = 0x80000000;
  a.at(kept - 4) = 0xffffffff;  // has all bits of the value, and others of the mask
  large.write(Resource::tensor(first), bytes_of(a));
  large.write(Resource::tensor(second), bytes_of(std::vector<std::uint32_t>(a.size(), 0)));
  large.write(Resource::tensor(sink), bytes_of(std::vector<std::uint32_t>(words_of_sink, untouched)));
  const Keep keep{.mask = 0xff0000ff, .value = 0x81000067};
  const Program program = bandwidth_kernel(Access::Read, walk, grid, footprint, 1, keep).program;
  gpu::Executable(device, shaders, program, buffers(footprint / 2), 0).run(large, "test", 30);
  std::vector<std::uint32_t> stored(words_of_sink, untouched);
  const std::vector<std::byte> bytes = large.read(Resource::tensor(sink));
  std::memcpy(stored.data(), bytes.data(), bytes.size());
  std::vector<std::uint32_t> expected(words_of_sink, untouched);
  expected.at(local) = 0x81234567;
  EXPECT_EQ(stored, expected);
}

TEST_F(KernelTest, BandwidthCountsTheBytesOfItsChunks) {
  const Walk once{.vectors = 2, .rounds = false}, again{.vectors = 2, .rounds = true};
  const std::uint64_t chunk = std::uint64_t{2} * 16 * 2 * grid.local_size;
  EXPECT_EQ(chunk_bytes(once, grid), chunk);
  EXPECT_EQ(bandwidth_kernel(Access::Copy, once, grid, 8 * chunk, 5).work, 8.0 * static_cast<double>(chunk));
  EXPECT_EQ(bandwidth_kernel(Access::Read, again, grid, 8 * chunk, 5).work,
            5.0 * grid.workgroups * static_cast<double>(chunk));
}

/// The result of a multiply-add kernel in an invocation, computed chain by chain.
template <class T>
T chains(std::uint32_t local, std::uint32_t steps,
         const std::function<T(std::uint32_t, std::uint32_t)>& start, const std::function<T(T)>& step) {
  T sum = 0;
  for (std::uint32_t chain = 0; chain < 16; ++chain) {
    T x = start(chain, local);
    for (std::uint32_t i = 0; i < steps; ++i) x = step(x);
    sum += x;
  }
  return sum;
}

/// The largest relative difference between the sink's floats and those chains.
double float_error(const std::vector<std::uint32_t>& got, std::uint32_t steps, double weight, double factor,
                   double addend) {
  double worst = 0;
  for (std::uint32_t i = 0; i < got.size(); ++i) {
    const double expected =
        weight * chains<double>(
                     i % grid.local_size, steps,
                     [](std::uint32_t chain, std::uint32_t local) { return 1.0 + chain + local % 8; },
                     [&](double x) { return x * factor + addend; });
    worst = std::max(worst, std::fabs(std::bit_cast<float>(got[i]) / expected - 1));
  }
  return worst;
}

TEST_F(KernelTest, Fp32DoesItsMultiplyAdds) {
  for (const std::uint32_t rounds : {1U, 2U, 5U}) {
    run(arithmetic_kernel(fma(Real::Single, 1.25F, 0.25F), grid, rounds, Keep::all()).program);
    EXPECT_LT(float_error(results(), 16 * rounds, 1, 1.25, 0.25), 1e-5) << rounds;
  }
}

// One step more or less would be a difference of a quarter.
TEST_F(KernelTest, Fp16DoesItsMultiplyAdds) {
  if (!device.info().has(Feature::Float16)) GTEST_SKIP() << "the device has no float16";
  run(arithmetic_kernel(fma(Real::Half, 1.25F, 0.25F), grid, 1, Keep::all()).program);
  EXPECT_LT(float_error(results(), 16, 2, 1.25, 0.25), 0.03);
  run(arithmetic_kernel(fma(Real::Half, 1, 1), grid, 3, Keep::all()).program);
  EXPECT_EQ(float_error(results(), 48, 2, 1, 1), 0) << "small integers are exact";
}

std::int32_t dot(std::uint32_t a, std::uint32_t b) {
  std::int32_t sum = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    sum += static_cast<std::int8_t>(a >> shift) * static_cast<std::int8_t>(b >> shift);
  }
  return sum;
}

TEST_F(KernelTest, Dot4x8DoesItsDotProducts) {
  if (!device.info().has(Feature::DotProduct)) GTEST_SKIP() << "the device has no integer dot product";
  constexpr std::uint32_t factor = 0x7f03ff80, addend = 0x01234567;
  for (const Addition addition : {Addition::Plain, Addition::Saturating}) {
    for (const std::uint32_t rounds : {1U, 3U}) {
      run(arithmetic_kernel(dot4x8(addition, factor, addend), grid, rounds, Keep::all()).program);
      const std::vector<std::uint32_t> got = results();
      for (std::uint32_t i = 0; i < got.size(); ++i) {
        const auto expected = chains<std::uint32_t>(
            i % grid.local_size, 16 * rounds,
            [](std::uint32_t chain, std::uint32_t local) { return (chain + 1) * 0x01030507U + local; },
            [](std::uint32_t x) { return static_cast<std::uint32_t>(dot(x, factor)) + addend; });
        ASSERT_EQ(got[i], expected) << i;
      }
    }
  }
}

// Sum of the elements of 8 matrices: the initial values, plus in each of the 4 steps of a round a sum of as
// many products of ones as the factors' inner dimension.
TEST_F(KernelTest, CooperativeMatricesAreMultiplied) {
  const std::vector<CooperativeShape> shapes = device.info().cooperative_shapes;
  if (shapes.empty()) GTEST_SKIP() << "the device has no cooperative matrices";
  const std::uint32_t subgroup = device.info().subgroup_size;
  constexpr std::uint32_t rounds = 2;
  for (const CooperativeShape& shape : shapes) {
    const bool half = shape.factors == DType::F16;
    if (!half && (shape.factors != DType::I8 || shape.sums != DType::I32)) continue;
    SCOPED_TRACE(fmt::format("{} by {}", to_string(shape), name_of(shape.extension)));
    run(arithmetic_kernel(cooperative(shape, subgroup), grid, rounds, Keep::all()).program);
    double sum = 0;
    for (const std::uint32_t bits : results()) {
      sum += half ? static_cast<double>(std::bit_cast<float>(bits)) : static_cast<std::int32_t>(bits);
    }
    const double subgroups = static_cast<double>(grid.workgroups) * grid.local_size / subgroup;
    const double elements = static_cast<double>(shape.rows) * shape.columns;
    EXPECT_NEAR(sum, subgroups * elements * (28 + 8.0 * 4 * rounds * shape.depth), 1e-3 * sum);
  }
}

TEST_F(KernelTest, NothingIsStoredUnlessItIsAskedFor) {
  std::vector<Arithmetic> all{fma(Real::Single)};
  if (device.info().has(Feature::DotProduct)) all.push_back(dot4x8(Addition::Plain));
  for (const Arithmetic& arithmetic : all) {
    run(arithmetic_kernel(arithmetic, grid, 2).program);
    EXPECT_EQ(words(sink), std::vector<std::uint32_t>(words(sink).size(), untouched));
  }
}

TEST(CeilingKernels, CountTwoOperationsAMultiplyAdd) {
  EXPECT_EQ(fma(Real::Single).operations, 16.0 * 16 * 2);
  EXPECT_EQ(fma(Real::Half).operations, 16.0 * 16 * 4);
  EXPECT_EQ(dot4x8(Addition::Plain).operations, 16.0 * 16 * 8);
  EXPECT_EQ(cooperative({16, 8, 32, DType::I8, DType::I32}, 32).operations * 32, 8.0 * 4 * 2 * 16 * 8 * 32);
  EXPECT_EQ(arithmetic_kernel(fma(Real::Single), grid, 3).work, 3.0 * 4 * 32 * 16 * 16 * 2);
}

TEST(CeilingKernels, DemandFullSubgroupsForMatricesWhereTheDeviceCan) {
  DeviceInfo device;
  device.subgroup_size = device.min_subgroup_size = device.max_subgroup_size = 32;
  device.max_workgroup_subgroups = 2;
  EXPECT_EQ(demanded_subgroup_size(device, 64), 0U) << "without the feature";
  device.features = {Feature::FullSubgroups};
  EXPECT_EQ(demanded_subgroup_size(device, 64), 32U);
  EXPECT_EQ(demanded_subgroup_size(device, 96), 0U) << "three subgroups";
  EXPECT_EQ(demanded_subgroup_size(device, 16), 0U) << "a part of one";
  device.min_subgroup_size = 8;
  EXPECT_EQ(demanded_subgroup_size(device, 64), 32U);
}

TEST(CeilingKernels, AreValidSpirv) {
  gpu::ShaderLibrary shaders;
  const spvtools::SpirvTools validator(SPV_ENV_VULKAN_1_1);
  for (const Program& program : all_programs()) {
    const Dispatch& dispatch = program.dispatches.front();
    // The distribution's validator does not know the extension.
    if (ask_for_khr_matrices(dispatch.defines)) continue;
    EXPECT_TRUE(validator.Validate(shaders.compile(dispatch.shader, dispatch.defines).words))
        << dispatch.shader;
    EXPECT_LE(dispatch.push.words().size(), 32U) << "more than every device takes";
  }
}

TEST(CeilingKernels, FitASmallDevice) {
  const DeviceInfo phone{.type = "integrated"};  // the limits that every device has
  const Grid small = grid_for(phone);
  EXPECT_LE(small.local_size, 128U);
  const Grid arithmetic = arithmetic_grid_for(phone);
  EXPECT_EQ(arithmetic.workgroups * arithmetic.local_size, small.workgroups * small.local_size);
  EXPECT_EQ(arithmetic.local_size, 64U);
  const Kernel kernel = bandwidth_kernel(Access::Read, {}, small, 1 << 20, 1);
  EXPECT_EQ(gpu::unsupported(kernel.program, buffers(1 << 19), {}, phone, 0), std::nullopt);
}

constexpr double full_ns = 100;  // time of the clock probe at full clock

/// A device whose clock ratio at a time in seconds is `ratio`; a reading takes 10 ms.
struct Device {
  std::function<double(double)> ratio = [](double) { return 1.0; };
  double now_s = 0;
  double rested_s = 0;
  int readings = 0;
  ClockWatch clock;

  Device() {
    for (int i = 0; i < 5; ++i) clock.hear(full_ns);
  }
  std::optional<Reading> best(const Patience& patience = {}) {
    const ReadingSource source{.read =
                                   [this] {
                                     ++readings;
                                     now_s += 0.01;
                                     const double clock_now = ratio(now_s);
                                     return Reading{.ns = 1000 / clock_now, .probe_ns = full_ns / clock_now};
                                   },
                               .now_s = [this] { return now_s; },
                               .rest_s =
                                   [this](double seconds) {
                                     rested_s += seconds;
                                     now_s += seconds;
                                   }};
    return best_reading(source, clock, patience, 1);
  }
};

TEST(BestReading, IsTheShortestOfSome) {
  Device device;
  device.ratio = [](double now_s) { return now_s > 0.03 ? 1.0 : 0.99; };
  const auto best = device.best();
  ASSERT_TRUE(best);
  EXPECT_DOUBLE_EQ(best->ns, 1000);
  EXPECT_EQ(device.readings, Patience{}.repetitions);
}

TEST(BestReading, HeatsTheDeviceUntilTheClockIsUp) {
  Device device;
  device.ratio = [](double now_s) { return now_s > 0.5 ? 1.0 : 0.3; };
  const auto best = device.best();
  ASSERT_TRUE(best);
  EXPECT_DOUBLE_EQ(best->ns, 1000);
  EXPECT_GT(device.readings, 50);
  EXPECT_EQ(device.rested_s, 0);
}

TEST(BestReading, RestsAndTriesOnceMore) {
  Device device;
  device.ratio = [&device](double) { return device.rested_s > 0 ? 1.0 : 0.5; };
  const auto best = device.best();
  ASSERT_TRUE(best);
  EXPECT_DOUBLE_EQ(best->ns, 1000);
}

TEST(BestReading, IsNothingWhereTheClockStaysDown) {
  Device device;
  device.ratio = [](double) { return 0.5; };
  EXPECT_FALSE(device.best());
  EXPECT_LT(device.now_s, 2);
}

TEST(BestReading, EndsWhenLongKernelsHaveTakenTheirTime) {
  Device device;
  EXPECT_TRUE(device.best({.most_ns = 1500}));
  EXPECT_EQ(device.readings, 2);
}

TEST(BestReading, CountsAllOfADeviceWithoutAClockProbe) {
  Device device;
  const ReadingSource source{
      .read = [] { return Reading{.ns = 5}; }, .now_s = [] { return 0.0; }, .rest_s = [](double) {}};
  EXPECT_EQ(best_reading(source, device.clock, {}, 1)->ns, 5);
}

}  // namespace

}  // namespace assay::ceiling
