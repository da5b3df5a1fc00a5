#pragma once

#include "harness/base/pattern.h"
#include "harness/cases/expectations/expectation.h"
#include "harness/cases/yaml/diagnostic.h"

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// The rules of cases/expectations/*.yaml. They can be queried without a device or an engine.
class Expectations {
 public:
  /// Ignores rules that expired before today, or before the given day.
  Expectations() : Expectations(today_utc()) {}
  explicit Expectations(std::chrono::sys_days today) : today_(today) {}

  /// Returns the first rule, in the order of files and rules in them, that has not expired and matches the
  /// device and the row. Null if there is none.
  const Expectation* find(std::string_view device_name, const RowWords& row) const;

  /// Returns every rule of the device in the same order, expired or not.
  std::vector<const Expectation*> of_device(std::string_view device_name) const;

  /// Returns the files whose `device` matches none of these names although it has rules, each with the text
  /// of that `device`.
  std::vector<std::pair<std::string, std::string>> files_without_device(
      std::span<const std::string> device_names) const;

  bool is_expired(const Expectation& rule) const { return rule.expires && *rule.expires < today_; }

  struct Device {
    Pattern name;  ///< searched in the device's name
    std::vector<Expectation> rules;
    std::string text;  ///< of `name`, for messages
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

/// Returns the expectation files for case files and directories, sorted and without duplicates: *.yaml in
/// every folder named `expectations` below a directory, and in the nearest one next to or above each path.
std::vector<std::filesystem::path> find_expectations(std::span<const std::filesystem::path> case_paths);

/// Returns whether `case_files` include every case file of the folder that the expectation file is about,
/// which is the parent of its folder `expectations`. Only then can a rule be reported as matching no case.
bool has_all_cases_of(const std::filesystem::path& expectation_file,
                      std::span<const std::filesystem::path> case_files);

/// Reads expectation files, as strictly as load_cases. A bad rule does not hide other errors.
ExpectationsResult load_expectations(std::span<const std::filesystem::path> files,
                                     std::chrono::sys_days today = today_utc());

}  // namespace assay
