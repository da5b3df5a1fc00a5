#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/models/gguf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace assay::models {
namespace {

/// The metadata of a header, by type.
class Metadata {
 public:
  Metadata(const GgufHeader& header, std::string_view file) : header_(header), file_(file) {
    const GgufValue* name = find("general.architecture");
    const auto* text = name == nullptr ? nullptr : std::get_if<std::string>(name);
    if (text == nullptr) fail("its metadata do not name an architecture ('general.architecture', a text)");
    architecture_ = *text;
  }

  const std::string& architecture() const { return architecture_; }

  /// Of the architecture's key: "llama.block_count". An array with a value for each block must have equal
  /// ones.
  std::optional<std::int64_t> integer(std::string_view key) const {
    const std::string name = full(key);
    const GgufValue* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (const auto* array = std::get_if<GgufArray>(value)) return of_every_block(name, *array);
    if (const auto* integer = std::get_if<std::int64_t>(value)) return *integer;
    fail(fmt::format("'{}' is no integer", printable_line(name)));
  }

  std::optional<double> number(std::string_view key) const {
    const std::string name = full(key);
    const GgufValue* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (const auto* number = std::get_if<double>(value)) return *number;
    fail(fmt::format("'{}' is no real number", printable_line(name)));
  }

  std::int64_t required(std::string_view key) const {
    if (const std::optional<std::int64_t> value = integer(key)) return *value;
    fail(fmt::format("'{}' is missing", printable_line(full(key))));
  }

  /// The number of elements of an array, by its full key; nothing if there is none.
  std::optional<std::int64_t> size_of_array(std::string_view name) const {
    const GgufValue* value = find(name);
    const auto* array = value == nullptr ? nullptr : std::get_if<GgufArray>(value);
    if (array == nullptr) return std::nullopt;
    return static_cast<std::int64_t>(array->size);
  }

  /// Whether the file is one of several that make up a model.
  bool is_part() const {
    const GgufValue* parts = find("split.count");
    const auto* count = parts == nullptr ? nullptr : std::get_if<std::int64_t>(parts);
    return count != nullptr && *count > 1;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("reading the model {}: {}", printable_line(file_), what));
  }

 private:
  std::string full(std::string_view key) const { return fmt::format("{}.{}", architecture_, key); }

  const GgufValue* find(std::string_view name) const {
    const auto found = header_.metadata.find(name);
    return found == header_.metadata.end() ? nullptr : &found->second;
  }

  std::int64_t of_every_block(const std::string& name, const GgufArray& array) const {
    if (array.integers.empty()) fail(fmt::format("'{}' is no integer", printable_line(name)));
    const auto other = std::ranges::find_if(
        array.integers, [&](std::int64_t value) { return value != array.integers.front(); });
    if (other == array.integers.end()) return *array.integers.begin();
    fail(
        fmt::format("'{}' differs between blocks: {} and {}. The cases are for models whose blocks are alike",
                    printable_line(name), array.integers.front(), *other));
  }

  const GgufHeader& header_;
  std::string_view file_;
  std::string architecture_;
};

UnusualParts unusual_parts(const Metadata& metadata) {
  UnusualParts parts{.experts = metadata.integer("expert_count").value_or(0),
                     .soft_cap = soft_cap_of(metadata),
                     .context = metadata.integer("context_length")};
  const std::int64_t window = metadata.integer("attention.sliding_window").value_or(0);
  if (window > 0) parts.window = window;  // 0 stands for none
  return parts;
}

std::int64_t vocab_of(const Metadata& metadata, const GgufHeader& header) {
  if (const std::optional<std::int64_t> given = metadata.integer("vocab_size")) return *given;
  const auto embedding = header.tensors.find("token_embd.weight");
  if (embedding != header.tensors.end() && embedding->second.size() == 2) return embedding->second[0];
  if (const std::optional<std::int64_t> tokens = metadata.size_of_array("tokenizer.ggml.tokens"))
    return *tokens;
  metadata.fail(
      fmt::format("the size of the vocabulary is missing: '{}.vocab_size', 'tokenizer.ggml.tokens' or the "
                  "tensor 'token_embd.weight'",
                  printable_line(metadata.architecture())));
}

