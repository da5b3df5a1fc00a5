#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"
#include "tests/support/small_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Programs that use what the previous program left, with shaders that may do so: timed programs alternate
// between two data sets, so such answers are wrong.

namespace assay::faults {
namespace {

using ::testing::HasSubstr;
using ::testing::Values;

constexpr std::int64_t words = 32768;  // enough for cold rows

/// An op whose outputs are its inputs' words with some bits turned.
struct Victim {
  Op op;
  std::int64_t values = 0;
  std::uint32_t turned = 0;
};

Victim flip() {
  return {test::flip_op(), 4 * words, 0xFFFFFFFFU};
}

/// y = -x on f32.
Victim negate() {
  Op op = test::flip_op();
  op.name = "negate";
  op.tensors = [tensors = op.tensors](const Params& params) {
    std::vector<TensorSpec> specs = tensors(params);
    for (TensorSpec& spec : specs) spec.dtype = DType::F32;
    specs.front().domain = {.role = FillRole::Data, .lo = -2, .hi = 2};
    return specs;
  };
  op.reference = [](const Params&, std::span<const HostTensor> inputs) {
    HostTensor y = inputs[0];
    for (float& value : y.as<float>()) value = -value;
    return std::vector<Expected>{test::exact(y)};
  };
  return {std::move(op), words, 0x80000000U};
}

/// The victim with a kernel that does `cheat`; "honest" does nothing of that kind.
Op cheating(const Victim& victim, const std::string& cheat, const std::string& excuse, int rounds) {
  Op op = victim.op;
  op.impls.front().name = cheat;
  op.impls.front().build = [turned = victim.turned, cheat, excuse, rounds](const BuildContext&) {
    const Resource memory = Resource::scratch(0);
    Dispatch work{.label = "work",
                  .shader = "lives_on_the_past.comp",
                  .defines = {{"CHEAT_" + cheat, "1"}},
                  .workgroups = {words / 64, 1, 1},
                  .bindings = {Resource::tensor(0), Resource::tensor(1), memory}};
    if (rounds > 0) work.defines.push_back({"ROUNDS", std::to_string(rounds) + "u"});
    work.push.add(words).add(std::int64_t{turned});
    const Dispatch count{.label = "count",
                         .shader = "count_program.comp",
                         .local_size = {1, 1, 1},
                         .bindings = {Resource::tensor(0), memory}};
    return Program{.scratch = {{"memory", DType::I32, {2 * words + 3}, {Storage::Buffer, Layout::WP}}},
                   .dispatches = {work, count},
                   .free_access_because = excuse};
  };
  return op;
}

bool is_on_a_cpu() {
  return Bench::shared().device().info().is_cpu();
}

/// With a memory and dispatches of the size that such devices have: cold caches then explain what they may.
TimingTools& tools() {
  static TimingTools shared = [] {
    TimingTools made(Bench::shared().device(), Bench::shared().shaders());
    const double gbps = is_on_a_cpu() ? 5 : 5000;
    made.ceilings.bandwidth = {
        {.footprint_bytes = 1 << 28, .copy_gbps = gbps, .read_gbps = gbps, .write_gbps = gbps}};
    made.ceilings.dispatch_us = is_on_a_cpu() ? 10 : 1;
    return made;
  }();
  return shared;
}

Record timed(const Victim& victim, const std::string& cheat, std::optional<std::uint64_t> secret_seed,
             Caches caches = Caches::Hot, const std::string& excuse = seen_when_run, int rounds = 0) {
  const Op op = cheating(victim, cheat, excuse, rounds);
  Case test_case = test::make_case(op, test::shape_params({victim.values}));
  test_case.mode = Mode::Perf;
  test_case.caches = caches;
  DeviceRunOptions options;
  options.mode = Mode::Perf;
  options.secret_seed = secret_seed;
  options.sampling.budget_s = 0.05;
  options.tools = &tools();
  return Bench::shared().run({test_case}, options).records.at(0);
}

class LivesOnThePast : public ::testing::TestWithParam<const char*> {};

TEST_P(LivesOnThePast, AndIsWrongWhereDataTakeTurns) {
  for (const Victim& victim : {flip(), negate()}) {
    EXPECT_EQ(timed(victim, GetParam(), std::nullopt).status, Status::Pass) << "always the same data";
    const Record record = timed(victim, GetParam(), 77);
    EXPECT_EQ(record.status, Status::Fail) << victim.op.name;
    EXPECT_FALSE(record.perf) << "a wrong kernel has no time";
    EXPECT_THAT(record.reason, HasSubstr("the timed runs did not compute the answer that was judged"));
  }
}

TEST_P(LivesOnThePast, AndIsRefusedWithoutAnExcuse) {
  for (const Victim& victim : {flip(), negate()}) {
    const Record record = timed(victim, GetParam(), std::nullopt, Caches::Hot, "");
    EXPECT_EQ(record.status, Status::Fail);
    EXPECT_THAT(record.reason, HasSubstr("what the program before left there"));
  }
}

INSTANTIATE_TEST_SUITE_P(Cheats, LivesOnThePast,
                         Values("skips_when_marked", "a_share_a_program", "first_workgroup_only",
                                "copies_its_answer"));

/// Answers cannot show this: the programs of a batch are spared work that a single program has to do.
TEST(FasterWhenRepeated, IsAProgramThatKeepsItsAnswersByTheirData) {
  // Much longer than a unit of the device's timer, and so short that a batch has many programs: of one
  // program a batch nothing is repeated.
  const int rounds = is_on_a_cpu() ? 400 : 40'000;
  for (const Victim& victim : {flip(), negate()}) {
    const Record cheat = timed(victim, "remembers_by_key", 77, Caches::Hot, seen_when_run, rounds);
    EXPECT_EQ(cheat.status, Status::Suspect) << cheat.reason;
    EXPECT_THAT(cheat.reason, HasSubstr("faster when repeated"));
    ASSERT_TRUE(cheat.perf);
    EXPECT_GT(cheat.perf->isolated_us, 3 * cheat.perf->time_us_p50);
    const Record honest = timed(victim, "honest", 77, Caches::Hot, seen_when_run, rounds);
    EXPECT_EQ(honest.status, Status::Pass) << honest.reason;
    EXPECT_GT(honest.perf->isolated_us, 0);
  }
}

TEST(FasterWhenRepeated, IsRefusedWithoutAnExcuse) {
  const Record record = timed(flip(), "remembers_by_key", 77, Caches::Hot, "");
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason, HasSubstr("what the program before left there"));
}

TEST(Turns, AreTakenByHonestProgramsWithoutHarm) {
  for (const Victim& victim : {flip(), negate()}) {
    const Record record = timed(victim, "honest", 77);
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
    ASSERT_TRUE(record.perf);
    EXPECT_EQ(record.perf->sets, 2);
    EXPECT_EQ(record.perf->verified_pct, 100);
    EXPECT_EQ(record.perf->output_hash, record.accuracy->output_hash) << "of the case's own data";
  }
}

TEST(Turns, AreTakenByTheSetsOfAColdRow) {
  const Record record = timed(flip(), "honest", 77, Caches::Cold);
  EXPECT_EQ(record.status, Status::Pass) << record.reason;
  EXPECT_EQ(record.perf->verified_pct, 100);
}

TEST(Turns, AreNotTakenWithoutASecretSeed) {
  const Record record = timed(flip(), "honest", std::nullopt);
  ASSERT_TRUE(record.perf) << record.reason;
  EXPECT_EQ(record.perf->sets, 1);
}

}  // namespace
}  // namespace assay::faults
