#include "harness/base/status.h"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

constexpr int status_count = static_cast<int>(Status::Interrupted) + 1;

TEST(StatusTest, EveryStatusHasANameOfItsOwnThatParsesBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < status_count; ++i) {
    const auto status = static_cast<Status>(i);
    names.insert(name_of(status));
    EXPECT_EQ(parse_status(name_of(status)), status);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(status_count));
  EXPECT_EQ(names.count(""), 0U);
}

TEST(StatusTest, NamesStandBesideTheirStatus) {
  EXPECT_EQ(name_of(Status::Pass), "PASS");
  EXPECT_EQ(name_of(Status::ExpectedFail), "EXPECTED_FAIL");
  EXPECT_EQ(name_of(Status::Fail), "FAIL");
  EXPECT_EQ(name_of(Status::Mistrusted), "MISTRUSTED");
  EXPECT_EQ(name_of(Status::OutOfMemory), "OUT_OF_MEMORY");
  EXPECT_EQ(name_of(Status::UnexpectedPass), "UNEXPECTED_PASS");
  EXPECT_EQ(name_of(Status::DeviceLost), "DEVICE_LOST");
  EXPECT_EQ(name_of(Status::Missing), "MISSING");
  EXPECT_EQ(name_of(Status::Interrupted), "INTERRUPTED");
}

TEST(StatusTest, EachStatusHasItsClass) {
  EXPECT_EQ(class_of(Status::Pass), StatusClass::Fine);
  EXPECT_EQ(class_of(Status::Unsupported), StatusClass::Fine);
  EXPECT_EQ(class_of(Status::Invalid), StatusClass::Fine);
  EXPECT_EQ(class_of(Status::Skipped), StatusClass::Fine);
  EXPECT_EQ(class_of(Status::ExpectedFail), StatusClass::Fine);
  for (const Status status : {Status::Fail, Status::Mistrusted, Status::Suspect, Status::Crash,
                              Status::Timeout, Status::OutOfMemory, Status::Flaky, Status::UnexpectedPass}) {
    EXPECT_EQ(class_of(status), StatusClass::Failing) << name_of(status);
  }
  EXPECT_EQ(class_of(Status::DeviceLost), StatusClass::Infrastructure);
  EXPECT_EQ(class_of(Status::Missing), StatusClass::Infrastructure);
  EXPECT_EQ(class_of(Status::Interrupted), StatusClass::Infrastructure);
}

TEST(StatusTest, AnUnknownNameIsNoStatus) {
  EXPECT_EQ(parse_status("pass"), std::nullopt);
  EXPECT_EQ(parse_status(""), std::nullopt);
}

}  // namespace
}  // namespace assay