/// Whether the first block has a tensor. If the header does not list that block (a part of a model, or
/// metadata alone), the architecture says so.
bool has(const GgufHeader& header, std::string_view name, bool by_architecture) {
  const bool lists_block = header.tensors.contains("blk.0.attn_output.weight");
  return lists_block ? header.tensors.contains(name) : by_architecture;
}

void check_tensor(const Metadata& metadata, const std::string& name, const std::vector<std::int64_t>& shape,
                  const std::vector<std::int64_t>& wanted) {
  if (shape == wanted) return;
  metadata.fail(fmt::format("the tensor '{}' has the shape [{}], by the metadata it is [{}]",
                            printable_line(shortened(name, 80)), fmt::join(shape, ", "),
                            fmt::join(wanted, ", ")));
}

/// Shapes by the end of a tensor's name: "attn_q.weight".
using BlockShapes = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

/// The shapes of the weights of a block, as the metadata say them.
BlockShapes weights_of_block(const Decoder& decoder) {
  const std::int64_t up = decoder.fused_gate_up ? 2 * decoder.intermediate : decoder.intermediate;
  return {{"attn_norm.weight", {decoder.hidden}},
          {"ffn_norm.weight", {decoder.hidden}},
          {"attn_q.weight", {decoder.q_width(), decoder.hidden}},
          {"attn_k.weight", {decoder.kv_width(), decoder.hidden}},
          {"attn_v.weight", {decoder.kv_width(), decoder.hidden}},
          {"attn_qkv.weight", {decoder.q_width() + 2 * decoder.kv_width(), decoder.hidden}},
          {"attn_output.weight", {decoder.hidden, decoder.q_width()}},
          {"attn_q_norm.weight", {decoder.head_dim}},
          {"attn_k_norm.weight", {decoder.head_dim}},
          {"ffn_gate.weight", {decoder.intermediate, decoder.hidden}},
          {"ffn_up.weight", {up, decoder.hidden}},
          {"ffn_down.weight", {decoder.hidden, decoder.intermediate}}};
}

constexpr auto other_tensors = std::to_array<std::string_view>(
    {"token_embd.weight", "output_norm.weight", "output.weight", "rope_freqs.weight",
     "rope_factors_long.weight", "rope_factors_short.weight"});

/// What a weight may have beside it: a bias, and the scales of some quantized ones.
constexpr auto beside_a_weight = std::to_array<std::string_view>({".bias", ".scale", ".input_scale"});

/// Whether a block has such a tensor: a weight, what is beside that of a linear layer, or the frequencies of
/// the rotary embedding in old files.
bool has_place(std::string_view rest, const BlockShapes& weights) {
  if (weights.contains(rest) || rest.starts_with("attn_rot_embd")) return true;
  return std::ranges::any_of(beside_a_weight, [&](std::string_view end) {
    if (!rest.ends_with(end)) return false;
    const auto weight = weights.find(fmt::format("{}.weight", rest.substr(0, rest.size() - end.size())));
    return weight != weights.end() && weight->second.size() == 2;
  });
}

/// The weights that every block has.
std::vector<std::string> needed_in_block(const Decoder& decoder) {
  std::vector<std::string> names{"attn_norm.weight", "attn_output.weight", "ffn_norm.weight", "ffn_up.weight",
                                 "ffn_down.weight"};
  if (!decoder.fused_gate_up) names.emplace_back("ffn_gate.weight");
  if (decoder.qk_norm) names.insert(names.end(), {"attn_q_norm.weight", "attn_k_norm.weight"});
  if (decoder.fused_qkv) {
    names.emplace_back("attn_qkv.weight");
  } else {
    names.insert(names.end(), {"attn_q.weight", "attn_k.weight", "attn_v.weight"});
  }
  return names;
}

