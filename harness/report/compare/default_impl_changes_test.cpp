#include "harness/report/compare/default_impl_changes.h"

#include "harness/report/compare/compare.h"
#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Record with_impl(Record record, const std::string& impl) {
  record.info.id = record.info.id.substr(0, record.info.id.rfind('/') + 1) + impl;
  record.info.impl = impl;
  return record;
}

RunComparison default_impls_of(const std::vector<Record>& before, const std::vector<Record>& now) {
  RunReport base = test::report_of(before), next = test::report_of(now);
  next.run.run_id = "20260103T030405Z-2b3c4d";
  return compare_runs(std::vector{base}, std::vector{next});
}

const RowVerdict& row_of_impl(const RunComparison& comparison, const std::string& impl,
                              const std::string& name) {
  for (const RowVerdict& row : comparison.rows) {
    if (row.info.impl == impl && row.info.id.find('/' + name + '/') != std::string::npos) return row;
  }
  throw std::runtime_error("no row of " + name + " with impl " + impl);
}

TEST(DefaultImplChanges, AreTheReasonOfGoneAndNew) {
  const Record stays = test::passed("stays"), moves = test::passed("moves");
  const RunComparison both =
      default_impls_of({stays, with_impl(moves, "tiled")}, {stays, with_impl(moves, "auto")});
  const RowVerdict& gone = row_of_impl(both, "tiled", "moves");
  const RowVerdict& fresh = row_of_impl(both, "auto", "moves");
  EXPECT_EQ(gone.verdict, Verdict::Gone);
  EXPECT_THAT(gone.reason, EndsWith("; a case without `impl:` ran tiled and now runs auto: " + fresh.info.id +
                                    " is the same case"));
  EXPECT_EQ(fresh.verdict, Verdict::New);
  EXPECT_THAT(fresh.reason, EndsWith("now runs auto: " + gone.info.id + " is the same case"));
}

TEST(DefaultImplChanges, AreNotSaidOfCasesThatNameTheirImpls) {
  const Record both = test::passed("both");
  const RunComparison comparison = default_impls_of({with_impl(both, "tiled"), with_impl(both, "gemv")},
                                                    {with_impl(both, "gemv"), with_impl(both, "auto")});
  EXPECT_THAT(row_of_impl(comparison, "tiled", "both").reason, Not(HasSubstr("without `impl:`")));
}

TEST(DefaultImplChanges, AreNotSaidOfAnotherImplThanAuto) {
  const Record stays = test::passed("stays"), moves = test::passed("moves");
  const RunComparison comparison =
      default_impls_of({stays, with_impl(moves, "tiled")}, {stays, with_impl(moves, "gemv")});
  EXPECT_THAT(row_of_impl(comparison, "tiled", "moves").reason, Not(HasSubstr("without `impl:`")));
  EXPECT_THAT(row_of_impl(comparison, "gemv", "moves").reason, Not(HasSubstr("without `impl:`")));
}

}  // namespace
}  // namespace assay
