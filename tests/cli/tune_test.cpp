#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <regex>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <utility>
#include <vector>

// `assay tune`, and `assay run --tuning`.

namespace assay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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
  EXPECT_THAT(text("tuned", "accu.csv"), AllOf(HasSubstr(",tune,fill,"), Not(HasSubstr("(line 3)"))))
      << "accuracy rows keep the built-in defaults, also in the range, and have no column for others";
  const nlohmann::json made = nlohmann::json::parse(text("tuned", "run.json"));
  EXPECT_NE(made["inputs"]["tuning"], nullptr) << made["inputs"];
  EXPECT_THAT(made["inputs"].value("tuning_file", ""),
              StartsWith(file + ": made on Acme GPU 9, and this is "));

  ASSERT_EQ(run("plain", {"--tuning", "none"}).exit_code, 0);
  EXPECT_THAT(text("plain", "run.json"), Not(HasSubstr("tuning_file")));
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
  const ProcessResult taken = here({"run", "c.yaml", "--ceilings", "none", "--budget", "0.01", "--out", "t"});
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(text("t", "run.json"),
              AllOf(HasSubstr(R"("tuning": ")"),
                    HasSubstr(R"("tuning_file": "tuning/)" + file.filename().string() + '"')));
  EXPECT_THAT(taken.err, HasSubstr("tuning    'tuning/" + file.filename().string() + "' for "));

  const std::string made = read_file(file);
  folder.write("tuning/" + file.filename().string(),
               std::regex_replace(made, std::regex("driver: '.*'"), "driver: 'Acme 1'"));
  const ProcessResult ignored =
      here({"run", "c.yaml", "--ceilings", "none", "--budget", "0.01", "--out", "i"});
  EXPECT_EQ(ignored.exit_code, 0) << ignored.err;
  EXPECT_THAT(ignored.err, AllOf(HasSubstr(" is not taken for "), HasSubstr("made with the driver Acme 1,")));
  EXPECT_THAT(text("i", "run.json"),
              AllOf(HasSubstr(R"("tuning_file": "tuning/)" + file.filename().string() +
                              ": not taken: made with the driver Acme 1, and this is "),
                    Not(HasSubstr(R"("tuning": ")"))));

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

/// A copy that does as much needless work as its tunable `rounds` says: which values are better is no
/// question of noise. %ROUNDS% are the values, the first the default.
constexpr const char* copy_manifest = R"yaml(op: slow_copy
summary: a copy, with as much needless work as a tunable says
params:
  shape: {type: shape, rank: 2}
tensors:
  x: {dtype: f32, shape: shape}
  y: {dtype: f32, shape: shape, role: output}
reference: {op: view, with: {shape: shape, new_shape: shape, dtype: f32}, tensors: {x: x, y: y}}
impls:
  plain:
    tunables: {rounds: [%ROUNDS%]}
    dispatches:
      - shader: copy.comp
        workgroups: ["ceil_div(product(shape), 64)"]
        constants: {ROUNDS: rounds}
        push: {elements: product(shape), never: 0}
        bind: {x: x, y: y}
)yaml";
constexpr const char* copy_shader = R"(#version 450
layout(local_size_x = 64) in;
layout(constant_id = 1) const uint ROUNDS = 1;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push {
  uint elements;
  uint never;
};

void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= elements) return;
  uint work = i;
  for (uint round = 0; round < ROUNDS; ++round) work = work * 1664525 + 1013904223;
  y[i] = uintBitsToFloat(floatBitsToUint(x[i]) + work * never);
}
)";

