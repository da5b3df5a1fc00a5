#include "tests/faults/seeded/fault_list.h"

#include "harness/report/journal/journal.h"
#include "tests/support/assay_binary.h"
#include "tests/support/drawn.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tree_shader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fnmatch.h>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace assay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* one_fault = R"(- name: left_out
  shader: copy.comp
  was: a + b
  is: a
  filter: "view/*"
  tier: [smoke, ci]
)";

SeededFault fault(bool all = false) {
  return {.name = "left_out", .shader = "copy.comp", .was = "a + b", .is = "a", .all = all};
}

TEST(FaultList, IsRead) {
  const TemporaryFolder folder;
  const std::vector<SeededFault> faults = read_faults(folder.write("f.yaml", one_fault));
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].name, "left_out");
  EXPECT_EQ(faults[0].rows, "view/*");
  EXPECT_THAT(faults[0].tiers, ElementsAre("smoke", "ci"));
  EXPECT_EQ(faults[0].at_least, 2U);
  EXPECT_EQ(faults[0].cases, "");
  const std::string of_a_model = std::string(one_fault) + "  cases: cases/models/refinenet\n";
  EXPECT_EQ(read_faults(folder.write("f.yaml", of_a_model)).at(0).cases, "cases/models/refinenet");
}

TEST(FaultList, MayHaveAWordOfTheDiagnosis) {
  const TemporaryFolder folder;
  const std::string with_word = std::string(one_fault) + "  word: zero_point\n  missed: true\n";
  const SeededFault read = read_faults(folder.write("f.yaml", with_word)).at(0);
  EXPECT_EQ(read.word, "zero_point");
  EXPECT_TRUE(read.missed);
  EXPECT_THAT([&] { read_faults(folder.write("f.yaml", std::string(one_fault) + "  word: magic\n")); },
              ThrowsMessage<std::runtime_error>(HasSubstr("no diagnosis has the word 'magic'")));
}

TEST(FaultList, MayHaveAnOpThatIsFuzzed) {
  const TemporaryFolder folder;
  const std::string fault =
      "- {name: a, shader: b, was: c, is: d, fuzz: view, why: No case is so., ci: true}";
  const SeededFault read = read_faults(folder.write("f.yaml", fault)).at(0);
  EXPECT_EQ(read.fuzzed_op, "view");
  EXPECT_EQ(read.why, "No case is so.");
  EXPECT_TRUE(read.in_ci);
}

TEST(FaultList, SaysWhereItIsWrong) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> wrong{
      {std::string(one_fault) + one_fault, "f.yaml:7: a second fault 'left_out'"},
      {"- {name: a, shader: b, was: c, is: d}", "f.yaml:1: fault 'a' needs one of filter: (rows), test:"},
      {"- {name: a, shader: b, was: c, is: d, fuzz: e}", "lacks the text 'why'"},
      {"- {name: a, shader: b, was: c, is: d, fuzz: e, test: f}", "needs one of filter:"},
      {"- {name: a, shader: b, was: c, is: d, filter: e}", "lacks 'tier'"},
      {"- {name: a, shader: b, was: c, is: c, test: e}", "'a' changes nothing"},
      {"- {name: a, shader: b, is: c, test: e}", "lacks the text 'was'"},
      {"- {nam: a}", "unknown key 'nam'"},
      {"a: b", "no list of faults"},
      {"- [", "reading the seeded faults in"},
  };
  for (const auto& [text, message] : wrong) {
    const std::filesystem::path file = folder.write("f.yaml", text);
    EXPECT_THAT([&] { read_faults(file); }, ThrowsMessage<std::runtime_error>(HasSubstr(message))) << text;
  }
}

TEST(WithFault, ReplacesWhatWasThere) {
  EXPECT_EQ(with_fault(fault(), "x = a + b;"), "x = a;");
  EXPECT_EQ(with_fault(fault(true), "x = a + b + a + b;"), "x = a + a;");
}

