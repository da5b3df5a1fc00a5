#include "harness/report/page/packed.h"

#include "harness/report/page/json_columns.h"

#include <gmock/gmock.h>

#include <limits>

namespace assay {
namespace {

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE\xFD"), "//79");
}

TEST(JsonNumber, KeepsFiveDigitsAndNamesWhatIsNotFinite) {
  EXPECT_EQ(json_number(123.456789).dump(), "123.46");
  EXPECT_EQ(json_number(0.000012345678).dump(), "1.2346e-05");
  EXPECT_EQ(json_number(123456789).dump(), "123460000");
  EXPECT_EQ(json_number(-2.5).dump(), "-2.5");
  EXPECT_EQ(json_number(0).dump(), "0");
  EXPECT_EQ(json_number(3, 3).dump(), "3");
  EXPECT_EQ(json_number(std::numeric_limits<double>::infinity()).dump(), "\"inf\"");
  EXPECT_EQ(json_number(std::numeric_limits<double>::quiet_NaN()).dump(), "\"nan\"");
}

TEST(WordColumn, TellsEachWordOnce) {
  WordColumn column;
  for (const char* word : {"b", "a", "b", ""}) column.add(word);
  EXPECT_EQ(json_dump(column.json()), R"({"words":["b","a",""],"rows":[0,1,0,2]})");
}

}  // namespace
}  // namespace assay
