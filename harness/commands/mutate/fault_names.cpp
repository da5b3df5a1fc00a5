#include "harness/commands/mutate/fault_names.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace assay::app {
namespace {

constexpr std::array<std::pair<FaultEnd, std::string_view>, 6> names{{
    {FaultEnd::Killed, "killed"},
    {FaultEnd::Survived, "survived"},
    {FaultEnd::Equivalent, "equivalent"},
    {FaultEnd::Unchanged, "unchanged"},
    {FaultEnd::DoesNotCompile, "does not compile"},
    {FaultEnd::NotRun, "not run"},
}};

}  // namespace

std::string_view name_of(FaultEnd end) {
  for (const auto& [value, name] : names) {
    if (value == end) return name;
  }
  return "";
}

FaultEnd parse_fault_end(std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  throw Error(fmt::format("reading a result of assay mutate: '{}' is no end of a fault", name));
}

}  // namespace assay::app
