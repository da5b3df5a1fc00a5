#pragma once

#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::test {

namespace fs = std::filesystem;

/// The folder of the ops that manifests declare.
inline const fs::path here = fs::absolute(fs::path(ASSAY_SOURCE_DIR) / "tests/external").lexically_normal();

/// The text with `with` in place of the first `what`, which it must have.
inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

/// The cells below a name in a report.
inline std::vector<std::string> column_of(const std::string& csv, const std::string& name) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(1));
  bool quoted = false;
  for (const char c : csv) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) {
      lines.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      lines.emplace_back(1);
    } else if (c != '"') {
      lines.back().back() += c;
    }
  }
  const auto at = static_cast<std::size_t>(std::ranges::find(lines[0], name) - lines[0].begin());
  EXPECT_LT(at, lines[0].size()) << name;
  std::vector<std::string> cells;
  for (std::size_t i = 1; i + 1 < lines.size() && at < lines[0].size(); ++i) cells.push_back(lines[i].at(at));
  return cells;
}

class External : public ::testing::Test {
 protected:
  ProcessResult run_ops(const fs::path& ops, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"run",   "--ops",        ops.string(),  "--tier",     "smoke",
                                   "--out", folder / "out", "--overwrite", "--ceilings", "none"};
    words.insert(words.end(), more.begin(), more.end());
    return assay(words);
  }

  /// A copy of an op's folder in which one text of a file is another.
  fs::path copy_with(const std::string& op, const std::string& file, const std::string& what,
                     const std::string& with) {
    fs::copy(here / op, folder / op, fs::copy_options::recursive);
    folder.write(op + "/" + file, replaced(folder.read(op + "/" + file), what, with));
    return folder / op;
  }

  TemporaryFolder folder;
};

}  // namespace assay::test
