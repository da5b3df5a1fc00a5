#include "harness/models/decoder.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

namespace assay::models {
namespace {

constexpr std::int64_t most_values = std::int64_t{1} << 24;
constexpr std::int64_t most_blocks = 10'000;
constexpr double least_eps = 1e-20, most_eps = 1;

constexpr std::array known_architectures{
    Architecture{.name = "llama", .gguf_interleaves = true},
    Architecture{.name = "mistral", .default_window = 4096},
    Architecture{.name = "qwen2", .qkv_bias = true, .window_needs_a_switch = true},
    Architecture{.name = "qwen3", .qk_norm = true, .window_needs_a_switch = true},
    Architecture{.name = "phi3", .fused = true},
};

/// An architecture that is known for what it needs.
struct Unsupported {
  std::string_view name;
  std::string_view needs;
};
constexpr std::string_view gelu = "the activation 'gelu'";
constexpr std::string_view experts = "a mixture of experts";
constexpr std::array unsupported_architectures{
    Unsupported{"gemma", gelu},
    Unsupported{"gemma2", "the activation 'gelu', a soft cap and a sliding window"},
    Unsupported{"gemma3", "the activation 'gelu' and a sliding window"},
    Unsupported{"gemma3_text", "the activation 'gelu' and a sliding window"},
    Unsupported{"gemma3n", "the activation 'gelu' and a sliding window"},
    Unsupported{"gpt2", gelu},
    Unsupported{"gptj", gelu},
    Unsupported{"gpt_neox", gelu},
    Unsupported{"gptneox", gelu},
    Unsupported{"gpt_bigcode", gelu},
    Unsupported{"starcoder", gelu},
    Unsupported{"starcoder2", gelu},
    Unsupported{"falcon", gelu},
    Unsupported{"bloom", gelu},
    Unsupported{"mpt", gelu},
    Unsupported{"opt", "the activation 'relu' between linear layers without a gate"},
    Unsupported{"bert", gelu},
    Unsupported{"phi", gelu},
    Unsupported{"phi2", gelu},
    Unsupported{"phimoe", experts},
    Unsupported{"mixtral", experts},
    Unsupported{"qwen2_moe", experts},
    Unsupported{"qwen2moe", experts},
    Unsupported{"qwen3_moe", experts},
    Unsupported{"qwen3moe", experts},
    Unsupported{"olmoe", experts},
    Unsupported{"dbrx", experts},
    Unsupported{"llama4", experts},
    Unsupported{"gpt_oss", "a mixture of experts and a sliding window"},
    Unsupported{"gpt-oss", "a mixture of experts and a sliding window"},
    Unsupported{"deepseek2", "attention over a latent cache and a mixture of experts"},
    Unsupported{"deepseek_v2", "attention over a latent cache and a mixture of experts"},
    Unsupported{"deepseek_v3", "attention over a latent cache and a mixture of experts"},
    Unsupported{"mamba", "a state space"},
    Unsupported{"mamba2", "a state space"},
};

void check_count(std::string_view file, std::string_view what, std::int64_t count,
                 std::int64_t most = most_values) {
  if (count >= 1 && count <= most) return;
  throw Error(fmt::format("reading the model {}: {} {}; it must be 1 to {}", printable_line(file), what,
                          count, most));
}

[[noreturn]] void do_not_fit(std::string_view file, const std::string& what) {
  throw Error(fmt::format("reading the model {}: {}", printable_line(file), what));
}

}  // namespace

void check(const Decoder& decoder, std::string_view file) {
  check_count(file, "the number of blocks is", decoder.blocks, most_blocks);
  check_count(file, "the hidden size is", decoder.hidden);
  check_count(file, "the intermediate size is", decoder.intermediate);
  check_count(file, "the number of heads is", decoder.heads);
  check_count(file, "the number of heads of keys and values is", decoder.kv_heads);
  check_count(file, "the size of a head is", decoder.head_dim);
  check_count(file, "the size of the vocabulary is", decoder.vocab);
  check_count(file, "the number of values of all heads is", decoder.q_width());
  if (decoder.heads % decoder.kv_heads != 0) {
    do_not_fit(file, fmt::format("{} heads of queries cannot share {} heads of keys and values equally",
                                 decoder.heads, decoder.kv_heads));
  }
  if (decoder.rotary_dim < 2 || decoder.rotary_dim % 2 != 0 || decoder.rotary_dim > decoder.head_dim) {
    do_not_fit(file, fmt::format("the rotary embedding turns {} values of a head of {}; it must be an even "
                                 "number of them",
                                 decoder.rotary_dim, decoder.head_dim));
  }
  if (!(decoder.eps >= least_eps && decoder.eps <= most_eps)) {
    do_not_fit(file, fmt::format("eps of the norms is {}; it must be {} to {}", shortest(decoder.eps),
                                 least_eps, most_eps));
  }
}

std::int64_t equal_share(std::int64_t hidden, std::int64_t heads, std::string_view file) {
  check_count(file, "the hidden size is", hidden);
  check_count(file, "the number of heads is", heads);
  if (hidden % heads == 0) return hidden / heads;
  do_not_fit(file, fmt::format("{} heads cannot share {} values equally, and the size of a head is not given",
                               heads, hidden));
}

void refuse_unusual_parts(const UnusualParts& parts, const std::string& architecture, std::string_view file) {
  if (parts.experts > 0) needs_what_no_op_has(file, architecture, std::string(experts));
  if (!parts.soft_cap.empty())
    needs_what_no_op_has(file, architecture, fmt::format("a soft cap ('{}')", parts.soft_cap));
  if (parts.window && (!parts.context || *parts.window < *parts.context)) {
    needs_what_no_op_has(file, architecture,
                         fmt::format("attention in a sliding window of {} tokens", *parts.window));
  }
}

void set_heads(Decoder& decoder, std::optional<std::int64_t> kv_heads, std::optional<std::int64_t> head_dim,
               std::string_view file) {
  decoder.kv_heads = kv_heads.value_or(decoder.heads);
  decoder.head_dim = head_dim ? *head_dim : equal_share(decoder.hidden, decoder.heads, file);
}

const Architecture& architecture_named(const std::string& name, std::string_view file) {
  const auto known = std::ranges::find(known_architectures, name, &Architecture::name);
  if (known != known_architectures.end()) return *known;
  const auto unsupported = std::ranges::find(unsupported_architectures, name, &Unsupported::name);
  if (unsupported != unsupported_architectures.end())
    needs_what_no_op_has(file, name, std::string(unsupported->needs));
  std::vector<std::string_view> names;
  for (const Architecture& one : known_architectures) names.push_back(one.name);
  throw Error(fmt::format("reading the model {}: the architecture '{}' is unknown; known are {}",
                          printable_line(file), printable_line(shortened(name, 60)), fmt::join(names, ", ")));
}

void needs_what_no_op_has(std::string_view file, const std::string& architecture, const std::string& what) {
  throw Error(fmt::format("reading the model {}: its architecture, {}, needs {}, which no op has",
                          printable_line(file), printable_line(shortened(architecture, 60)), what));
}

}  // namespace assay::models
