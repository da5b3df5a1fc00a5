#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/models/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::models {
namespace {

constexpr std::string_view prefix = "model.layers.";

/// The names of a block's weights, and of the others.
constexpr auto names_in_block =
    std::to_array<std::string_view>({"input_layernorm.weight",    "post_attention_layernorm.weight",
                                     "self_attn.q_proj.weight",   "self_attn.k_proj.weight",
                                     "self_attn.v_proj.weight",   "self_attn.o_proj.weight",
                                     "self_attn.q_proj.bias",     "self_attn.k_proj.bias",
                                     "self_attn.v_proj.bias",     "self_attn.o_proj.bias",
                                     "self_attn.q_norm.weight",   "self_attn.k_norm.weight",
                                     "self_attn.qkv_proj.weight", "self_attn.rotary_emb.inv_freq",
                                     "mlp.gate_proj.weight",      "mlp.up_proj.weight",
                                     "mlp.down_proj.weight",      "mlp.gate_proj.bias",
                                     "mlp.up_proj.bias",          "mlp.down_proj.bias",
                                     "mlp.gate_up_proj.weight"});
constexpr auto other_names =
    std::to_array<std::string_view>({"model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"});

/// The weights of a decoder, whose blocks are alike.
class Weights {
 public:
  Weights(const TensorShapes& shapes, std::string_view file) : file_(file) {
    for (const auto& [name, shape] : shapes) note(name, shape);
    for (const char* name : {"model.embed_tokens.weight", "model.norm.weight"}) {
      if (!others_.contains(name))
        fail(fmt::format("the tensor '{}' is missing: is it a part of a model?", name));
    }
    for (const auto& [name, blocks] : blocks_with_) {
      if (blocks != blocks_)
        fail(fmt::format("{} of its {} blocks have the tensor '{}': is it a part of a model?", blocks,
                         blocks_, name));
    }
  }

  std::int64_t blocks() const { return blocks_; }
  bool has(std::string_view name) const { return in_block_.contains(name); }

  /// The shape of a weight of each block.
  const std::vector<std::int64_t>& in_block(std::string_view name, std::size_t dims) const {
    return at(in_block_, name, dims);
  }
  const std::vector<std::int64_t>& other(std::string_view name, std::size_t dims) const {
    return at(others_, name, dims);
  }

  /// Shapes do not say it all.
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("reading the model {}: {}; give the config.json that is beside it",
                            printable_line(file_), what));
  }

 private:
  void note(const std::string& name, const std::vector<std::int64_t>& shape) {
    if (std::ranges::find(other_names, name) != other_names.end()) {
      others_.emplace(name, shape);
      return;
    }
    const std::optional<NameInBlock> found = name_in_block(name, prefix);
    if (!found || std::ranges::find(names_in_block, found->rest) == names_in_block.end())
      fail(fmt::format("the tensor '{}' has no place in a decoder that is known",
                       printable_line(shortened(name, 80))));
    const auto [place, is_new] = in_block_.emplace(found->rest, shape);
    if (!is_new && place->second != shape)
      fail(fmt::format("the tensor '{}' has the shape [{}], in another block [{}]",
                       printable_line(shortened(name, 80)), fmt::join(shape, ", "),
                       fmt::join(place->second, ", ")));
    ++blocks_with_[std::string(found->rest)];
    blocks_ = std::max(blocks_, found->block < most_blocks ? found->block + 1 : most_blocks);
  }

  const std::vector<std::int64_t>& at(const TensorShapes& shapes, std::string_view name,
                                      std::size_t dims) const {
    const auto found = shapes.find(name);
    if (found == shapes.end()) fail(fmt::format("the tensor '{}' is missing", name));
    if (found->second.size() != dims)
      fail(fmt::format("the tensor '{}' has {} dims instead of {}", name, found->second.size(), dims));
    return found->second;
  }

  static constexpr std::int64_t most_blocks = 1'000'000;

  std::string_view file_;
  TensorShapes in_block_, others_;
  std::map<std::string, std::int64_t> blocks_with_;  ///< how many have a tensor
  std::int64_t blocks_ = 0;
};

/// Linear layers by their names, and the {N, K} that they must have.
void check_linears(const Weights& weights, const Decoder& decoder) {
  const std::pair<const char*, std::vector<std::int64_t>> linears[] = {
      {"self_attn.q_proj.weight", {decoder.q_width(), decoder.hidden}},
      {"self_attn.k_proj.weight", {decoder.kv_width(), decoder.hidden}},
      {"self_attn.v_proj.weight", {decoder.kv_width(), decoder.hidden}},
      {"self_attn.o_proj.weight", {decoder.hidden, decoder.q_width()}},
      {"mlp.gate_proj.weight", {decoder.intermediate, decoder.hidden}},
      {"mlp.up_proj.weight", {decoder.intermediate, decoder.hidden}},
      {"mlp.down_proj.weight", {decoder.hidden, decoder.intermediate}}};
  for (const auto& [name, shape] : linears) {
    if (weights.in_block(name, 2) != shape)
      weights.fail(
          fmt::format("the tensor '{}' has the shape [{}], which does not fit the others: [{}] would", name,
                      fmt::join(weights.in_block(name, 2), ", "), fmt::join(shape, ", ")));
  }
}

}  // namespace

Decoder decoder_of_shapes(const TensorShapes& shapes, std::string_view file) {
  const Weights weights(shapes, file);
  if (!weights.has("self_attn.q_norm.weight")) weights.fail("shapes alone do not say how many heads it has");
  Decoder decoder{.architecture = "qwen3", .blocks = weights.blocks(), .qk_norm = true};
  decoder.vocab = weights.other("model.embed_tokens.weight", 2)[0];
  decoder.hidden = weights.other("model.embed_tokens.weight", 2)[1];
  decoder.intermediate = weights.in_block("mlp.gate_proj.weight", 2)[0];
  decoder.head_dim = decoder.rotary_dim = weights.in_block("self_attn.q_norm.weight", 1)[0];
  decoder.heads = weights.in_block("self_attn.q_proj.weight", 2)[0] / decoder.head_dim;
  decoder.kv_heads = weights.in_block("self_attn.k_proj.weight", 2)[0] / decoder.head_dim;
  decoder.eps = 1e-6;
  decoder.qkv_bias = weights.has("self_attn.q_proj.bias");
  decoder.o_bias = weights.has("self_attn.o_proj.bias");
  decoder.mlp_bias = weights.has("mlp.up_proj.bias");
  check(decoder, file);
  check_linears(weights, decoder);
  return decoder;
}

}  // namespace assay::models
