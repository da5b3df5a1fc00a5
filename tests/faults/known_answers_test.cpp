#include "harness/engine/accuracy/data_set.h"
#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"
#include "tests/support/small_op.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assay::faults {

// Rows of mode perf are judged on data that no shader can know.

namespace {

using ::testing::HasSubstr;

constexpr std::int64_t values = 4096;

/// The op that turns every bit, with a shader that does so only for the data whose first word is `known`.
Op flip_of_known(std::uint32_t known) {
  Op op = test::flip_op();
  op.impls.front().build = [known](const BuildContext&) {
    Dispatch dispatch{.label = "flip",
                      .shader = "known_answers.comp",
                      .defines = {{"KNOWN", fmt::format("{}u", known)}},
                      .workgroups = {values / 4 / 64, 1, 1},
                      .bindings = {Resource::tensor(0), Resource::tensor(1)}};
    dispatch.push.add(values / 4);
    return Program{.dispatches = {dispatch}};
  };
  return op;
}

struct Cheat {
  Cheat() : op(flip_of_known(first_word(test::make_case(flip_of_known(0), test::shape_params({values}))))) {}

  Record run(Mode mode, std::optional<std::uint64_t> secret_seed) const {
    Case test_case = test::make_case(op, test::shape_params({values}));
    test_case.mode = mode;
    DeviceRunOptions options;
    options.mode = mode;
    options.secret_seed = secret_seed;
    options.sampling.budget_s = 0.05;
    return Bench::shared().run({test_case}, options).records.at(0);
  }