/// Refuses a model that lacks a weight. Metadata alone are enough, and so is a part of a split model.
void check_completeness(const Metadata& metadata, const GgufHeader& header, const Decoder& decoder) {
  const bool lists_blocks = std::ranges::any_of(
      header.tensors, [](const auto& tensor) { return name_in_block(tensor.first, "blk.").has_value(); });
  if (!lists_blocks || metadata.is_part()) return;
  std::vector<std::string> names{"token_embd.weight", "output_norm.weight"};
  for (std::int64_t block = 0; block < decoder.blocks; ++block) {
    for (const std::string& name : needed_in_block(decoder))
      names.push_back(fmt::format("blk.{}.{}", block, name));
  }
  const auto missing =
      std::ranges::find_if(names, [&](const std::string& name) { return !header.tensors.contains(name); });
  if (missing != names.end()) {
    metadata.fail(fmt::format("the tensor '{}' is missing, and by the metadata there are {} blocks", *missing,
                              decoder.blocks));
  }
}

void check_tensors(const Metadata& metadata, const GgufHeader& header, const Decoder& decoder) {
  const BlockShapes weights = weights_of_block(decoder);
  for (const auto& [name, shape] : header.tensors) {
    if (name == "token_embd.weight" || name == "output.weight")
      check_tensor(metadata, name, shape, {decoder.vocab, decoder.hidden});
    const std::optional<NameInBlock> in_block = name_in_block(name, "blk.");
    if (in_block ? !has_place(in_block->rest, weights)
                 : std::ranges::find(other_tensors, name) == other_tensors.end()) {
      metadata.fail(fmt::format("the tensor '{}' has no place in a decoder that is known",
                                printable_line(shortened(name, 80))));
    }
    if (!in_block) continue;
    if (in_block->block >= decoder.blocks) {
      metadata.fail(fmt::format("the tensor '{}' is of a block that the metadata do not count: there are {}",
                                printable_line(shortened(name, 80)), decoder.blocks));
    }
    const auto wanted = weights.find(in_block->rest);
    if (wanted != weights.end()) check_tensor(metadata, name, shape, wanted->second);
  }
  check_completeness(metadata, header, decoder);
}

void refuse_other_values(const Metadata& metadata, const Decoder& decoder) {
  const std::int64_t values = metadata.integer("attention.value_length").value_or(decoder.head_dim);
  if (values != decoder.head_dim) {
    metadata.fail(fmt::format("heads have {} values for keys and {} for values; the cases need equal numbers",
                              decoder.head_dim, values));
  }
}

}  // namespace

Decoder decoder_of(const GgufHeader& header, std::string_view file) {
  const Metadata metadata(header, file);
  const Architecture& architecture = architecture_named(metadata.architecture(), file);
  refuse_unusual_parts(unusual_parts(metadata), metadata.architecture(), file);
  Decoder decoder{.architecture = metadata.architecture(),
                  .hidden = metadata.required("embedding_length"),
                  .intermediate = metadata.required("feed_forward_length"),
                  .blocks = metadata.required("block_count"),
                  .heads = metadata.required("attention.head_count")};
  set_heads(decoder, metadata.integer("attention.head_count_kv"), metadata.integer("attention.key_length"),
            file);
  decoder.rotary_dim = metadata.integer("rope.dimension_count").value_or(decoder.head_dim);
  decoder.vocab = vocab_of(metadata, header);
  decoder.eps = metadata.number("attention.layer_norm_rms_epsilon").value_or(decoder.eps);
  decoder.interleaved = architecture.gguf_interleaves;
  decoder.fused_qkv = has(header, "blk.0.attn_qkv.weight", architecture.fused);
  decoder.qkv_bias =
      has(header, decoder.fused_qkv ? "blk.0.attn_qkv.bias" : "blk.0.attn_q.bias", architecture.qkv_bias);
  decoder.o_bias = has(header, "blk.0.attn_output.bias", false);
  decoder.mlp_bias = has(header, "blk.0.ffn_up.bias", false);
  decoder.qk_norm = has(header, "blk.0.attn_q_norm.weight", architecture.qk_norm);
  decoder.fused_gate_up = architecture.fused;
  refuse_other_values(metadata, decoder);
  check(decoder, file);
  check_tensors(metadata, header, decoder);
  return decoder;
}

}  // namespace assay::models