TEST(WithFault, TellsWhatToDoWhereTheShaderIsAnotherNow) {
  EXPECT_THAT([] { with_fault(fault(), "x = a - b;"); },
              ThrowsMessage<std::runtime_error>(HasSubstr(
                  "fault 'left_out' replaces \"a + b\" in the shader copy.comp, which does not say so")));
  EXPECT_THAT([] { with_fault(fault(), "a + b, a + b"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("says so 2 times")));
}

// Every fault of faults.yaml, put into a copy of its shader, is seen by the rows or tests that it names. A
// fault that none sees is a path that no case takes.

namespace fs = std::filesystem;

const fs::path list_of_faults = ASSAY_SOURCE_DIR "/tests/faults/seeded/faults.yaml";
/// Faults whose rows are there for their diagnosis.
const fs::path list_of_diagnosed_faults = ASSAY_SOURCE_DIR "/tests/faults/diagnosed/faults.yaml";

/// Folder with the fault's shader, which goes before the sources in the binary.
fs::path seeded_shaders(const TemporaryFolder& folder, const SeededFault& fault) {
  folder.write("shaders/" + fault.shader, with_fault(fault, tree_shader(fault.shader)));
  return folder / "shaders";
}

std::vector<Record> rows_of(const fs::path& out) {
  return read_journal(device_folder(out) / "journal.jsonl").records;
}

std::vector<Record> failed_among(std::vector<Record> rows) {
  std::erase_if(rows, [](const Record& record) { return record.status != Status::Fail; });
  return rows;
}

/// The files of the ops that the filter names, which are all that its rows are in unless the fault says where
/// they are: reading all cases takes longer than most faults' rows.
std::set<std::string> case_files(const SeededFault& fault) {
  if (!fault.cases.empty()) return {fault.cases};
  std::set<std::string> files;
  std::istringstream patterns(fault.rows);
  for (std::string pattern; std::getline(patterns, pattern, ':');) {
    const std::string op = pattern.substr(0, pattern.find('/'));
    for (const auto& entry : fs::directory_iterator(ASSAY_SOURCE_DIR "/cases")) {
      const fs::path& file = entry.path();
      const bool is_of_op = ::fnmatch(op.c_str(), file.stem().c_str(), 0) == 0;
      if (is_of_op && file.extension() == ".yaml") files.insert(file);
    }
  }
  if (files.empty()) throw std::runtime_error("fault '" + fault.name + "': no file of cases has the rows");
  return files;
}

/// The word of a row's diagnosis, "silent" if there is none.
std::string word_of(const Record& record) {
  const bool has_one = record.accuracy && record.accuracy->diagnosis;
  return has_one ? record.accuracy->diagnosis->word : "silent";
}

std::size_t count_right(const SeededFault& fault, const std::vector<Record>& failed) {
  const auto is_right = [&](const Record& record) { return word_of(record) == fault.word; };
  return static_cast<std::size_t>(std::ranges::count_if(failed, is_right));
}

/// More than half of the rows that fail have the fault's word, unless it is known to be missed.
void expect_word(const SeededFault& fault, const std::vector<Record>& failed) {
  if (fault.word.empty()) return;
  std::map<std::string, std::size_t> words;
  for (const Record& record : failed) ++words[word_of(record)];
  const bool is_right = 2 * words[fault.word] > failed.size();
  EXPECT_NE(is_right, fault.missed) << "of the failed rows so many have each word: "
                                    << testing::PrintToString(words);
}

/// The options that select a fault's rows, for `run` and for `list`.
std::vector<std::string> selection(const SeededFault& fault) {
  std::vector<std::string> words{"--mode", "accu", "--filter", fault.rows};
  for (const std::string& file : case_files(fault)) words.push_back(file);
  for (const std::string& tier : fault.tiers) words.insert(words.end(), {"--tier", tier});
  return words;
}

/// So many failed rows say what is asked, whatever the others are: of a word that more than half of all rows
/// have.
std::size_t enough_failures(const SeededFault& fault) {
  if (fault.word.empty()) return fault.at_least;
  std::vector<std::string> words = selection(fault);
  words.insert(words.begin(), "list");
  const std::string ids = assay(words).out;
  const auto rows = static_cast<std::size_t>(std::ranges::count(ids, '\n'));
  return std::max(fault.at_least, rows / 2 + 1);
}

/// A word is that of most rows that fail: whether it depends on rows that have not run.
bool is_open(const SeededFault& fault, const std::vector<Record>& rows) {
  if (fault.word.empty()) return false;
  const bool all_ran =
      std::ranges::none_of(rows, [](const Record& row) { return row.status == Status::Missing; });
  const bool is_right = 2 * count_right(fault, failed_among(rows)) > rows.size();
  return !all_ran && !is_right;
}

void expect_rows_see(const SeededFault& fault) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const std::string shaders = seeded_shaders(folder, fault);
  std::vector<std::string> words = selection(fault);
  // A worker process would load cases and a driver a second time, and a fault that crashes it is no failed
  // row. Rows prepared ahead would mostly be rows that never run: one or two failures end the run.
  words.insert(words.begin(), {"run", "--no-isolation", "--prepare", "0", "--shaders", shaders, "--out", out,
                               "--max-failures", std::to_string(enough_failures(fault))});
  ProcessResult result = assay(words);
  ASSERT_EQ(result.exit_code, 1) << result.out << result.err;
  if (is_open(fault, rows_of(out)))
    result = assay({"run", "--no-isolation", "--resume", out, "--shaders", shaders});
  ASSERT_EQ(result.exit_code, 1) << result.out << result.err;
  const std::vector<Record> failed = failed_among(rows_of(out));
  EXPECT_GE(failed.size(), fault.at_least) << result.out;
  expect_word(fault, failed);
}

