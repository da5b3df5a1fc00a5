#include "harness/commands/model/written_model.h"

#include "harness/base/error.h"
#include "harness/commands/model/mapping.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace assay::app {
namespace {

using models::Decoder;

constexpr std::int64_t usual_groups[] = {32, 128};
constexpr std::int64_t least_group = 8, most_group = 128;

/// The step of a decoded token for each context; one for all, if positions do not matter.
std::vector<MappedStep> decode_steps(const ModelCases& cases, bool has_position) {
  const std::set<std::int64_t> contexts(cases.contexts.begin(), cases.contexts.end());
  if (!has_position) return {{.name = "decode", .is_decode = true}};
  std::vector<MappedStep> steps;
  for (const std::int64_t context : contexts) {
    std::string name = contexts.size() == 1 ? "decode" : fmt::format("decode_{}", context);
    steps.push_back({.name = std::move(name), .start = context - 1, .is_decode = true});
  }
  return steps;
}

std::vector<MappedStep> steps_of(const ModelCases& cases, bool has_position) {
  std::vector<MappedStep> steps = decode_steps(cases, has_position);
  const std::set<std::int64_t> prompts(cases.prompts.begin(), cases.prompts.end());
  for (const std::int64_t tokens : prompts) {
    std::string name = prompts.size() == 1 ? "prefill" : fmt::format("prefill_{}", tokens);
    steps.push_back({.name = std::move(name), .tokens = tokens});
  }
  return steps;
}

/// The greatest common divisor of the K of all linear layers.
std::int64_t common_k(const Decoder& decoder) {
  std::int64_t common = decoder.hidden;
  for (const LinearLayer& layer : linear_layers(decoder)) common = std::gcd(common, layer.k);
  return common;
}

/// 32 and 128, as far as they divide `common`, else the largest power of two that does.
std::vector<std::int64_t> default_groups(std::int64_t common) {
  std::vector<std::int64_t> groups;
  for (const std::int64_t size : usual_groups) {
    if (common % size == 0) groups.push_back(size);
  }
  for (std::int64_t size = most_group; groups.empty() && size >= least_group; size /= 2) {
    if (common % size == 0) groups.push_back(size);
  }
  return groups;
}

std::string each(std::span<const std::int64_t> numbers) {
  if (numbers.size() == 1) return std::to_string(numbers.front());
  return fmt::format("{{each: [{}]}}", fmt::join(numbers, ", "));
}

std::string shapes_entry(const LinearLayer& layer) {
  return fmt::format("{{K: {}, N: {}, {}layer: {}, calls: {}}}", layer.k, layer.n,
                     layer.bias ? "bias: true, " : "", layer.layer, layer.calls);
}

std::string described(const Decoder& decoder) {
  return fmt::format("{} blocks of {} heads ({} of keys and values) of {} values", decoder.blocks,
                     decoder.heads, decoder.kv_heads, decoder.head_dim);
}

CaseFile shapes_file(const Decoder& decoder, const ModelCases& cases) {
  std::string text = fmt::format(
      "# {}, written by `assay model`: the architecture {},\n# {}.\n"
      "# Activations are [tokens, {}] between blocks, [tokens, {}] inside the feed-forward part.\n"
      "sets:\n"
      "  # Linear layers map K values per token to N; q_o and k_v, and gate_up as well unless it is one "
      "matrix, are\n"
      "  # each two layers of one shape.\n"
      "  layers:\n    each:\n",
      cases.name, decoder.architecture, described(decoder), decoder.hidden, decoder.intermediate);
  for (const LinearLayer& layer : linear_layers(decoder))
    text += fmt::format("      - {}\n", shapes_entry(layer));
  text += fmt::format("\n  # The output head computes the last token alone.\n  head: {}\n",
                      shapes_entry(output_head(decoder)));
  return {"shapes.yaml", std::move(text)};
}

/// Writes the cases of one op for linear layers.
class LinearFile {
 public:
  LinearFile(const LinearOp& op, const Decoder& decoder, const ModelCases& cases)
      : op_(op),
        cases_(cases),
        groups_(op.has_groups ? group_sizes_for(decoder, cases) : std::vector<std::int64_t>{}) {}

