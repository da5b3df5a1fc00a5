#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

// `assay tune`, and `assay run --tuning`.

namespace assay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

/// Two shapes of one op. The first is judged and timed, the second judged alone.
constexpr const char* clone_cases = R"(op: q8ta_clone
cases:
  - {name: small, mode: both, impl: tiled, shape: [1, 16, 8, 8], forms: {x: buffer/4W4C, y: buffer/4W}}
  - {name: other, impl: tiled, shape: [1, 4, 8, 8], forms: {x: buffer/4W4C, y: buffer/4W}}
)";

fs::path file_named(const fs::path& folder, const std::string& name) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == name) return entry.path();
  }
  ADD_FAILURE() << "there is no " << name << " in " << folder;
  return {};
}

class Tuning : public ::testing::Test {
 protected:
  void SetUp() override { folder.write("c.yaml", clone_cases); }

  std::string write(const std::string& name, const std::string& entries) const {
    return folder.write(name, "device: Acme GPU 9\nentries:\n" + entries);
  }

  /// `assay run` of the cases with a quick measurement.
  ProcessResult run(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> words{"run",  folder / "c.yaml", "--out", folder / out, "--ceilings",
                                   "none", "--budget",        "0.01"};
    words.insert(words.end(), more.begin(), more.end());
    return assay(words);
  }
  std::string text(const std::string& out, const std::string& name) const {
    return read_file(file_named(folder / out, name));
  }

  TemporaryFolder folder;
};

std::string entry_of_small_with(int local_size) {
  return "  - {op: q8ta_clone, impl: tiled, when: {shape: [1, 8..16, 8, 8]}, tune: {local_size: " +
         std::to_string(local_size) + "}}\n";
}

const std::string entry_of_small = entry_of_small_with(64);

