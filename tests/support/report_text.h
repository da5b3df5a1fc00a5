#pragma once

#include "harness/base/text.h"
#include "harness/report/writers/writers.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

// Golden tests by pattern. Only tests include this.

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The words that stand for what a golden text does not fix.
inline const std::map<std::string, std::string> substitutions = {
    {"%float", R"([0-9]+\.[0-9]+(?:e[-+][0-9]+)?)"},
    {"%int", "[0-9]+"},
    {"%hash", "[0-9a-f]{32}"},
    {"%any", ".*"},
    {"%s", " +"},
};

/// A regular expression of a golden line: plain text but for the words above.
inline std::regex pattern_of(const std::string& line) {
  static const std::regex special(R"([.^$|()\[\]{}*+?\\])");
  std::string pattern = std::regex_replace(line, special, R"(\$&)");
  for (const auto& [word, expression] : substitutions) {
    for (auto at = pattern.find(word); at != pattern.npos; at = pattern.find(word, at + expression.size())) {
      pattern.replace(at, word.size(), expression);
    }
  }
  return std::regex(pattern);
}

/// EXPECT_TRUE(matches(text, golden)): line by line, all of it. The message shows the first line that differs
/// and the whole text.
inline ::testing::AssertionResult matches(const std::string& text, std::string_view golden) {
  const std::vector<std::string> got = lines_of(text);
  const std::vector<std::string> expected = lines_of(golden);
  for (std::size_t i = 0; i < std::max(got.size(), expected.size()); ++i) {
    const std::string is = i < got.size() ? got[i] : "(no such line)";
    const std::string should = i < expected.size() ? expected[i] : "(no such line)";
    if (i < got.size() && i < expected.size() && std::regex_match(is, pattern_of(should))) continue;
    return ::testing::AssertionFailure()
           << "line " << i + 1 << " is\n  " << is << "\nand should be\n  " << should << "\nThe whole text:\n"
           << text;
  }
  return ::testing::AssertionSuccess();
}

// The files of a report as text: runs write them into streams.

template <class Write>
std::string text_of(const Write& write, const RunReport& report) {
  std::ostringstream out;
  write(report, out);
  return std::move(out).str();
}

inline std::string accu_csv(const RunReport& report) {
  return text_of(write_accu_csv, report);
}
inline std::string perf_csv(const RunReport& report) {
  return text_of(write_perf_csv, report);
}
inline std::string history_csv(const RunReport& report) {
  return text_of(write_history_csv, report);
}
inline std::string perf_json(const RunReport& report) {
  return text_of(write_perf_json, report);
}
inline std::string junit_xml(const RunReport& report) {
  return text_of(write_junit_xml, report);
}

}  // namespace assay::test
