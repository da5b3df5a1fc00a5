#include "harness/models/config.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace assay::models {
namespace {

/// Members that count experts, by their names in various architectures.
constexpr const char* expert_members[] = {"num_local_experts", "num_experts", "n_routed_experts"};

void check_activation(const JsonObject& config, const std::string& architecture, std::string_view file) {
  const std::string activation = config.text("hidden_act").value_or("silu");
  if (activation == "silu" || activation == "swish") return;
  needs_what_no_op_has(file, architecture,
                       fmt::format("the activation '{}'", printable_line(shortened(activation, 40))));
}

/// Newer files list the attention of each block.
void check_layer_types(const JsonObject& config, const Architecture& architecture, std::string_view file) {
  const Json* types = config.find("layer_types");
  if (types == nullptr) return;
  for (const Json& type : *types) {
    if (type == "full_attention") continue;
    needs_what_no_op_has(file, std::string(architecture.name),
                         fmt::format("blocks with '{}'",
                                     type.is_string() ? printable_line(shortened(type.get<std::string>(), 40))
                                                      : "another attention"));
  }
}

/// Readers of a config.json without the member take the architecture's default.
void refuse_default_window(const Json& json, const Architecture& architecture, const UnusualParts& parts,
                           std::string_view file) {
  if (architecture.default_window == 0 || json.contains("sliding_window")) return;
  if (parts.context && *parts.context <= architecture.default_window) return;
  throw Error(
      fmt::format("reading the model {}: 'sliding_window' is missing, for which {} has a window of {} "
                  "tokens; write \"sliding_window\": null if its attention has none",
                  printable_line(file), architecture.name, architecture.default_window));
}

UnusualParts unusual_parts(const JsonObject& config, const Architecture& architecture) {
  UnusualParts parts{.soft_cap = soft_cap_of(config), .context = config.integer("max_position_embeddings")};
  for (const char* member : expert_members)
    parts.experts = std::max(parts.experts, config.integer(member).value_or(0));
  const std::optional<std::int64_t> window = config.integer("sliding_window");
  if (config.boolean("use_sliding_window").value_or(!architecture.window_needs_a_switch))
    parts.window = window;
  return parts;
}

void refuse_what_no_op_has(const Json& json, const Architecture& architecture, std::string_view file) {
  const JsonObject config(json, file);
  const std::string name(architecture.name);
  check_activation(config, name, file);
  check_layer_types(config, architecture, file);
  const UnusualParts parts = unusual_parts(config, architecture);
  refuse_unusual_parts(parts, name, file);
  refuse_default_window(json, architecture, parts, file);
}

/// The share of a head that turns: of older files a member of its own, of newer ones in 'rope_parameters'.
double rotary_share(const JsonObject& config, std::string_view file) {
  if (const std::optional<double> share = config.number("partial_rotary_factor")) return *share;
  const Json* rope = config.find("rope_parameters");
  if (rope == nullptr || !rope->is_object()) return 1;
  return JsonObject(*rope, file).number("partial_rotary_factor").value_or(1);
}

std::int64_t rotary_dim_of(const JsonObject& config, std::int64_t head_dim, std::string_view file) {
  const double share = rotary_share(config, file);
  if (share > 0 && share <= 1)
    return static_cast<std::int64_t>(std::floor(static_cast<double>(head_dim) * share));
  throw Error(
      fmt::format("reading the model {}: 'partial_rotary_factor' is {}; it must be more than 0 and at most 1",
                  printable_line(file), shortest(share)));
}

std::string architecture_of(const JsonObject& config, std::string_view file) {
  if (config.find("weight_map") != nullptr) {
    throw Error(fmt::format(
        "reading the model {}: it is an index of .safetensors files, which has no shapes; give the "
        "config.json that is beside it, or one of those files if it is the only one",
        printable_line(file)));
  }
  if (const std::optional<std::string> type = config.text("model_type")) return *type;
  throw Error(
      fmt::format("reading the model {}: 'model_type' is missing; a config.json of Hugging Face has it",
                  printable_line(file)));
}

}  // namespace

Decoder decoder_of_config(const Json& json, std::string_view file) {
  const JsonObject config(json, file);
  const Architecture& architecture = architecture_named(architecture_of(config, file), file);
  refuse_what_no_op_has(json, architecture, file);
  Decoder decoder{.architecture = std::string(architecture.name),
                  .hidden = config.required_integer("hidden_size"),
                  .intermediate = config.required_integer("intermediate_size"),
                  .blocks = config.required_integer("num_hidden_layers"),
                  .heads = config.required_integer("num_attention_heads")};
  set_heads(decoder, config.integer("num_key_value_heads"), config.integer("head_dim"), file);
  decoder.rotary_dim = rotary_dim_of(config, decoder.head_dim, file);
  decoder.vocab = config.required_integer("vocab_size");
  decoder.eps = config.number("rms_norm_eps").value_or(decoder.eps);
  const bool bias = config.boolean("attention_bias").value_or(false);
  decoder.qkv_bias = bias || architecture.qkv_bias;
  decoder.o_bias = bias;
  decoder.mlp_bias = config.boolean("mlp_bias").value_or(false);
  decoder.qk_norm = architecture.qk_norm;
  decoder.fused_qkv = decoder.fused_gate_up = architecture.fused;
  check(decoder, file);
  return decoder;
}

}  // namespace assay::models
