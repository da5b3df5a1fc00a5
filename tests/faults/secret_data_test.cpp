#include "harness/engine/accuracy/data_set.h"
#include "tests/faults/bench.h"
#include "tests/support/small_op.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Rows of mode perf are judged on data that no shader can know.

namespace assay::faults {
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

}  // namespace
}  // namespace assay::faults
