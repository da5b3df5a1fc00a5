#include "harness/report/compare/verdict.h"

#include "harness/base/error.h"
#include "harness/base/names.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace assay {
namespace {

constexpr Names<verdict_count> verdict_names{"FASTER", "SLOWER", "SAME",   "AMBIGUOUS", "ENVIRONMENT",
                                             "NEW",    "GONE",   "BROKEN", "DRIFTED",   "SUSPECT"};

std::string all_names() {
  std::string names;
  for (const std::string_view name : verdict_names) {
    names += names.empty() ? "" : ", ";
    for (const char c : name) names += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return names;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  return name_in(verdict_names, verdict);
}

std::optional<Verdict> parse_verdict(std::string_view name) {
  std::string upper;
  for (const char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return value_in<Verdict>(verdict_names, upper);
}

std::set<Verdict> parse_verdicts(const std::string& list, const std::string& option) {
  std::set<Verdict> verdicts;
  if (list == "none") return verdicts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    const std::optional<Verdict> verdict = parse_verdict(name);
    if (name == "none") {
      throw Error(fmt::format("{}: 'none' stands alone, for no verdict; '{}' also names others", option,
                              printable_line(list)));
    }
    if (!verdict) {
      throw Error(fmt::format("{}: '{}' is not a verdict; the verdicts are {}; 'none' stands for no verdict",
                              option, printable_line(name), all_names()));
    }
    verdicts.insert(*verdict);
    begin = end + 1;
  }
  return verdicts;
}

Ink ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Slower:
    case Verdict::Gone:
    case Verdict::Broken:
      return Ink::Red;
    case Verdict::Faster:
    case Verdict::New:
      return Ink::Green;
    case Verdict::Same:
      return Ink::Plain;
    case Verdict::Ambiguous:
    case Verdict::Environment:
      return Ink::Yellow;
    case Verdict::Drifted:
    case Verdict::Suspect:
      return Ink::Magenta;
  }
  return Ink::Plain;
}

}  // namespace assay
