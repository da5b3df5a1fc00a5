#include "harness/report/journal/journal.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// GLSL of --shaders that does not mean well: it is compiled in a process of its own.

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The reason of the row that the shader `text` belongs to, and the run's result.
class Shaders {
 public:
  explicit Shaders(const std::string& text) {
    folder_.write("mine/q8ta_pixel_shuffle.comp", text);
    result = run({.words = {ASSAY_BINARY, "run", folder_.write("c.yaml", cases), "--shaders",
                            folder_ / "mine", "--out", folder_ / "out"},
                  .environment = {{"XDG_CACHE_HOME", folder_ / "cache"}}});
    if (std::filesystem::exists(folder_ / "out"))
      report = read_journal(device_folder(folder_ / "out") / "journal.jsonl");
  }

  ProcessResult result;
  RunReport report;

 private:
  static constexpr const char* cases = R"(op: q8ta_pixel_shuffle
cases:
  - name: small
    upscale_factor: 2
    shape: [1, 16, 4, 4]
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
)";
  TemporaryFolder folder_;
};

/// Each level includes the previous level several times.
std::string macro_bomb(int levels, const std::string& what) {
  std::string text = "#version 450\n#define X0 " + what + "\n";
  for (int i = 1; i <= levels; ++i) {
    const std::string below = " X" + std::to_string(i - 1);
    text += "#define X" + std::to_string(i);
    for (int k = 0; k < 10; ++k) text += below;
    text += '\n';
  }
  return text + "void main() { int x = 0; X" + std::to_string(levels) + " }\n";
}

TEST(HostileShaders, AMacroBombFailsItsRowInBoundsOfTimeAndMemory) {
  const Shaders bomb(macro_bomb(9, "x = x + 1;"));
  EXPECT_EQ(bomb.result.exit_code, 1) << bomb.result.out << bomb.result.err;
  ASSERT_EQ(bomb.report.records.size(), 1U);
  EXPECT_EQ(bomb.report.records[0].status, Status::Fail);
  EXPECT_THAT(bomb.report.records[0].reason, HasSubstr("do macros expand without end?"));
#ifndef __SANITIZE_ADDRESS__  // which no limit of memory goes with
  EXPECT_LE(bomb.result.max_rss_kib, 2 << 20) << "of the run and the compiler that it waited for";
#endif
}

TEST(HostileShaders, AnIncludeNamesNoFileOutsideOfTheFolder) {
  for (const std::string include : {"/etc/passwd", "../../../../../../etc/passwd", "common/../../c.yaml"}) {
    const Shaders shaders("#version 450\n#include \"" + include + "\"\nvoid main() {}\n");
    EXPECT_EQ(shaders.result.exit_code, 1) << shaders.result.err;
    ASSERT_EQ(shaders.report.records.size(), 1U);
    EXPECT_THAT(shaders.report.records[0].reason,
                HasSubstr("an include names a file below the shader folder"));
    EXPECT_THAT(shaders.report.records[0].reason, Not(HasSubstr("root:")));
  }
}

TEST(HostileShaders, AnErrorIsToldAsThatOfAnEmbeddedOne) {
  const Shaders shaders("#version 450\nvoid main() { nothing; }\n");
  EXPECT_EQ(shaders.result.exit_code, 1) << shaders.result.err;
  ASSERT_EQ(shaders.report.records.size(), 1U);
  EXPECT_THAT(shaders.report.records[0].reason,
              HasSubstr("mine/q8ta_pixel_shuffle.comp:2: error: 'nothing' : undeclared identifier\n"
                        "    2 | void main() { nothing; }"));
}

}  // namespace
}  // namespace assay::test