  Op op;
};

TEST(SecretData, FindAnswersThatWereBuiltIn) {
  const Cheat cheat;
  EXPECT_EQ(cheat.run(Mode::Accu, 77).status, Status::Pass) << "on its own data it is right";
  EXPECT_EQ(cheat.run(Mode::Perf, std::nullopt).status, Status::Pass);
  const Record record = cheat.run(Mode::Perf, 77);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_FALSE(record.perf) << "a wrong kernel has no time";
  EXPECT_THAT(record.reason, HasSubstr("wrong on data of a seed that it could not know (--secret-seed 77)"));
  EXPECT_THAT(record.reason, HasSubstr("expected"));
}

TEST(SecretData, AreOtherDataOfTheSameFill) {
  const Op op = test::flip_op();
  const Case test_case = test::make_case(op, test::shape_params({values}));
  const DataSet own = make_data_set(test_case);
  const DataSet secret = make_secret_data_set(test_case, 77);
  EXPECT_NE(own.input_hash, secret.input_hash);
  EXPECT_EQ(secret.input_hash, make_secret_data_set(test_case, 77).input_hash)
      << "a resumed run has the same";
  EXPECT_NE(secret.input_hash, make_secret_data_set(test_case, 78).input_hash);
}

TEST(SecretData, AreTwoDifferentSets) {
  const Op op = test::flip_op();
  const Case test_case = test::make_case(op, test::shape_params({values}));
  const DataSet first = make_secret_data_set(test_case, 7, 0);
  EXPECT_EQ(first.input_hash, make_secret_data_set(test_case, 7).input_hash);
  EXPECT_NE(first.input_hash, make_secret_data_set(test_case, 7, 1).input_hash);
}

TEST(SecretData, AreNotOfCasesWhoseDataAreGiven) {
  const Op op = test::flip_op();
  Case test_case = test::make_case(op, test::shape_params({values}));
  EXPECT_TRUE(has_secret_data(test_case));
  test_case.expected_files.edit()["y"] = {};
  EXPECT_FALSE(has_secret_data(test_case));
  test_case.expected_files.edit().clear();
  test_case.fills.edit()["x"].kind = FillKind::Constant;
  EXPECT_FALSE(has_secret_data(test_case));
}

// Programs that use what the previous program left, with shaders that may do so: timed programs alternate
// between two data sets, so such answers are wrong, or are audited at random times, with poisoned outputs.

using ::testing::Values;

constexpr std::int64_t words = 32768;  // enough for cold rows

/// An op whose outputs are its inputs' words with some bits turned.
struct Victim {
  Op op;
  std::int64_t values = 0;
  std::uint32_t turned = 0;
  std::uint32_t output = 1;  ///< index of the output
};

Victim flip_victim() {
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

/// The first values of y become those of x, the others stay.
Victim overwrite() {
  return {test::overwrite_op(100), words, 0, 2};
}

/// The victim with a kernel that does `cheat`; "honest" does nothing of that kind.
Op cheating(const Victim& victim, const std::string& cheat, const std::string& excuse, int rounds) {
  Op op = victim.op;
  const std::uint32_t word = first_word(test::make_case(victim.op, test::shape_params({victim.values})));
  const std::string known = fmt::format("{}u", word);
  op.impls.front().name = cheat;
  op.impls.front().build = [turned = victim.turned, output = victim.output, cheat, excuse, rounds,
                            known](const BuildContext&) {
    const Resource memory = Resource::scratch(0);
    Dispatch work{.label = "work",
                  .shader = "lives_on_the_past.comp",
                  .defines = {{"CHEAT_" + cheat, "1"}, {"KNOWN", known}},
                  .workgroups = {words / 64, 1, 1},
                  .bindings = {Resource::tensor(0), Resource::tensor(output), memory}};
    if (rounds > 0) work.defines.push_back({"ROUNDS", std::to_string(rounds) + "u"});
    work.push.add(words).add(std::int64_t{turned});
    const Dispatch count{.label = "count",
                         .shader = "count_program.comp",
                         .local_size = {1, 1, 1},
                         .bindings = {Resource::tensor(0), memory}};
    return Program{.scratch = {{"memory", DType::I32, {2 * words + 4}, {Storage::Buffer, Layout::WP}}},
                   .dispatches = {work, count},
                   .unchecked_because = excuse};
  };
  return op;
}

bool is_on_a_cpu() {
  return Bench::shared().device().info().is_cpu();
}

/// With a memory and dispatches of the size that such devices have: cold caches then explain what they may.
Ceilings usual_ceilings() {
  const double gbps = is_on_a_cpu() ? 5 : 5000;
  Ceilings made;
  made.bandwidth = {{.footprint_bytes = 1 << 28, .copy_gbps = gbps, .read_gbps = gbps, .write_gbps = gbps}};
  made.dispatch_us = is_on_a_cpu() ? 10 : 1;
  return made;
}

TimingTools& tools() {
  struct Made {
    TimingTools tools{Bench::shared().device(), Bench::shared().shaders()};
    Made() {
      tools.ceilings = usual_ceilings();
      // On a busy machine the timer seems so coarse that programs of some ms are not compared at all.
      tools.timer.unit_ns = std::min(tools.timer.unit_ns, 20e3);
    }
  };
  static Made made;
  return made.tools;
}

/// How a cheat is timed.
struct How {
  Caches caches = Caches::Hot;
  std::string excuse = seen_when_run;
  int rounds = 0;                 ///< of work for each word
  std::uint64_t cache_bytes = 0;  ///< the device's last-level cache; 0: unknown
  double sample_ns = 1e6;         ///< wanted length of a sample
  double submission_ns = 50e6;    ///< a limit
  bool times_secret_data = false;
  int blocks = 5;
};

Record timed(const Victim& victim, const std::string& cheat, std::optional<std::uint64_t> secret_seed,
             const How& how = {}) {
  const Op op = cheating(victim, cheat, how.excuse, how.rounds);
  Case test_case = test::make_case(op, test::shape_params({victim.values}));
  test_case.mode = Mode::Perf;
  test_case.caches = how.caches;
  DeviceRunOptions options;
  options.mode = Mode::Perf;
  options.secret_seed = secret_seed;
  options.sampling.budget_s = 0.05;
  options.sampling.sample_target_ns = how.sample_ns;
  options.sampling.max_submission_ns = how.submission_ns;
  options.sampling.min_blocks = how.blocks;
  options.tools = &tools();
  tools().ceilings.cache_bytes = how.cache_bytes;
  options.rows.times_secret_data = how.times_secret_data;
  return Bench::shared().run({test_case}, options).records.at(0);
}

class LivesOnThePast : public ::testing::TestWithParam<const char*> {};

TEST_P(LivesOnThePast, AndIsWrongWhereDataTakeTurns) {
  for (const Victim& victim : {flip_victim(), negate()}) {
    const Record record = timed(victim, GetParam(), 77);
    EXPECT_EQ(record.status, Status::Fail) << victim.op.name;
    EXPECT_FALSE(record.perf) << "a wrong kernel has no time";
    EXPECT_THAT(record.reason, HasSubstr("the timed runs did not compute the answer that was judged"));
  }
}

TEST_P(LivesOnThePast, AndIsRefusedWithoutAnExcuse) {
  for (const Victim& victim : {flip_victim(), negate()}) {
    const Record record = timed(victim, GetParam(), std::nullopt, {.excuse = ""});
    EXPECT_EQ(record.status, Status::Fail);
    EXPECT_THAT(record.reason, HasSubstr("what the program before left there"));
  }
}

INSTANTIATE_TEST_SUITE_P(Cheats, LivesOnThePast,
                         Values("skips_when_marked", "a_share_a_program", "first_workgroup_only",
                                "copies_its_answer"));

/// Answers cannot show this: the programs of a batch are spared work that a single program has to do.
TEST(FasterWhenRepeated, IsAProgramThatKeepsItsAnswersByTheirData) {
  // So much work that sparing it shows also where other processes disturb a CPU: about ten times what the
  // cheat still does. A submission has room for two such programs, also where one was stalled for seconds:
  // of one alone nothing is repeated.
  const int rounds = is_on_a_cpu() ? 1'200 : 40'000;
  const How how{.rounds = rounds, .submission_ns = 20e9};
  for (const Victim& victim : {flip_victim(), negate()}) {
    const Record cheat = timed(victim, "remembers_by_key", 77, how);
    EXPECT_EQ(cheat.status, Status::Suspect) << cheat.reason;
    EXPECT_THAT(cheat.reason, HasSubstr("faster when repeated"));
    ASSERT_TRUE(cheat.perf);
    EXPECT_GT(cheat.perf->isolated_us, 3 * cheat.perf->time_us_p50);
    const Record honest = timed(victim, "honest", 77, how);
    EXPECT_EQ(honest.status, Status::Pass) << honest.reason;
    EXPECT_GT(honest.perf->isolated_us, 0);
  }
}

/// Programs of a batch find their own part written already, by either data set.
TEST(TimedInPart, IsAPartWhoseOldContentSparesNoWork) {
  const Victim victim = overwrite();
  for (const char* cheat : {"skips_when_marked", "a_share_a_program", "copies_its_answer"}) {
    const Record record = timed(victim, cheat, 77);
    EXPECT_EQ(record.status, Status::Fail) << cheat;
    EXPECT_FALSE(record.perf) << "a wrong kernel has no time";
    EXPECT_THAT(record.reason, HasSubstr("the timed runs did not compute the answer that was judged"));
  }
  EXPECT_EQ(timed(victim, "skips_when_marked", std::nullopt).status, Status::Fail) << "audits";
  EXPECT_EQ(timed(victim, "skips_the_same_data", 77, {.blocks = 12}).status, Status::Fail) << "audits";
  // Each set must be written several times in a submission, also where the machine stalls while a program's
  // time is estimated.
  const How cold{
      .caches = Caches::Cold, .cache_bytes = 1, .sample_ns = 100e6, .submission_ns = 1e9, .blocks = 12};
  EXPECT_EQ(timed(victim, "skips_when_marked", 77, cold).status, Status::Fail);
}

/// A program alone finds all of the output overwritten, which is restored after it. In the cold row, whose
/// submissions have one program each, nothing else would restore that set before it is compared.
TEST(TimedInPart, IsTimedInBatchesAndAloneWithoutHarm) {
  for (const Caches caches : {Caches::Hot, Caches::Cold}) {
    const Record record =
        timed(overwrite(), "honest", 77, {.caches = caches, .cache_bytes = 8 << 20, .sample_ns = 1e3});
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
    ASSERT_TRUE(record.perf) << record.reason;
    EXPECT_EQ(record.perf->verified_pct, 100);
    EXPECT_GT(record.perf->throughput_us, 0) << "programs that update in place have none";
    if (caches == Caches::Hot) {
      EXPECT_EQ(record.perf->sets, 2);
    }
    EXPECT_EQ(record.perf->output_hash, record.accuracy->output_hash);
  }
}

TEST(FasterOnKnownData, IsAProgramThatKnowsTheRepositorysData) {
  const int rounds = is_on_a_cpu() ? 400 : 40'000;
  for (const Victim& victim : {flip_victim(), negate()}) {
    const Record cheat = timed(victim, "is_fast_for_known_data", 77, {.rounds = rounds});
    EXPECT_EQ(cheat.status, Status::Suspect) << cheat.reason;
    EXPECT_THAT(cheat.reason, HasSubstr("faster on known data"));
  }
}

TEST(SecretTimes, AreNotOfDataThatAProgramKnows) {
  const int rounds = is_on_a_cpu() ? 200 : 40'000;
  const Record known = timed(flip_victim(), "is_fast_for_known_data", 77, {.rounds = rounds});
  const Record secret =
      timed(flip_victim(), "is_fast_for_known_data", 77, {.rounds = rounds, .times_secret_data = true});
  EXPECT_EQ(secret.status, Status::Pass) << secret.reason;
  ASSERT_TRUE(known.perf && secret.perf);
  EXPECT_EQ(secret.perf->sets, 2);
  EXPECT_EQ(secret.perf->verified_pct, 100);
  EXPECT_EQ(secret.perf->output_hash, secret.accuracy->output_hash) << "of the case's own data";
  EXPECT_EQ(secret.perf->output_hash, known.perf->output_hash);
  const Record honest = timed(flip_victim(), "honest", 77, {.rounds = rounds});
  ASSERT_TRUE(honest.perf);
  EXPECT_GT(secret.perf->time_us_p50, 0.5 * honest.perf->time_us_p50) << "it does all the work";
}

TEST(FasterWhenRepeated, IsRefusedWithoutAnExcuse) {
  const Record record = timed(flip_victim(), "remembers_by_key", 77, {.excuse = ""});
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason, HasSubstr("what the program before left there"));
}

/// With the same data all the time the answers that such programs leave are right.
TEST(Audit, FindsProgramsThatLeaveTheirWorkUndone) {
  for (const char* cheat : {"skips_when_marked", "a_share_a_program", "first_workgroup_only"}) {
    for (const Victim& victim : {flip_victim(), negate()}) {
      const Record record = timed(victim, cheat, std::nullopt);
      EXPECT_EQ(record.status, Status::Fail) << victim.op.name << " " << cheat;
      EXPECT_THAT(record.reason, HasSubstr("the timed runs did not compute the answer that was judged"));
    }
  }
}

/// Every answer that such a program leaves is right: it is spared half of the work where the outputs hold it.
TEST(Audit, FindsAProgramThatLeavesTheAnswerOfTheSameDataAsItIs) {
  for (const Victim& victim : {flip_victim(), negate()}) {
    const Record record = timed(victim, "skips_the_same_data", 77, {.blocks = 12});
    EXPECT_EQ(record.status, Status::Fail) << victim.op.name;
    EXPECT_FALSE(record.perf) << "a wrong kernel has no time";
    EXPECT_THAT(record.reason, HasSubstr("the timed runs did not compute the answer that was judged"));
  }
}

TEST(Audit, FindsAColdProgramWhoseSetsComeAgainInASubmission) {
  // Room for many programs also where one was stalled while its time was estimated.
  const How how{
      .caches = Caches::Cold, .cache_bytes = 1, .sample_ns = 20e6, .submission_ns = 1e9, .blocks = 12};
  for (const char* cheat : {"skips_the_same_data", "skips_when_marked"}) {
    for (const Victim& victim : {flip_victim(), negate()}) {
      const Record record = timed(victim, cheat, 77, how);
      EXPECT_EQ(record.status, Status::Fail) << victim.op.name << " " << cheat;
      EXPECT_THAT(record.reason, HasSubstr("the timed runs did not compute the answer that was judged"));
    }
  }
}

/// Three sets, and one or two programs in a submission: what a set held is gone when it comes again.
TEST(ColdSets, SpareNoWorkWhenTheyComeAgain) {
  const How how{.caches = Caches::Cold,
                .rounds = is_on_a_cpu() ? 200 : 40'000,
                .cache_bytes = std::uint64_t{256} << 10};
  const Record honest = timed(flip_victim(), "honest", 77, how);
  ASSERT_TRUE(honest.perf) << honest.reason;
  const Record cheat = timed(flip_victim(), "skips_when_marked", 77, how);
  if (cheat.status == Status::Fail) return;
  ASSERT_TRUE(cheat.perf) << cheat.reason;
  EXPECT_GT(cheat.perf->time_us_p50, 0.5 * honest.perf->time_us_p50);
}

TEST(Memory, ThatProgramsMayNotWriteIsInspectedAfterEveryBlock) {
  for (const Caches caches : {Caches::Hot, Caches::Cold}) {
    for (const Victim& victim : {flip_victim(), negate()}) {
      const Record record =
          timed(victim, "marks_a_guard", 77, {.caches = caches, .cache_bytes = 1, .sample_ns = 20e6});
      EXPECT_EQ(record.status, Status::Fail) << victim.op.name;
      EXPECT_THAT(record.reason, HasSubstr("the timed runs changed memory that they may not write: 'x' was "
                                           "written before its start"));
      EXPECT_FALSE(record.perf);
    }
  }
}

TEST(Turns, AreTakenByHonestProgramsWithoutHarm) {
  for (const Victim& victim : {flip_victim(), negate()}) {
    const Record record = timed(victim, "honest", 77);
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
    ASSERT_TRUE(record.perf);
    EXPECT_EQ(record.perf->sets, 2);
    EXPECT_EQ(record.perf->verified_pct, 100);
    EXPECT_EQ(record.perf->output_hash, record.accuracy->output_hash) << "of the case's own data";
  }
}

TEST(Turns, AreTakenByTheSetsOfAColdRow) {
  const Record record = timed(flip_victim(), "honest", 77, {.caches = Caches::Cold});
  EXPECT_EQ(record.status, Status::Pass) << record.reason;
  EXPECT_EQ(record.perf->verified_pct, 100);
}

TEST(Turns, AreNotTakenWithoutASecretSeed) {
  const Record record = timed(flip_victim(), "honest", std::nullopt);
  ASSERT_TRUE(record.perf) << record.reason;
  EXPECT_EQ(record.perf->sets, 1);
}

}  // namespace

}  // namespace assay::faults
