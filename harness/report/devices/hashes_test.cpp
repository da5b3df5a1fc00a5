#include "harness/report/devices/hashes.h"

#include "tests/support/records.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

Record hashed(const std::string& name, const std::string& hash, const std::string& mode = "accu") {
  Record record = test::passed(name);
  record.info.mode = mode;
  record.accuracy->output_hash = hash;
  return record;
}

const std::vector<std::string> devices = {"A", "Bee", "C"};

TEST(CompareHashes, CountsWhatIsEqualEverywhereSomewhereAndAlone) {
  const std::vector<RunReport> reports = {
      test::report_of({hashed("all", "1"), hashed("two", "2"), hashed("one", "3")}),
      test::report_of({hashed("all", "1"), hashed("two", "2")}), test::report_of({hashed("all", "1")})};
  const HashComparison comparison = compare_hashes(reports);
  EXPECT_EQ(comparison.equal, 1U);
  EXPECT_EQ(comparison.partial, 1U);
  EXPECT_EQ(comparison.single, 1U);
  EXPECT_TRUE(comparison.compared_any());
  EXPECT_EQ(hash_totals(comparison),
            "1 exact output equal on 3 devices, 1 on some of them; 1 on one device only, not compared\n");
  EXPECT_EQ(hash_differences(comparison, devices), "");
}

TEST(CompareHashes, NamesEveryDifference) {
  Record other_data = hashed("data", "6");
  other_data.accuracy->input_hash = "other";
  const std::vector<RunReport> reports = {
      test::report_of({hashed("same", "1"), hashed("odd", "2"), hashed("data", "5")}),
      test::report_of({hashed("odd", "2"), hashed("same", "1")}),
      test::report_of({hashed("same", "1"), hashed("odd", "4"), other_data})};
  const HashComparison comparison = compare_hashes(reports);
  EXPECT_EQ(hash_totals(comparison), "1 exact output equal on 3 devices; 2 differ\n");
  EXPECT_EQ(hash_differences(comparison, devices),
            "shuffle/odd/1x16x4x8/4W4C.4W4C/fused\n"
            "  A    2\n"
            "  Bee  2\n"
            "  C    4\n"
            "shuffle/data/1x16x4x8/4W4C.4W4C/fused  (the inputs differ: different data or seed)\n"
            "  A    5\n"
            "  Bee  -\n"
            "  C    6\n");
}

TEST(CompareHashes, TakesOnlyExactOutputs) {
  Record bounded = hashed("bounded", "1");
  bounded.accuracy->hash_is_portable = false;
  Record other = bounded;
  other.accuracy->output_hash = "2";
  const std::vector<RunReport> reports = {test::report_of({bounded}), test::report_of({other})};
  EXPECT_FALSE(compare_hashes(reports).compared_any());
  EXPECT_EQ(compare_hashes(reports).single, 0U);
}

TEST(CompareHashes, CountsACaseOfBothModesOnceByItsAccuracyRow) {
  const std::vector<RunReport> reports = {
      test::report_of({hashed("a", "1"), hashed("a", "2", "perf"), hashed("b", "7", "perf")}),
      test::report_of({hashed("a", "3", "perf"), hashed("a", "1"), hashed("b", "7", "perf")})};
  EXPECT_EQ(hash_totals(compare_hashes(reports)), "2 exact outputs equal on 2 devices\n");
}

}  // namespace
}  // namespace assay
