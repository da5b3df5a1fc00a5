#pragma once

#include "harness/base/pattern.h"
#include "harness/cases/diagnostic.h"
#include "harness/cases/expectation.h"

#include <chrono>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// The rules of cases/expectations/*.yaml. They can be asked without a device or an engine.
class Expectations {
 public:
  /// Rules that expired before today, or before the day given, do not count.
  Expectations() : Expectations(today_utc()) {}
  explicit Expectations(std::chrono::sys_days today) : today_(today) {}

  /// The first rule, in the order of files and rules in them, that counts and whose device matches and which
  /// matches the row; null where there is none.
  const Expectation* find(std::string_view device_name, const RowWords& row) const;

  /// Every rule of the device, in the same order, expired or not.
  std::vector<const Expectation*> of_device(std::string_view device_name) const;

  bool is_expired(const Expectation& rule) const { return rule.expires && *rule.expires < today_; }

  struct Device {
    Pattern name;  ///< searched in the device's name
    std::vector<Expectation> rules;
  };
  void add(Device device) { devices_.push_back(std::move(device)); }

 private:
  std::chrono::sys_days today_;
  std::vector<Device> devices_;
};

struct ExpectationsResult {
  Expectations expectations;
  std::vector<Diagnostic> errors;
};

/// The expectation files that belong to case files and directories: *.yaml of every folder named
/// `expectations` below a directory, and of the nearest one beside or above each path. Sorted, each once.
std::vector<std::filesystem::path> find_expectations(std::span<const std::filesystem::path> case_paths);

/// Whether every case file of the folder that an expectation file is about (the one that holds its folder
/// `expectations`) is among these: only then a rule that matches no case has none.
bool has_all_cases_of(const std::filesystem::path& expectation_file,
                      std::span<const std::filesystem::path> case_files);

/// Reads expectation files. As strict as load_cases; a bad rule hides no other.
ExpectationsResult load_expectations(std::span<const std::filesystem::path> files,
                                     std::chrono::sys_days today = today_utc());

}  // namespace assay