  CaseFile file() {
    text_ = fmt::format(
        "op: {}\ninclude: [shapes.yaml]\ndefaults: {{model: {}, tier: nightly, impl: auto{}{}}}\ncases:\n",
        op_.name, cases_.name, op_.has_dtype ? ", dtype: " + cases_.dtype : "",
        op_.parameters.empty() ? "" : fmt::format(", {}", op_.parameters));
    add({}, "layers", "{each: [1, 16]}", false);
    for (const MappedStep& step : steps_of(cases_, false)) {
      add(step, "layers", std::to_string(step.tokens), true);
      add(step, "head", "1", true);
    }
    return {fmt::format("{}.yaml", op_.name), std::move(text_)};
  }

 private:
  /// `step` is empty for the case without times.
  void add(const MappedStep& step, const std::string& set, const std::string& rows, bool is_timed) {
    text_ += fmt::format("  - name: {}{}{}\n", cases_.name, is_timed ? "_" + step.name : "",
                         set == "head" ? "_head" : "");
    if (is_timed) {
      line("mode: perf");
      if (step.is_decode) line("cache: cold");
      line(fmt::format("step_tokens: {}", step.tokens));
    }
    line(fmt::format("with: {}", set));
    line(fmt::format("M: {}", rows));
    if (!groups_.empty())
      line("group_size: " + (step.is_decode ? each(groups_) : std::to_string(groups_.back())));
    if (rows == "1" && !op_.in_decode.empty()) line(op_.in_decode);
    if (is_timed && set != "head") line("timeout: 20");
  }

  void line(std::string_view text) { text_ += fmt::format("    {}\n", text); }

  const LinearOp& op_;
  const ModelCases& cases_;
  std::vector<std::int64_t> groups_;
  std::string text_;
};

std::string written(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += fmt::format("{}: {}, ", name, value);
  return text;
}

/// A case of a step, with a line for each layer.
std::string step_case(const MappedOp& op, const Decoder& decoder, const ModelCases& cases,
                      const MappedStep& step) {
  std::string text = fmt::format("  - name: {}_{}\n", cases.name, step.name);
  text += fmt::format("    step_tokens: {}\n", step.tokens);
  if (op.cold_in_decode && step.is_decode) text += "    cache: cold\n";
  text += "    with:\n      each:\n";
  for (const MappedLayer& layer : op.layers(decoder, step)) {
    text += fmt::format("        - {{{}layer: {}, calls: {}}}\n", written(layer.parameters), layer.layer,
                        layer.calls);
  }
  return text;
}

CaseFile mapped_file(const MappedOp& op, const Decoder& decoder, const ModelCases& cases) {
  std::string text =
      fmt::format("op: {}\ndefaults: {{{}model: {}, dtype: {}, mode: both, tier: nightly}}\ncases:\n",
                  op.name, written(op.parameters(decoder)), cases.name, cases.dtype);
  for (const MappedStep& step : steps_of(cases, op.has_position)) text += step_case(op, decoder, cases, step);
  return {fmt::format("{}.yaml", op.name), std::move(text)};
}

}  // namespace

std::vector<std::int64_t> group_sizes_for(const Decoder& decoder, const ModelCases& cases) {
  const std::int64_t common = common_k(decoder);
  std::vector<std::int64_t> groups = cases.group_sizes.empty() ? default_groups(common) : cases.group_sizes;
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  if (groups.empty()) {
    throw Error(fmt::format(
        "writing the cases of {}: no group of at least {} weights divides all K of its linear layers, "
        "whose greatest common divisor is {}; choose --linear linear_q8csw, which has no groups",
        cases.name, least_group, common));
  }
  for (const std::int64_t size : groups) {
    if (common % size != 0) {
      throw Error(fmt::format(
          "writing the cases of {}: groups of {} weights do not divide all K of its linear layers, "
          "whose greatest common divisor is {}",
          cases.name, size, common));
    }
  }
  return groups;
}

std::vector<CaseFile> case_files(const Decoder& decoder, const ModelCases& cases) {
  std::vector<CaseFile> files{shapes_file(decoder, cases)};
  for (const std::string& name : std::set(cases.linear_ops.begin(), cases.linear_ops.end()))
    files.push_back(LinearFile(linear_op_named(name), decoder, cases).file());
  for (const MappedOp& op : mapped_ops()) files.push_back(mapped_file(op, decoder, cases));
  return files;
}

}  // namespace assay::app
