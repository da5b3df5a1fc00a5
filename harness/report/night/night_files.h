#pragma once

#include "harness/report/files/github_summary.h"
#include "harness/report/night/night.h"

#include <map>
#include <string>

namespace assay {

/// Version of nightly.json; raised when a field changes its meaning. New fields are added without.
inline constexpr int nightly_schema = 1;

/// nightly.json: all of a night, for machines. reports/README.md names its fields.
std::string night_json(const Night& night);

/// What an earlier verdict on the same night was held against.
struct EarlierVerdict {
  std::string last_good;  ///< folder of its report, from the night's folder; empty: none
  bool is_accepted = false;
};
/// By the slugs of the devices. Empty where the text is no nightly.json that this assay reads.
std::map<std::string, EarlierVerdict> earlier_verdicts(const std::string& nightly_json);

/// The same for GitHub.
GithubSummary night_summary(const Night& night);

/// verdict.txt: a night for people, its answer in the first line. Plain text of 100 columns, but for single
/// words (ids, paths) that are longer; commands are broken where a shell reads on.
std::string night_text(const Night& night);

}  // namespace assay
