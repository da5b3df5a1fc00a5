#include "harness/app/judge/fuzz.h"

#include "harness/app/judge/case_yaml.h"
#include "harness/app/judge/judged_cases.h"
#include "harness/app/judge/mutation.h"
#include "harness/base/file.h"
#include "harness/cases/load.h"
#include "harness/engine/accuracy/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_elements = 1 << 18;
constexpr std::int64_t most_operations = std::int64_t{1} << 25;
constexpr std::size_t candidates_each = 40;  ///< drawn for each case that is wanted

/// Whether cases may be derived from this one: tolerances and files are valid only for its own shape.
bool is_base(const Case& one) {
  return has_secret_data(one) && one.tolerance->scale <= 1 && !one.tolerance->has_allowance() &&
         elements_of(one) <= 64 * most_elements;
}

bool is_small(const Case& one) {
  return elements_of(one) <= most_elements &&
         one.op->work(one.params, one.tensors).operations <= most_operations;
}

/// Draws the fuzzed cases of one op.
class OpFuzz {
 public:
  OpFuzz(std::vector<const Case*> bases, const Registry& registry, ShaderUse& use, fs::path file)
      : bases_(std::move(bases)), registry_(registry), use_(use), file_(std::move(file)) {
    for (const Case* base : bases_) known_.insert(base->data_key);
  }

  /// Writes at most `count` cases to the file and returns their ids.
  std::vector<std::string> write(std::size_t count, Draw& draw) {
    std::vector<Drawn> drawn;
    for (std::size_t i = 0; i < count * candidates_each; ++i) {
      const Case& like = *draw.one_of(bases_);
      drawn.push_back({&like, mutated(*like.op, *like.params, draw)});
    }
    const std::vector<Drawn> kept = accepted(drawn, count);
    if (kept.empty()) {
      fs::remove(file_);
      return {};
    }
    std::vector<std::string> ids;
    for (const Case& one : load(kept, "fuzz_").cases) ids.push_back(one.id);
    return ids;
  }

 private:
  struct Drawn {
    const Case* like = nullptr;
    Params params;
  };

  LoadResult load(std::span<const Drawn> drawn, const std::string& prefix) const {
    std::string text = fmt::format("op: {}\ncases:\n", bases_.front()->op->name);
    for (std::size_t i = 0; i < drawn.size(); ++i)
      text += case_yaml(*drawn[i].like, drawn[i].params, fmt::format("{}{}", prefix, i + 1));
    replace_file(file_, text);
    return load_cases(std::array{file_}, registry_);
  }

  std::vector<Drawn> accepted(const std::vector<Drawn>& drawn, std::size_t count) {
    std::vector<Drawn> kept;
    for (const Case& one : load(drawn, "candidate_").cases) {
      if (kept.size() == count) break;
      if (one.invalid || !is_small(one) || known_.contains(one.data_key) || !use_.matters_for(one)) continue;
      known_.insert(one.data_key);
      const std::size_t number = std::stoul(one.name.substr(one.name.find('_') + 1));
      kept.push_back(drawn[number - 1]);
    }
    return kept;
  }

  std::vector<const Case*> bases_;
  const Registry& registry_;
  ShaderUse& use_;
  fs::path file_;
  std::set<std::uint64_t> known_;
};

}  // namespace

FuzzedCases fuzzed_cases(std::span<const Case* const> mattering, const Registry& registry, ShaderUse& use,
                         std::size_t count, std::uint64_t seed, const fs::path& folder) {
  std::map<std::string, std::vector<const Case*>> bases;
  for (const Case* one : mattering) {
    if (is_base(*one)) bases[one->op->name].push_back(one);
  }
  FuzzedCases made;
  if (bases.empty()) return made;
  Draw draw(seed);
  std::vector<std::string> ops;
  for (const auto& entry : bases) ops.push_back(entry.first);
  draw.shuffle(ops);
  ops.resize(std::min(ops.size(), count));
  make_directories(folder);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const fs::path file = folder / (ops[i] + ".yaml");
    const std::size_t share = (count + i) / ops.size();
    const std::vector<std::string> ids = OpFuzz(bases[ops[i]], registry, use, file).write(share, draw);
    if (ids.empty()) continue;
    made.files.push_back(file);
    made.ids.insert(made.ids.end(), ids.begin(), ids.end());
  }
  return made;
}

}  // namespace assay::app
