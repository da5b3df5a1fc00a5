#include "harness/app/judge/submission.h"

#include "harness/base/error.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SubmissionTest : public testing::Test {
 protected:
  Submission take() const { return take_submission(folder_ / "from", folder_ / "to"); }

  std::string refusal() const try {
    take();
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Usage);
    return folder_.without_path(error.what());
  }

  test::TemporaryFolder folder_;
};

TEST_F(SubmissionTest, HasCopiesOfWhatDiffers) {
  folder_.write("from/q8ta_relu.comp", "mine");
  folder_.write("from/common/mine.glslh", "my header");
  folder_.write("from/q8ta_add.comp", test::read_file(ASSAY_SOURCE_DIR "/shaders/q8ta_add.comp"));
  folder_.write("from/notes.txt", "no shader");
  const Submission taken = take();
  EXPECT_THAT(taken.files, ElementsAre("common/mine.glslh", "q8ta_relu.comp"));
  EXPECT_THAT(taken.unchanged, ElementsAre("q8ta_add.comp"));
  EXPECT_THAT(taken.findings, IsEmpty());
  EXPECT_EQ(folder_.read("to/q8ta_relu.comp"), "mine");
  EXPECT_FALSE(fs::exists(folder_ / "to/q8ta_add.comp"));
  EXPECT_FALSE(fs::exists(folder_ / "to/notes.txt"));
}

TEST_F(SubmissionTest, FollowsNoLink) {
  folder_.write("secret.txt", "secret");
  folder_.write("from/q8ta_relu.comp", "mine");
  fs::create_symlink(folder_ / "secret.txt", folder_ / "from/link.glslh");
  folder_.write("elsewhere/other.comp", "of somebody else");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "from/linked");
  fs::create_symlink("nowhere", folder_ / "from/dangling.comp");
  const Submission taken = take();
  EXPECT_THAT(taken.files, ElementsAre("q8ta_relu.comp"));
  ASSERT_EQ(taken.findings.size(), 3U);
  for (const Finding& finding : taken.findings) EXPECT_EQ(finding.word, "symbolic_link");
  EXPECT_FALSE(fs::exists(folder_ / "to/link.glslh"));
  EXPECT_FALSE(fs::exists(folder_ / "to/linked"));
}

TEST_F(SubmissionTest, ReplacesNoKernelOfTheHarness) {
  folder_.write("from/poison.comp", "mine");
  folder_.write("from/ceilings/fma.comp", "mine");
  const Submission taken = take();
  EXPECT_THAT(taken.files, IsEmpty());
  ASSERT_EQ(taken.findings.size(), 2U);
  EXPECT_EQ(taken.findings[0].word, "replaces_harness_shader");
  EXPECT_FALSE(fs::exists(folder_ / "to/poison.comp"));
}

TEST_F(SubmissionTest, OfNothingIsRefused) {
  EXPECT_THAT(refusal(), HasSubstr("is not a folder"));
  fs::create_directory(folder_ / "from");
  EXPECT_THAT(refusal(), HasSubstr("holds no shader"));
  folder_.write("from/q8ta_add.comp", test::read_file(ASSAY_SOURCE_DIR "/shaders/q8ta_add.comp"));
  EXPECT_THAT(refusal(), HasSubstr("just as assay has it"));
}

TEST_F(SubmissionTest, OfMoreThanAnybodyWritesIsRefused) {
  folder_.write("from/q8ta_relu.comp", std::string(std::size_t{5} << 20, ' '));
  EXPECT_THAT(refusal(), HasSubstr("has more than 4194304 bytes"));
}

TEST_F(SubmissionTest, HasAHashOfItsFiles) {
  folder_.write("from/q8ta_relu.comp", "mine");
  const std::string before = take().hash;
  EXPECT_EQ(take().hash, before);
  folder_.write("from/q8ta_relu.comp", "mine!");
  EXPECT_NE(take().hash, before);
}

}  // namespace
}  // namespace assay::app