/// `assay tune` of slow_copy, in a folder of its own.
class TuningOfACopy : public ::testing::Test {
 protected:
  void SetUp() override {
    folder.write("ops/slow_copy/copy.comp", copy_shader);
    // So slow a default, the first, that no pause of a busy machine makes another as slow.
    write_op("12000, 1, 2, 600");
    write_cases("[4, 64]");
  }
  ~TuningOfACopy() override {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void write_op(const std::string& rounds) const {
    folder.write("ops/slow_copy/op.yaml", std::regex_replace(copy_manifest, std::regex("%ROUNDS%"), rounds));
  }
  void write_cases(const std::string& shapes) const {
    folder.write("c.yaml",
                 "op: slow_copy\ncases:\n  - {name: copy, mode: perf, shape: {each: [" + shapes + "]}}\n");
  }
  Command command(const std::vector<std::string>& more) const {
    std::vector<std::string> words{ASSAY_BINARY, "tune", "c.yaml", "--ops", "ops",
                                   "--ceilings", "none", "--out",  "t.yaml"};
    words.insert(words.end(), more.begin(), more.end());
    return {.words = std::move(words), .environment = {}, .directory = folder / "."};
  }
  ProcessResult tune(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--budget", "0.1s", "--row-budget", "0.01"});
    return test::run(command(more));
  }

  /// Starts a long search, and sends SIGINT when it has logged these words.
  void interrupt_after(const std::string& words) {
    pid_ = start(command({"--budget", "10m", "--row-budget", "0.25"}), folder / "stdout", folder / "stderr");
    for (int i = 0; i < 5000 && err().find(words) == std::string::npos; ++i) {  // 100 s: a hang
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ASSERT_THAT(err(), HasSubstr(words));
    ::kill(pid_, SIGINT);
  }
  int exit_code_of_interrupted() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string out() const { return read_file(folder / "stdout"); }
  std::string err() const { return read_file(folder / "stderr"); }
  std::string made() const { return read_file(folder / "t.yaml"); }
  bool has_made() const { return fs::exists(folder / "t.yaml"); }

  TemporaryFolder folder;

 private:
  int pid_ = 0;
};

/// "0.022x (0.007 .. 0.048)" after these words.
std::string ratio_after(const std::string& words, const std::string& text) {
  std::smatch found;
  const std::regex ratio(words + R"(.*: (\d\.\d{3}x \(\S+ \.\. \S+\)))");
  return std::regex_search(text, found, ratio) ? found[1].str() : "no ratio after " + words;
}

TEST_F(TuningOfACopy, ACandidateThatHangsCostsItselfAlone) {
  const ProcessResult tuned = tune({"--inject-fault", "host-loop@*candidate_2*", "--hang-limit", "8"});
  EXPECT_EQ(tuned.exit_code, 1) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("left out at all shapes: rounds=2 is TIMEOUT"));
  EXPECT_THAT(made(), HasSubstr("tune: {rounds: 1}"));
}

TEST_F(TuningOfACopy, AnEntryHasTheFiguresOfTheConfirmation) {
  const ProcessResult tuned = tune();
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_EQ(ratio_after("slow_copy plain", tuned.out), ratio_after("confirmed slow_copy plain", tuned.err));
  std::smatch ratio;
  const std::string text = made();
  ASSERT_TRUE(std::regex_search(text, ratio, std::regex(R"(ratio: (0\.\d+))"))) << text;
  EXPECT_LT(std::stod(ratio[1]), 0.9);
}

TEST_F(TuningOfACopy, AStopWhileItConfirmsKeepsWhatWasConfirmed) {
  write_cases("[4, 64], [8, 64]");
  interrupt_after("confirmed slow_copy plain shape=4x64: ");
  EXPECT_EQ(exit_code_of_interrupted(), 0) << err();
  EXPECT_THAT(out(), AllOf(HasSubstr("tune: 1 entry in t.yaml"), HasSubstr("; stopped")));
  EXPECT_THAT(made(), AllOf(HasSubstr("when: {shape: [3..5, "), HasSubstr("shapes: 1\n")));
}

TEST_F(TuningOfACopy, AStopWhileItSearchesSaysThatNothingIsWritten) {
  write_cases("[4, 64], [8, 64], [16, 64]");
  interrupt_after("slow_copy plain shape=4x64: ");
  EXPECT_EQ(exit_code_of_interrupted(), 1) << err();
  EXPECT_EQ(out(), "tune: stopped before anything better was confirmed; no tuning file is written\n");
  EXPECT_FALSE(has_made());
}

TEST_F(TuningOfACopy, DefaultsThatAreTheBestAreASuccess) {
  write_op("1, 600");
  const ProcessResult tuned = tune();
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out, StartsWith("tune: nothing clearly better than the built-in defaults was found\n"
                                    "tune: 0 entries in t.yaml ("));
  EXPECT_THAT(made(), HasSubstr("entries: []"));
}

TEST_F(TuningOfACopy, ASearchOfNothingIsNoSuccess) {
  const ProcessResult tuned = tune({"--inject-fault", "segfault@*defaults*"});
  EXPECT_EQ(tuned.exit_code, 1) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out,
              AllOf(HasSubstr("not tuned: with the built-in defaults it is CRASH"),
                    HasSubstr("tune: no point was searched and confirmed; no tuning file is written\n")));
  EXPECT_FALSE(has_made());
}

TEST_F(TuningOfACopy, OverwriteReplacesTheEntriesThatAreMeasuredAgain) {
  ASSERT_EQ(tune().exit_code, 0);
  std::string older = made();
  older.erase(older.find("entries:"));
  older += R"(entries:
  - {op: slow_copy, impl: plain, when: {shape: [4, 64]}, tune: {rounds: 600}, shapes: 1}
  - {op: slow_copy, impl: plain, when: {shape: [32, 64]}, tune: {rounds: 600}, shapes: 1}
)";
  folder.write("t.yaml", older);
  fs::remove_all(folder / "assay-out");

  const ProcessResult refused = tune();
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("'t.yaml' exists; choose another --out, or give --overwrite"));
  EXPECT_THAT(refused.err, Not(HasSubstr("1 point of 1 kind")));
  EXPECT_FALSE(fs::exists(folder / "assay-out")) << "something ran";
  EXPECT_EQ(made(), older);

  const ProcessResult tuned = tune({"--overwrite"});
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("tune: of 2 entries before, 1 replaced and 1 kept\n"));
  EXPECT_THAT(made(), AllOf(HasSubstr("when: {shape: [3..5, "), HasSubstr("when: {shape: [32, 64]}"),
                            Not(HasSubstr("when: {shape: [4, 64]}"))));
}

}  // namespace
}  // namespace assay::test
