#include "harness/engine/timing/rotating_sets.h"

#include "tests/support/gpu.h"
#include "tests/support/shaders_under_test.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t gib = 1 << 30;

TEST(ColdSets, AreTwiceTheCacheTogether) {
  const SetPlan found = cold_sets(mib, 50 * mib, 80 * gib);
  EXPECT_EQ(found.refusal, "");
  EXPECT_EQ(found.kind, InputSets::Cold);
  EXPECT_EQ(found.sets, 101);
}

TEST(ColdSets, AreTwoWhereOneIsBeyondTheCacheAlready) {
  EXPECT_EQ(cold_sets(512 * static_cast<std::int64_t>(mib), 50 * mib, 80 * gib).sets, 2);
}

TEST(ColdSets, AnUnknownCacheIsTakenForALargeOne) {
  EXPECT_EQ(cold_sets(mib, 0, 80 * gib).sets, 129);
}

TEST(ColdSets, TooManyAreRefusedWithTheNumbers) {
  const std::string refusal = cold_sets(4096, 50 * mib, 80 * gib).refusal;
  EXPECT_THAT(refusal, HasSubstr("2048 sets of 4096 bytes"));
  EXPECT_THAT(refusal, HasSubstr("105 MB"));
}

TEST(ColdSets, MoreThanHalfOfTheMemoryIsRefused) {
  EXPECT_THAT(cold_sets(mib, 300 * mib, gib).refusal, HasSubstr("more than half"));
  EXPECT_EQ(cold_sets(mib, 100 * mib, gib).refusal, "");
}

TEST(ColdSets, MayHoldMoreThanProgramsMove) {
  EXPECT_EQ(cold_sets(mib, 100 * mib, gib, mib).refusal, "");
  EXPECT_THAT(cold_sets(mib, 100 * mib, gib, 2 * mib).refusal,
              HasSubstr("303 sets of tensors of 2097152 bytes: more than half"));
  EXPECT_EQ(cold_sets(mib, 100 * mib, 80 * gib, 2 * mib).sets, 201) << "by what is moved";
}

TEST(HotSets, AlternateByProgramWhereBothFitHalfOfTheCache) {
  const SetPlan plan = hot_sets(12 * static_cast<std::int64_t>(mib), 50 * mib, 80 * gib);
  EXPECT_EQ(plan.kind, InputSets::AlternateByProgram);
  EXPECT_EQ(plan.sets, 2);
  EXPECT_EQ(plan.refusal, "");
  EXPECT_EQ(hot_sets(16 * static_cast<std::int64_t>(mib), 0, 80 * gib).kind, InputSets::AlternateByProgram)
      << "an unknown cache is taken for 64 MiB";
}

TEST(HotSets, AlternateByBatchWhereTheyDoNot) {
  const SetPlan plan = hot_sets(13 * static_cast<std::int64_t>(mib), 50 * mib, 80 * gib);
  EXPECT_EQ(plan.kind, InputSets::AlternateByBatch);
  EXPECT_EQ(plan.sets, 2);
}

TEST(HotSets, AreOneWhereTheMemoryHoldsNoTwo) {
  const SetPlan plan = hot_sets(static_cast<std::int64_t>(gib / 2), 50 * mib, gib);
  EXPECT_EQ(plan.kind, InputSets::One);
  EXPECT_EQ(plan.sets, 1);
}

std::vector<std::size_t> all_of(std::size_t sets) {
  std::vector<std::size_t> all(sets);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

TEST(ColdOrder, UsesEachSetOnceARoundInANewOrder) {
  std::mt19937_64 chance(1);
  ColdOrder order(100, chance);
  const std::vector<std::size_t> first = order.take(100);
  const std::vector<std::size_t> second = order.take(100);
  EXPECT_TRUE(std::ranges::is_permutation(first, all_of(100)));
  EXPECT_TRUE(std::ranges::is_permutation(second, all_of(100)));
  EXPECT_NE(first, second);
}

TEST(ColdOrder, LetsNoSetComeAgainBeforeSevenEighthsOfTheOthers) {
  for (const std::size_t sets : {1U, 2U, 3U, 9U, 17U, 101U, 1000U}) {
    std::mt19937_64 chance(sets);
    ColdOrder order(sets, chance);
    const std::vector<std::size_t> taken = order.take(20 * sets);
    std::map<std::size_t, std::size_t> last;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (last.contains(taken[i])) {
        EXPECT_GE(8 * (i - last.at(taken[i])), 7 * sets) << sets << " sets, program " << i;
      }
      last[taken[i]] = i;
    }
  }
}

