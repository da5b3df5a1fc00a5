#include "harness/report/html/environment.h"

#include "harness/report/compare/ceiling_changes.h"
#include "harness/report/compare/row_side.h"

#include <functional>
#include <string_view>

namespace assay {
namespace {

constexpr double scatter = 0.02;

struct Circumstance {
  std::string_view what;
  std::function<std::string(const RunInfo&)> value;
};

std::string cores_of(const RunInfo& run) {
  return run.cpu + ", " + std::to_string(run.cores) + " cores";
}

std::string variables_of(const RunInfo& run) {
  std::string text;
  for (const auto& [name, value] : run.environment)
    text.append(text.empty() ? "" : " ").append(name).append("=").append(value);
  return text;
}

std::string input(const RunInfo& run, const char* name) {
  const auto at = run.inputs.find(name);
  return at == run.inputs.end() ? "" : at->second;
}

std::vector<Circumstance> circumstances() {
  return {
      {"device", [](const RunInfo& run) { return run.device.name; }},
      {"driver", driver_of},
      {"Vulkan", [](const RunInfo& run) { return run.device.api_version; }},
      {"assay", [](const RunInfo& run) { return run.version; }},
      {"compiler", [](const RunInfo& run) { return run.compiler; }},
      {"build type", [](const RunInfo& run) { return run.build_type; }},
      {"host", [](const RunInfo& run) { return run.host; }},
      {"operating system", [](const RunInfo& run) { return run.os; }},
      {"CPU", cores_of},
      {"loader's variables", variables_of},
      {"seed", [](const RunInfo& run) { return std::to_string(run.seed); }},
      {"validation layer", [](const RunInfo& run) { return std::string(run.validation ? "on" : "off"); }},
      {"robust buffer access",
       [](const RunInfo& run) { return std::string(run.robust_access ? "on" : "off"); }},
      {"case files (hash)", [](const RunInfo& run) { return input(run, "cases"); }},
      {"shader folder (hash)", [](const RunInfo& run) { return input(run, "shaders"); }},
      {"ceilings' kernels (hash)", [](const RunInfo& run) { return run.ceilings.kernels; }},
  };
}

}  // namespace

std::vector<EnvironmentChange> environment_changes(const RunInfo& base, const RunInfo& next) {
  std::vector<EnvironmentChange> changes;
  for (const Circumstance& circumstance : circumstances()) {
    const std::string before = circumstance.value(base), now = circumstance.value(next);
    if (before != now) changes.push_back({std::string(circumstance.what), before, now});
  }
  for (const CeilingChange& change : ceiling_changes(base.ceilings, next.ceilings, scatter))
    changes.push_back({change.what, change.before, change.now});
  return changes;
}

}  // namespace assay
