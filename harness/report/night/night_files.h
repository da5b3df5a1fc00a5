#pragma once

#include "harness/report/files/github_summary.h"
#include "harness/report/night/night.h"

#include <map>
#include <string>

namespace assay {

/// Version of nightly.json; raised when a field changes its meaning. Adding a field does not raise it.
inline constexpr int nightly_schema = 1;

/// nightly.json: everything about a night, for machines. reports/README.md names its fields.
std::string night_json(const Night& night);

/// The comparison that an earlier verdict on the same night was based on.
struct EarlierVerdict {
  std::string
      last_good;  ///< folder of the report it compared with, relative to the night's folder; empty: none
  bool is_accepted = false;
};
/// Earlier verdicts by device slug. Empty if the text is not a nightly.json that this assay can read.
std::map<std::string, EarlierVerdict> earlier_verdicts(const std::string& nightly_json);

/// The night as a summary for GitHub.
GithubSummary night_summary(const Night& night);

/// verdict.txt: a night for people, with the night verdict in the first line. Plain text of 100 columns,
/// except for longer single words (ids, paths); commands are broken so that a shell continues them.
std::string night_text(const Night& night);

}  // namespace assay
