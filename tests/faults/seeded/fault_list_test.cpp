#include "tests/faults/seeded/fault_list.h"

#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(FaultList, SaysWhereItIsWrong) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> wrong{
      {std::string(one_fault) + one_fault, "f.yaml:7: a second fault 'left_out'"},
      {"- {name: a, shader: b, was: c, is: d}", "f.yaml:1: fault 'a' needs either filter: (rows) or test:"},
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

}  // namespace
}  // namespace assay::test
