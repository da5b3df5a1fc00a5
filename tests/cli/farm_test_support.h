#pragma once

#include "harness/report/journal/journal.h"
#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

// Runs that tests start, whose workers may be tests/farm/mock_worker.py.

namespace assay::test {

inline constexpr const char* four_cases = R"(op: q8ta_relu
cases:
  - name: small
    mode: both
    shape: {each: [[1, 4, 4, 4], [1, 8, 4, 4], [1, 4, 8, 4], [1, 4, 4, 8]]}
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
)";

/// The folder of a run of these cases, with a mock worker or the real one.
struct MockFarm {
  MockFarm() { file = folder.write("c.yaml", four_cases); }

  ProcessResult run(std::vector<std::string> more) const {
    std::vector<std::string> words{"run", file, "--out", folder / "out", "--ceilings", "none"};
    words.insert(words.end(), more.begin(), more.end());
    return assay(words);
  }
  std::string mock(const std::string& arguments) const {
    return (std::filesystem::absolute(ASSAY_SOURCE_DIR) / "tests/farm/mock_worker.py").string() +
           " --state " + (folder / "state").string() + " " + arguments;
  }
  ProcessResult run_mock(const std::string& arguments, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--worker-command", mock(arguments)});
    return run(more);
  }
  std::filesystem::path journal() const {
    if (!std::filesystem::exists(folder / "out" / "runs")) return {};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "out" / "runs"))
      if (entry.path().filename() == "journal.jsonl") return entry.path();
    return {};
  }
  RunReport report() const { return read_journal(journal()); }
  Record row(std::size_t index) const { return report().records.at(index); }

  TemporaryFolder folder;
  std::string file;
};

inline std::size_t count_of(const RunReport& report, Status status) {
  return static_cast<std::size_t>(std::ranges::count(report.records, status, &Record::status));
}

}  // namespace assay::test