/// Tests say which trial failed in a trace "FILE:LINE: as if DEVICE: TRIAL".
std::set<std::string> failed_trials(const std::string& output) {
  std::set<std::string> trials;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(": as if ");
    if (at != std::string::npos) trials.insert(line.substr(at + 2));
  }
  return trials;
}

void expect_tests_see(const SeededFault& fault) {
  const TemporaryFolder folder;
  const ProcessResult result =
      run({.words = {ASSAY_OPS_TEST, "--gtest_filter=" + fault.tests},
           .environment = {{"ASSAY_TEST_DRAW", ""},
                           {"ASSAY_TEST_SHADERS", seeded_shaders(folder, fault)},
                           {"ASSAY_TEST_ENOUGH_FAILED_TRIALS", std::to_string(fault.at_least)}}});
  ASSERT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_GE(failed_trials(result.out).size(), fault.at_least) << result.out;
}

class SeededFaults : public testing::TestWithParam<SeededFault> {};

TEST_P(SeededFaults, AreSeen) {
  if (GetParam().tests.empty()) {
    expect_rows_see(GetParam());
  } else {
    expect_tests_see(GetParam());
  }
}

/// The faults of a list that are tried in this run, as each kernel takes seconds to compile. Returns none if
/// the list cannot be read: the test ListOfFaults says why.
std::vector<SeededFault> drawn_faults(const fs::path& list) {
  try {
    std::vector<SeededFault> faults = read_faults(list);
    std::erase_if(faults, [](const SeededFault& fault) { return !drawn(fault.name, 6); });
    return faults;
  } catch (const std::runtime_error&) {
    return {};
  }
}

const auto name_of_fault = [](const auto& fault) { return fault.param.name; };

INSTANTIATE_TEST_SUITE_P(In, SeededFaults, testing::ValuesIn(drawn_faults(list_of_faults)), name_of_fault);
INSTANTIATE_TEST_SUITE_P(Diagnosed, SeededFaults, testing::ValuesIn(drawn_faults(list_of_diagnosed_faults)),
                         name_of_fault);

TEST(ListOfFaults, IsReadAndHasFaults) {
  EXPECT_FALSE(read_faults(list_of_faults).empty());
}

// AreSeen runs a part of the faults in each run; where a kernel's line has moved is known of all of them at
// once.
TEST(ListOfFaults, SaysWhatTheShadersSay) {
  for (const fs::path& list : {list_of_faults, list_of_diagnosed_faults}) {
    for (const SeededFault& fault : read_faults(list))
      EXPECT_NO_THROW(with_fault(fault, tree_shader(fault.shader))) << list;
  }
}

// Each fault's word is asserted above.
TEST(ListOfDiagnosedFaults, HasTheRightWordForNineInTen) {
  const std::vector<SeededFault> faults = read_faults(list_of_diagnosed_faults);
  const auto missed = std::ranges::count_if(faults, &SeededFault::missed);
  EXPECT_GE(faults.size(), 60U);
  EXPECT_LE(10 * static_cast<std::size_t>(missed), faults.size());
  for (const SeededFault& fault : faults) EXPECT_FALSE(fault.word.empty()) << fault.name;
}

}  // namespace

}  // namespace assay::test
