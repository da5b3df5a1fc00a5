#pragma once

#include "harness/base/pattern.h"
#include "harness/cases/diagnostic.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// What is known beforehand of a case on a device.
struct Expectation {
  enum class Kind : std::uint8_t {
    Fail,  ///< it runs; failing is EXPECTED_FAIL, passing is UNEXPECTED_PASS
    Skip,  ///< it does not run: SKIPPED
  };
  Kind kind = Kind::Fail;
  std::string reason;
  SourceLocation where;  ///< of the rule that says so
};

/// The rules of cases/expectations/*.yaml.
class Expectations {
 public:
  /// The first rule, in the order of files and rules in them, whose device and glob match.
  std::optional<Expectation> find(std::string_view device_name, std::string_view case_id) const;

  struct Rule {
    std::string glob;
    Expectation expectation;
  };
  struct Device {
    Pattern name;  ///< searched in the device's name
    std::vector<Rule> rules;
  };
  void add(Device device) { devices_.push_back(std::move(device)); }

 private:
  std::vector<Device> devices_;
};

struct ExpectationsResult {
  Expectations expectations;
  std::vector<Diagnostic> errors;
};

/// The expectation files that belong to case files and directories: *.yaml of every folder named
/// `expectations` below a directory, and of the nearest one beside or above each path. Sorted, each once.
std::vector<std::filesystem::path> find_expectations(std::span<const std::filesystem::path> case_paths);

/// Reads expectation files. As strict as load_cases; a bad rule hides no other.
ExpectationsResult load_expectations(std::span<const std::filesystem::path> files);

}  // namespace assay
