#include "harness/commands/import/times_file.h"

#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

namespace assay::app {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class TimesFile : public ::testing::Test {
 protected:
  std::vector<ForeignTime> read(const std::string& text) const {
    return read_times(folder_.write("t", text));
  }
  std::string refusal(const std::string& text) const {
    return test::error_of([&] { read(text); });
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(TimesFile, IsCsvWithAHeader) {
  const auto times = read("id,us,source\nop/a/x/auto,2.5,PyTorch\nop/b/x/auto,3,\n");
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].id, "op/a/x/auto");
  EXPECT_EQ(times[0].us, 2.5);
  EXPECT_EQ(times[0].source, "PyTorch");
  EXPECT_THAT(times[1].place, EndsWith("t:3"));
}

TEST_F(TimesFile, IsAJsonArrayOfObjects) {
  const auto times = read(
      R"( [{"op": "q8ta_add", "shape": "1x8x4x4", "params": "zero_point=3", "cache": "cold", "us": 2.25}])");
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].op, "q8ta_add");
  EXPECT_EQ(times[0].shape, "1x8x4x4");
  EXPECT_EQ(times[0].params, "zero_point=3");
  EXPECT_EQ(times[0].cache, "cold");
  EXPECT_EQ(times[0].us, 2.25);
  EXPECT_THAT(times[0].place, EndsWith("t: entry 1"));
}

TEST_F(TimesFile, IsRefusedWithThePlaceOfWhatIsWrong) {
  EXPECT_THAT(refusal(""), HasSubstr("it has no time"));
  EXPECT_THAT(refusal("id,us\n"), HasSubstr("it has no time"));
  EXPECT_THAT(refusal("id,ms\na,1\n"),
              HasSubstr("t:1: 'ms' is no column; known are id, op, shape, params, cache, us"));
  EXPECT_THAT(refusal("id,us\na\n"), HasSubstr("t:2: it has 1 cells, the header has 2"));
  for (const char* us : {"", "fast", "0", "-1", "inf", "nan", "1e999", "1 "})
    EXPECT_THAT(refusal("id,us\na," + std::string(us) + "\n"),
                HasSubstr("t:2: us is '" + std::string(us) + "'"));
  EXPECT_THAT(refusal("op,us\na,1\n"), HasSubstr("t:2: give either the id of a row, or op and shape"));
  EXPECT_THAT(refusal("id,op,shape,us\na,b,c,1\n"), HasSubstr("give either"));
  EXPECT_THAT(refusal("id,us,cache\na,1,warm\n"), HasSubstr("cache is 'warm'; it is hot, cold or empty"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("entry 1: it is no object"));
  EXPECT_THAT(refusal("[{"), HasSubstr("it is no JSON array of objects"));
  EXPECT_THAT(refusal(R"([{"id": [], "us": 1}])"), HasSubstr("entry 1: 'id' is neither text nor a number"));
}

}  // namespace
}  // namespace assay::app
