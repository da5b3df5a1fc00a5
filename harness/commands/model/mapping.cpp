#include "harness/commands/model/mapping.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace assay::app {
namespace {

using models::Decoder;
using Parameters = std::vector<std::pair<std::string, std::string>>;

std::string list(std::initializer_list<std::int64_t> numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

constexpr std::int64_t usual_embedding_group = 32, least_embedding_group = 8;

/// Groups of 32 as the op has them, or smaller ones that divide a row.
Parameters of_embedding(const Decoder& decoder) {
  Parameters parameters{{"vocab", std::to_string(decoder.vocab)}, {"dim", std::to_string(decoder.hidden)}};
  std::int64_t group = usual_embedding_group;
  while (group > least_embedding_group && decoder.hidden % group != 0) group /= 2;
  if (group != usual_embedding_group) parameters.emplace_back("group_size", std::to_string(group));
  return parameters;
}

std::vector<MappedLayer> embedding(const Decoder&, const MappedStep& step) {
  return {{"embedding", 1, {{"indices", list({step.tokens})}}}};
}

Parameters of_norms(const Decoder& decoder) {
  return {{"eps", fmt::format("{}", decoder.eps)}};
}

/// What precedes a norm, the end of attention or of an MLP, is added to the sum of all before; nothing
/// precedes the first one.
std::vector<MappedLayer> norms(const Decoder& decoder, const MappedStep& step) {
  const std::string shape = list({step.tokens, decoder.hidden});
  std::vector<MappedLayer> layers{
      {"norm.first", 1, {{"shape", shape}}},
      {"norm.residual", 2 * decoder.blocks, {{"shape", shape}, {"residual", "true"}}}};
  if (decoder.qk_norm) {
    layers.push_back(
        {"attn.q_norm", decoder.blocks, {{"shape", list({step.tokens, decoder.heads, decoder.head_dim})}}});
    layers.push_back({"attn.k_norm",
                      decoder.blocks,
                      {{"shape", list({step.tokens, decoder.kv_heads, decoder.head_dim})}}});
  }
  return layers;
}

Parameters of_rotary(const Decoder& decoder) {
  Parameters parameters{{"pairs", decoder.interleaved ? "interleaved" : "half_split"}};
  if (decoder.rotary_dim != decoder.head_dim)
    parameters.emplace_back("rotary_dim", std::to_string(decoder.rotary_dim));
  return parameters;
}

std::vector<MappedLayer> rotary(const Decoder& decoder, const MappedStep& step) {
  const auto layer = [&](const char* name, std::int64_t heads) {
    return MappedLayer{name,
                       decoder.blocks,
                       {{"shape", list({1, step.tokens, heads, decoder.head_dim})},
                        {"start_pos", std::to_string(step.start)}}};
  };
  return {layer("attn.rotary_q", decoder.heads), layer("attn.rotary_k", decoder.kv_heads)};
}

Parameters none(const Decoder&) {
  return {};
}

std::vector<MappedLayer> gate(const Decoder& decoder, const MappedStep& step) {
  return {{"mlp.gate", decoder.blocks, {{"shape", list({step.tokens, decoder.intermediate})}}}};
}

std::vector<MappedLayer> caches(const Decoder& decoder, const MappedStep& step) {
  return {{"attn.update_cache",
           2 * decoder.blocks,
           {{"S", std::to_string(step.tokens)},
            {"Hkv", std::to_string(decoder.kv_heads)},
            {"D", std::to_string(decoder.head_dim)},
            {"start_pos", std::to_string(step.start)}}}};
}

std::vector<MappedLayer> attention(const Decoder& decoder, const MappedStep& step) {
  return {{"attn.sdpa",
           decoder.blocks,
           {{"S", std::to_string(step.tokens)},
            {"H", std::to_string(decoder.heads)},
            {"Hkv", std::to_string(decoder.kv_heads)},
            {"D", std::to_string(decoder.head_dim)},
            {"start_pos", std::to_string(step.start)}}}};
}

constexpr std::array all_mapped_ops{
    MappedOp{"embedding_q4gsw", of_embedding, embedding},
    MappedOp{"rms_norm", of_norms, norms},
    MappedOp{.name = "rotary_embedding", .parameters = of_rotary, .layers = rotary, .has_position = true},
    MappedOp{.name = "update_cache", .parameters = none, .layers = caches, .has_position = true},
    MappedOp{.name = "sdpa",
             .parameters = none,
             .layers = attention,
             .has_position = true,
             .cold_in_decode = true},
    MappedOp{"silu_mul", none, gate},
};

constexpr std::array all_linear_ops{
    LinearOp{.name = "linear_q4gsw", .has_groups = true},
    LinearOp{.name = "linear_q4csw"},
    LinearOp{.name = "linear_dq8ca_q4gsw", .has_groups = true},
    LinearOp{.name = "linear_qta8a_qga4w", .has_groups = true},
    LinearOp{.name = "linear_q8csw"},
    LinearOp{.name = "q8ta_linear",
             .has_dtype = false,
             .parameters = "x: {scale: 0.031, zero_point: 7}",
             .in_decode = "forms: {x: buffer/4W, y: buffer/4W}"},
};

}  // namespace

std::vector<LinearLayer> linear_layers(const Decoder& decoder) {
  const std::int64_t hidden = decoder.hidden, blocks = decoder.blocks;
  const std::int64_t q = decoder.q_width(), kv = decoder.kv_width();
  std::vector<LinearLayer> layers;
  if (decoder.fused_qkv) {
    layers.push_back({"attn.qkv", hidden, q + 2 * kv, decoder.qkv_bias, blocks});
    layers.push_back({"attn.o", q, hidden, decoder.o_bias, blocks});
  } else if (q == hidden && decoder.qkv_bias == decoder.o_bias) {
    layers.push_back({"attn.q_o", hidden, q, decoder.qkv_bias, 2 * blocks});
    layers.push_back({"attn.k_v", hidden, kv, decoder.qkv_bias, 2 * blocks});
  } else {
    layers.push_back({"attn.q", hidden, q, decoder.qkv_bias, blocks});
    layers.push_back({"attn.k_v", hidden, kv, decoder.qkv_bias, 2 * blocks});
    layers.push_back({"attn.o", q, hidden, decoder.o_bias, blocks});
  }
  const std::int64_t parts = decoder.fused_gate_up ? 2 : 1;
  layers.push_back(
      {"mlp.gate_up", hidden, parts * decoder.intermediate, decoder.mlp_bias, 2 / parts * blocks});
  layers.push_back({"mlp.down", decoder.intermediate, hidden, decoder.mlp_bias, blocks});
  return layers;
}

LinearLayer output_head(const Decoder& decoder) {
  return {"head", decoder.hidden, decoder.vocab, false, 1};
}

std::span<const LinearOp> linear_ops() {
  return all_linear_ops;
}

const LinearOp& linear_op_named(const std::string& name) {
  const auto found = std::ranges::find(all_linear_ops, name, &LinearOp::name);
  if (found != all_linear_ops.end()) return *found;
  std::vector<std::string_view> names;
  for (const LinearOp& op : all_linear_ops) names.push_back(op.name);
  throw Error(fmt::format("writing the cases of a model: '{}' is no op for its linear layers; known are {}",
                          printable_line(shortened(name, 60)), fmt::join(names, ", ")));
}

std::span<const MappedOp> mapped_ops() {
  return all_mapped_ops;
}

}  // namespace assay::app