TEST_F(Tuning, ARunTakesTheDefaultsOfAFileAndSaysSo) {
  const std::string file = write("t.yaml", entry_of_small);
  const ProcessResult tuned = run("tuned", {"--tuning", file});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr("t.yaml' for "));
  EXPECT_THAT(tuned.err, HasSubstr(": 1 entry; it was made on Acme GPU 9, and this is "));
  EXPECT_THAT(text("tuned", "perf.csv"), HasSubstr(",local_size=64 (line 3),"));
  EXPECT_THAT(text("tuned", "accu.csv"), Not(HasSubstr("(line 3)")))
      << "accuracy rows keep the built-in defaults, also in the range";
  const nlohmann::json made = nlohmann::json::parse(text("tuned", "run.json"));
  EXPECT_NE(made["inputs"]["tuning"], nullptr) << made["inputs"];

  ASSERT_EQ(run("plain", {"--tuning", "none"}).exit_code, 0);
  EXPECT_THAT(text("plain", "perf.csv"), Not(HasSubstr("(line 3)")));
  const ProcessResult refused = assay({"compare", folder / "plain", folder / "tuned"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("give --allow-tuning to compare them anyway"));
  const ProcessResult allowed =
      assay({"compare", folder / "plain", folder / "tuned", "--allow-tuning", "--fail-on", "none"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  const std::string other = write("other.yaml", entry_of_small_with(32));
  ASSERT_EQ(run("other", {"--tuning", other}).exit_code, 0);
  const ProcessResult other_values = assay({"compare", folder / "tuned", folder / "other"});
  EXPECT_EQ(other_values.exit_code, 2) << "both are tuned, but not alike";
  EXPECT_THAT(other_values.err,
              HasSubstr("with other defaults of a tuning file in some runs than in others"));

  ASSERT_EQ(assay({"run", "--resume", folder / "tuned"}).exit_code, 0);
  write("t.yaml", entry_of_small + "# another file\n");
  const ProcessResult resumed = assay({"run", "--resume", folder / "tuned"});
  EXPECT_EQ(resumed.exit_code, 2) << resumed.out;
  EXPECT_THAT(resumed.err, HasSubstr("the entries of the tuning file have changed"));
}

TEST_F(Tuning, ABadFileIsAnErrorAtItsPlaceBeforeAnythingRuns) {
  const std::string file = write("t.yaml", "  - {op: q8ta_clone, impl: tiled, tune: {local_size: 2000}}\n");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--dry-run"}, {"--no-isolation"}}) {
    std::vector<std::string> words{"--tuning", file};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessResult result = run("out", words);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("reading the tuning file"),
                      HasSubstr("t.yaml:3:42: error: tune.local_size must be in 1..1024, got 2000")));
    EXPECT_FALSE(fs::exists(folder / "out"));
  }
  const ProcessResult gone = run("out", {"--tuning", folder / "gone.yaml"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_THAT(gone.err, HasSubstr("gone.yaml: error: no such file"));
}

TEST_F(Tuning, TunesATinyCaseAndRunsWithTheFileOfTheDevice) {
  folder.write("c.yaml", R"(op: q8ta_clone
cases:
  - {name: small, mode: perf, cache: both, impl: tiled, shape: [1, 16, 8, 8], forms: {x: buffer/4W4C, y: buffer/4W}}
)");  // too small to be cold: its hot row alone is tuned
  const auto here = [&](std::vector<std::string> words) {
    words.insert(words.begin(), ASSAY_BINARY);
    return test::run({.words = std::move(words), .environment = {}, .directory = folder / "."});
  };
  const std::vector<std::string> words{"tune",       "c.yaml",     "--budget",       "0.1s",
                                       "--ceilings", "none",       "--row-budget",   "0.01",
                                       "--csv",      "t.csv",      "--inject-fault", "segfault@*candidate_2*",
                                       "--tunable",  "local_size", "--exhaustive",   "4"};
  const ProcessResult tuned = here(words);
  ASSERT_EQ(tuned.exit_code, 1) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("left out at all shapes: local_size="));
  EXPECT_THAT(tuned.out, HasSubstr(" is CRASH"));
  const fs::path file =
      file_named(folder / "tuning", fs::directory_iterator(folder / "tuning")->path().filename());
  EXPECT_THAT(read_file(file), AllOf(HasSubstr("device: '"), HasSubstr("version: '"), HasSubstr("entries:")));
  const std::string table = read_file(folder / "t.csv");
  EXPECT_THAT(table, HasSubstr("q8ta_clone tiled x=buffer/4W4C y=buffer/4W shape=1x16x8x8,local_size="));
  EXPECT_THAT(table, AllOf(HasSubstr(",PASS,"), HasSubstr(",CRASH,"))) << "which costs itself alone";
  EXPECT_THAT(tuned.out, HasSubstr(" in tuning/" + file.filename().string()));
  const ProcessResult taken = here({"run", "c.yaml", "--ceilings", "none", "--budget", "0.01"});
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(taken.err, HasSubstr("tuning    'tuning/" + file.filename().string() + "' for "));

  const std::string made = read_file(file);
  folder.write("tuning/" + file.filename().string(),
               std::regex_replace(made, std::regex("driver: '.*'"), "driver: 'Acme 1'"));
  const ProcessResult ignored = here({"run", "c.yaml", "--ceilings", "none", "--budget", "0.01"});
  EXPECT_EQ(ignored.exit_code, 0) << ignored.err;
  EXPECT_THAT(ignored.err, AllOf(HasSubstr(" is not taken for "), HasSubstr("made with the driver Acme 1,")));

  const ProcessResult again = here(words);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("exists; choose another --out, or give --overwrite"));
  const ProcessResult shown = here({"tune", "--table", "t.csv"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("coordinate search"), HasSubstr("random search")));

  folder.write("tuning/" + file.filename().string(), "device: Acme GPU 9\nentries: []\n");
  const ProcessResult other = here({"run", "c.yaml", "--ceilings", "none"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err,
              HasSubstr("but it says that it is for Acme GPU 9; name a file with --tuning, or none"));
}

TEST_F(Tuning, SaysWhyNothingCanBeTuned) {
  const ProcessResult none =
      assay({"tune", folder / "c.yaml", "--op", "nothing", "--out", folder / "t.yaml"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("none of 2 is selected by --op 'nothing'"));
  folder.write("set.yaml", R"(op: q8ta_clone
cases:
  - {name: set, mode: perf, impl: tiled, shape: [4], forms: {x: buffer/4W, y: buffer/4W}, tune: {local_size: 64}}
)");
  const ProcessResult set = assay({"tune", folder / "set.yaml", "--out", folder / "t.yaml"});
  EXPECT_EQ(set.exit_code, 2);
  EXPECT_THAT(set.err, HasSubstr("tuning: none of 1 timed case has an impl with tunables that runs on "));
  EXPECT_EQ(assay({"tune", "--budget", "tomorrow"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(folder / "t.yaml"));
}

}  // namespace
}  // namespace assay::test
