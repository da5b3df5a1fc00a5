#include "harness/commands/points/candidates.h"

#include "harness/base/file.h"
#include "harness/cases/expansion/load.h"
#include "harness/commands/points/case_yaml.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

namespace assay::app {

std::vector<Candidates::Loaded> Candidates::write_and_load(std::span<const Case> cases,
                                                           const std::string& name,
                                                           std::size_t of_a_name) const {
  if (cases.empty()) return {};
  std::string text = fmt::format("op: {}\ncases:\n", cases.front().op->name);
  for (std::size_t i = 0; i < cases.size(); ++i)
    text += case_yaml(cases[i], fmt::format("{}_{}", name, i / of_a_name + 1));
  replace_file(file_, text);
  std::vector<Loaded> made;
  for (Case& one : load_cases(std::array{file_}, registry_).cases) {
    const std::size_t number = std::stoul(one.name.substr(one.name.rfind('_') + 1)) - 1;
    made.push_back({std::move(one), number});
  }
  return made;
}

std::vector<Candidates::Loaded> Candidates::valid(std::span<const Case> candidates) const {
  std::vector<Loaded> made = write_and_load(candidates, "candidate", 1);
  std::erase_if(made, [](const Loaded& one) { return one.loaded.invalid.has_value(); });
  return made;
}

std::vector<Case> Candidates::keep(std::span<const Case> cases, const std::string& name, bool pairs) const {
  if (cases.empty()) {
    std::filesystem::remove(file_);
    return {};
  }
  std::vector<Case> kept;
  for (Loaded& one : write_and_load(cases, name, pairs ? 2 : 1)) kept.push_back(std::move(one.loaded));
  return kept;
}

}  // namespace assay::app