TEST(ColdOrder, GoesOnWhereTheLastProgramsStopped) {
  std::mt19937_64 chance(1);
  ColdOrder order(10, chance);
  std::vector<std::size_t> taken = order.take(4);
  for (const std::size_t set : order.take(6)) taken.push_back(set);
  EXPECT_TRUE(std::ranges::is_permutation(taken, all_of(10)));
}

class ConstantScratchTest : public test::GpuTest {
 protected:
  /// Set-up binds the first two of three scratch tensors; the second one is a texture.
  static Program program() {
    Program made;
    made.scratch = {{.name = "packed", .dtype = DType::I32, .shape = {4}, .form = {}},
                    {.name = "sums", .dtype = DType::F32, .shape = {2, 4}, .form = {Storage::Texture2D}},
                    {.name = "own", .dtype = DType::I32, .shape = {4}, .form = {}}};
    Dispatch setup;
    setup.role = DispatchRole::Setup;
    setup.bindings = {Resource::scratch(0), Resource::scratch(1)};
    Dispatch product;
    product.bindings = {Resource::scratch(0), Resource::scratch(1), Resource::scratch(2)};
    made.dispatches = {setup, product};
    return made;
  }

  static gpu::ShaderLibrary& library() {
    static gpu::ShaderLibrary shared(test::shaders_under_test());
    return shared;
  }

  static gpu::Workspace zeroed(const Program& program) {
    gpu::Workspace set = workspace(program, {test::words(4), test::words(12)});  // as ops have tensors, too
    for (std::uint32_t i = 0; i < program.scratch.size(); ++i) write(set, i, 0);
    return set;
  }

  /// Writes the last byte of a scratch, which is its guard's where it has one; all others become 0.
  static void write(gpu::Workspace& set, std::uint32_t scratch, unsigned char byte,
                    std::size_t from_end = 1) {
    const Resource resource = Resource::scratch(scratch);
    std::vector<std::byte> bytes(set.size(resource));
    bytes[bytes.size() - from_end] = std::byte{byte};
    set.write(resource, bytes);
  }

  static std::optional<std::string> changed(const ConstantScratch& scratch,
                                            std::vector<const gpu::Workspace*> sets) {
    return scratch.changed_in(sets);
  }

  gpu::DeviceMemory memory{device(), library()};
};

TEST_F(ConstantScratchTest, NamesWhatIsAnotherOneThanSetUpLeft) {
  const Program made = program();
  gpu::Workspace first = zeroed(made);
  gpu::Workspace second = zeroed(made);
  ConstantScratch scratch(device(), memory, made);
  scratch.keep(first);
  EXPECT_EQ(changed(scratch, {}), std::nullopt);
  EXPECT_EQ(changed(scratch, {&first, &second}), std::nullopt) << "each set holds the same";
  write(first, 2, 1);
  EXPECT_EQ(changed(scratch, {&first}), std::nullopt) << "set-up has nothing to do with it";
  write(first, 1, 1);
  EXPECT_EQ(changed(scratch, {&first}), "the scratch 'sums', which set-up wrote once and all runs read");
  EXPECT_EQ(changed(scratch, {&second}), std::nullopt);
  EXPECT_EQ(changed(scratch, {&second, &first}),
            "the scratch 'sums', which set-up wrote once and all runs read");
  write(second, 0, 1, gpu::guard_bytes + 1);
  EXPECT_EQ(changed(scratch, {&second}), "the scratch 'packed', which set-up wrote once and all runs read")
      << "in its data";
  write(second, 0, 1);
  EXPECT_EQ(changed(scratch, {&second}), "the scratch 'packed', which set-up wrote once and all runs read")
      << "in its guard";
}

TEST_F(ConstantScratchTest, NamesWhatIsNoLongerZero) {
  Program made = program();
  made.scratch[2].is_zero_between_runs = true;
  gpu::Workspace set = zeroed(made);
  ConstantScratch scratch(device(), memory, made);
  scratch.keep(set);
  EXPECT_EQ(changed(scratch, {&set}), std::nullopt);
  write(set, 2, 1, gpu::guard_bytes + 1);
  EXPECT_THAT(changed(scratch, {&set}).value_or(""),
              ::testing::EndsWith(", which must hold zeros after each run"));
}

TEST_F(ConstantScratchTest, AProgramWithoutSetUpHasNothingToChange) {
  Program made = program();
  made.dispatches.erase(made.dispatches.begin());
  gpu::Workspace set = zeroed(made);
  ConstantScratch scratch(device(), memory, made);
  scratch.keep(set);
  write(set, 0, 1);
  EXPECT_EQ(changed(scratch, {&set}), std::nullopt);
}

}  // namespace

}  // namespace assay
