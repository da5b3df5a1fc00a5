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
  Submission take() const { return take_submission(folder / "from", folder / "to"); }

  std::string refusal() const try {
    take();
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Usage);
    return folder.without_path(error.what());
  }

  test::TemporaryFolder folder;
};

TEST_F(SubmissionTest, HasCopiesOfWhatDiffers) {
  folder.write("from/q8ta_relu.comp", "mine");
  folder.write("from/common/mine.glslh", "my header");
  folder.write("from/q8ta_add.comp", test::read_file(ASSAY_SOURCE_DIR "/shaders/q8ta_add.comp"));
  folder.write("from/notes.txt", "no shader");
  const Submission taken = take();
  EXPECT_THAT(taken.files, ElementsAre("common/mine.glslh", "q8ta_relu.comp"));
  EXPECT_THAT(taken.unchanged, ElementsAre("q8ta_add.comp"));
  EXPECT_THAT(taken.findings, IsEmpty());
  EXPECT_EQ(folder.read("to/q8ta_relu.comp"), "mine");
  EXPECT_FALSE(fs::exists(folder / "to/q8ta_add.comp"));
  EXPECT_FALSE(fs::exists(folder / "to/notes.txt"));
}

TEST_F(SubmissionTest, FollowsNoLink) {
  folder.write("secret.txt", "secret");
  folder.write("from/q8ta_relu.comp", "mine");
  fs::create_symlink(folder / "secret.txt", folder / "from/link.glslh");
  folder.write("elsewhere/other.comp", "someone else's");
  fs::create_directory_symlink(folder / "elsewhere", folder / "from/linked");
  fs::create_symlink("nowhere", folder / "from/dangling.comp");
  const Submission taken = take();
  EXPECT_THAT(taken.files, ElementsAre("q8ta_relu.comp"));
  ASSERT_EQ(taken.findings.size(), 3U);
  for (const Finding& finding : taken.findings) EXPECT_EQ(finding.word, "symbolic_link");
  EXPECT_FALSE(fs::exists(folder / "to/link.glslh"));
  EXPECT_FALSE(fs::exists(folder / "to/linked"));
}

TEST_F(SubmissionTest, ReplacesNoKernelOfTheHarness) {
  folder.write("from/poison.comp", "mine");
  folder.write("from/ceilings/fma.comp", "mine");
  const Submission taken = take();
  EXPECT_THAT(taken.files, IsEmpty());
  ASSERT_EQ(taken.findings.size(), 2U);
  EXPECT_EQ(taken.findings[0].word, "replaces_harness_shader");
  EXPECT_FALSE(fs::exists(folder / "to/poison.comp"));
}

TEST_F(SubmissionTest, OfNothingIsRefused) {
  EXPECT_THAT(refusal(), HasSubstr("is not a folder"));
  fs::create_directory(folder / "from");
  EXPECT_THAT(refusal(), HasSubstr("holds no shader"));
  folder.write("from/q8ta_add.comp", test::read_file(ASSAY_SOURCE_DIR "/shaders/q8ta_add.comp"));
  EXPECT_THAT(refusal(), HasSubstr("equals assay's own"));
}

TEST_F(SubmissionTest, OfMoreThanAnybodyWritesIsRefused) {
  folder.write("from/q8ta_relu.comp", std::string(std::size_t{5} << 20, ' '));
  EXPECT_THAT(refusal(), HasSubstr("has more than 4194304 bytes"));
}

TEST_F(SubmissionTest, HasAHashOfItsFiles) {
  folder.write("from/q8ta_relu.comp", "mine");
  const std::string before = take().hash;
  EXPECT_EQ(take().hash, before);
  folder.write("from/q8ta_relu.comp", "mine!");
  EXPECT_NE(take().hash, before);
}

}  // namespace
}  // namespace assay::app
