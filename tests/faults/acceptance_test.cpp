#include "harness/engine/accuracy/data_set.h"
#include "harness/tensor/npy/npy.h"
#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"
#include "tests/faults/grouped_sum.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Which answers are accepted: bands, unit errors, values of files, tolerances.

namespace assay::faults {
namespace {

using ::testing::HasSubstr;

const Op& grouped() {
  static const Op op = grouped_sum();
  return op;
}

Case grouped_case(const std::string& impl, FillKind fill = FillKind::Normal) {
  return fault_case(grouped(), impl, grouped_sum_params(20'000, 37), fill);
}

TEST(Banded, EveryOrderOfAddingIsRightWithinItsUnitError) {
  for (const char* impl : {"up", "down"}) {
    const Record record = Bench::shared().run(grouped_case(impl));
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
    ASSERT_TRUE(record.accuracy.has_value());
    EXPECT_EQ(record.accuracy->output_class, OutputClass::Banded);
    EXPECT_GT(record.accuracy->expected_flips, 1);
    EXPECT_LT(record.accuracy->expected_flips, 2000) << "a band is narrow";
    EXPECT_FALSE(record.accuracy->hash_is_portable);
    EXPECT_LE(record.accuracy->err_over_bound, 1);
  }
}

TEST(Banded, RightAnswersAreTimed) {
  const Record record = Bench::shared().run(grouped_case("down"), Mode::Perf);
  EXPECT_EQ(record.status, Status::Pass) << record.reason;
  EXPECT_TRUE(record.perf.has_value());
}

TEST(Banded, ABiasThatMovesValuesOverTiesIsFound) {
  const Record record = Bench::shared().run(grouped_case("biased"));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_EQ(record.accuracy->metric, "wrong_value");
  EXPECT_EQ(record.accuracy->missed, "reference");
  EXPECT_THAT(record.reason, HasSubstr(" by the reference, got "));
}

TEST(Banded, ExactTiesOfExactStepsMustMatch) {
  const Record right = Bench::shared().run(grouped_case("up", FillKind::Ties));
  EXPECT_EQ(right.status, Status::Pass) << right.reason;
  EXPECT_EQ(right.accuracy->flips, 0);
  EXPECT_EQ(right.accuracy->expected_flips, 0);
  const Record wrong = Bench::shared().run(grouped_case("half_away", FillKind::Ties));
  EXPECT_EQ(wrong.status, Status::Fail);
  EXPECT_EQ(wrong.accuracy->metric, "wrong_value");
}

TEST(Banded, ALargerErrorIsRightWhereItIsStatedAndWrongWhereItIsNot) {
  const Record honest = Bench::shared().run(grouped_case("coarse"));
  EXPECT_EQ(honest.status, Status::Pass) << honest.reason;
  EXPECT_GT(honest.accuracy->flips, 0);
  EXPECT_LT(static_cast<double>(honest.accuracy->flips), honest.accuracy->expected_flips);
  const Record boastful = Bench::shared().run(grouped_case("boastful"));
  EXPECT_EQ(boastful.status, Status::Fail);
  EXPECT_EQ(boastful.accuracy->expected_flips, 0);
  EXPECT_EQ(boastful.accuracy->mismatches, honest.accuracy->flips);
}

TEST(Banded, AnImplThatStatesNoErrorIsNotJudged) {
  const Record record = Bench::shared().run(grouped_case("silent"));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_THAT(record.reason,
              HasSubstr("the reference of grouped_sum gives magnitudes for 'y', but impl 'silent' "
                        "states no unit error"));
}

/// Cases of matmul whose expected values come from a file.
class ExpectedFile : public testing::Test {
 protected:
  /// `changed` elements of the file are one more than the reference's.
  Case test_case(const std::string& impl, std::int64_t changed, const Tolerance& tolerance = {}) const {
    Case made = fault_case(op, impl, matmul_params(5, 67, 13));
    HostTensor values = make_data_set(made).expected[0].values;
    for (std::int64_t i = 0; i < changed; ++i) ++values.as<std::int32_t>()[static_cast<std::size_t>(7 * i)];
    write_npy(folder.path() / "y.npy", values);
    made.expected_files.edit()["y"] = (folder.path() / "y.npy").string();
    made.tolerance = tolerance;
    return made;
  }

  Op op = matmul();
  test::TemporaryFolder folder;
};

TEST_F(ExpectedFile, OfTheReferencesValuesIsMet) {
  const Record record = Bench::shared().run(test_case("correct", 0));
  EXPECT_EQ(record.status, Status::Pass) << record.reason;
  EXPECT_EQ(record.accuracy->missed, "");
}

TEST_F(ExpectedFile, WhenMissedItIsSaidWhetherTheReferenceIsMet) {
  const Record record = Bench::shared().run(test_case("correct", 3));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_EQ(record.accuracy->missed, "file");
  EXPECT_EQ(record.accuracy->mismatches, 3);
  EXPECT_THAT(record.reason, HasSubstr("y.npy, got "));
  EXPECT_THAT(record.reason,
              HasSubstr("; the kernel agrees with assay's CPU reference, and the file disagrees with it"));
}

TEST_F(ExpectedFile, WhenBothAreMissedBothAreTold) {
  const Record record = Bench::shared().run(test_case("last_k_dropped", 3));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_EQ(record.accuracy->missed, "file and reference");
  EXPECT_THAT(record.reason, HasSubstr("; the kernel disagrees with assay's CPU reference too: y["));
  EXPECT_THAT(record.reason, HasSubstr(" by the reference, got "));
}

TEST_F(ExpectedFile, ATolerancePassesAndIsInTheRecord) {
  const Tolerance tolerance{.off_by = 1, .share = 0.1, .reason = "made by another library"};
  const Record record = Bench::shared().run(test_case("correct", 6, tolerance));
  EXPECT_EQ(record.status, Status::Pass) << record.reason;
  EXPECT_EQ(record.accuracy->tolerance, "off_by=1 share=0.1");
  EXPECT_EQ(record.accuracy->tolerance_reason, "made by another library");
  EXPECT_EQ(record.accuracy->max_abs_err, 1);
  EXPECT_TRUE(Bench::shared().run(test_case("correct", 6, tolerance), Mode::Perf).perf.has_value());
}

TEST_F(ExpectedFile, MoreElementsThanTheShareFail) {
  const Tolerance tolerance{.off_by = 1, .share = 0.1, .reason = "made by another library"};
  const Record record = Bench::shared().run(test_case("correct", 7, tolerance));
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_EQ(record.accuracy->mismatches, 7);
  EXPECT_EQ(record.accuracy->missed, "file");
  EXPECT_THAT(record.reason, HasSubstr("7 elements need the tolerance (off_by=1 share=0.1), 6 may"));
}

TEST_F(ExpectedFile, ATimedRowIsHeldAgainstItToo) {
  const Record record = Bench::shared().run(test_case("correct", 3), Mode::Perf);
  EXPECT_EQ(record.status, Status::Fail);
  EXPECT_FALSE(record.perf.has_value());
}

}  // namespace
}  // namespace assay::faults
