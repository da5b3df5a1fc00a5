#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// Headers of model files with the layout of real ones, and without weights.

namespace assay::test {

/// Writes the header of a GGUF file.
class GgufBytes {
 public:
  explicit GgufBytes(std::uint32_t version = 3) : version_(version) {}

  static std::string number(std::uint64_t value, std::size_t bytes) {
    std::string text(bytes, '\0');
    std::memcpy(text.data(), &value, bytes);
    return text;
  }
  static std::string text(std::string_view value) { return number(value.size(), 8) + std::string(value); }

  GgufBytes& raw(std::string_view key, std::uint32_t type, const std::string& value) {
    metadata_ += text(key) + number(type, 4) + value;
    ++entries_;
    return *this;
  }
  GgufBytes& u32(std::string_view key, std::uint32_t value) { return raw(key, 4, number(value, 4)); }
  GgufBytes& f32(std::string_view key, float value) {
    std::string bytes(4, '\0');
    std::memcpy(bytes.data(), &value, 4);
    return raw(key, 6, bytes);
  }
  GgufBytes& string(std::string_view key, std::string_view value) { return raw(key, 8, text(value)); }
  GgufBytes& strings(std::string_view key, const std::vector<std::string>& values) {
    std::string bytes = number(8, 4) + number(values.size(), 8);
    for (const std::string& value : values) bytes += text(value);
    return raw(key, 9, bytes);
  }
  GgufBytes& u32s(std::string_view key, const std::vector<std::uint32_t>& values) {
    std::string bytes = number(4, 4) + number(values.size(), 8);
    for (const std::uint32_t value : values) bytes += number(value, 4);
    return raw(key, 9, bytes);
  }
  /// `dims`: the innermost first, as the format has them.
  GgufBytes& tensor(std::string_view name, const std::vector<std::uint64_t>& dims) {
    tensors_ += text(name) + number(dims.size(), 4);
    for (const std::uint64_t dim : dims) tensors_ += number(dim, 8);
    tensors_ += number(12, 4) + number(0, 8);  // of Q4_K
    ++count_;
    return *this;
  }

  std::string bytes() const { return bytes(count_, entries_); }
  /// With other counts than those that are right.
  std::string bytes(std::uint64_t tensors, std::uint64_t entries) const {
    return "GGUF" + number(version_, 4) + number(tensors, 8) + number(entries, 8) + metadata_ + tensors_;
  }

 private:
  std::uint32_t version_;
  std::string metadata_, tensors_;
  std::uint64_t entries_ = 0, count_ = 0;
};

/// The header of Llama-3.2-1B in GGUF, with a short tokenizer, or of a model with fewer such blocks.
inline GgufBytes llama_gguf(std::uint32_t blocks = 16) {
  GgufBytes file;
  file.string("general.architecture", "llama").string("general.name", "../../../etc/passwd");
  file.u32("llama.block_count", blocks)
      .u32("llama.context_length", 131072)
      .u32("llama.embedding_length", 2048);
  file.u32("llama.feed_forward_length", 8192).u32("llama.attention.head_count", 32);
  file.u32("llama.attention.head_count_kv", 8).u32("llama.rope.dimension_count", 64);
  file.f32("llama.attention.layer_norm_rms_epsilon", 1e-5F).u32("llama.vocab_size", 128256);
  file.strings("tokenizer.ggml.tokens", {"a", "b", "c"});
  file.tensor("token_embd.weight", {2048, 128256}).tensor("output_norm.weight", {2048});
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const auto add = [&](const char* name, const std::vector<std::uint64_t>& dims) {
      file.tensor(fmt::format("blk.{}.{}", block, name), dims);
    };
    add("attn_norm.weight", {2048});
    add("ffn_norm.weight", {2048});
    add("attn_q.weight", {2048, 2048});
    add("attn_k.weight", {2048, 512});
    add("attn_v.weight", {2048, 512});
    add("attn_output.weight", {2048, 2048});
    add("ffn_gate.weight", {2048, 8192});
    add("ffn_up.weight", {2048, 8192});
    add("ffn_down.weight", {8192, 2048});
  }
  return file;
}

/// The config.json of Llama-3.2-1B: its members that say something of shapes, and some others.
inline constexpr const char* llama_config = R"({
  "architectures": ["LlamaForCausalLM"],
  "attention_bias": false,
  "bos_token_id": 128000,
  "head_dim": 64,
  "hidden_act": "silu",
  "hidden_size": 2048,
  "intermediate_size": 8192,
  "max_position_embeddings": 131072,
  "mlp_bias": false,
  "model_type": "llama",
  "num_attention_heads": 32,
  "num_hidden_layers": 16,
  "num_key_value_heads": 8,
  "rms_norm_eps": 1e-05,
  "rope_scaling": {"factor": 32.0, "rope_type": "llama3"},
  "rope_theta": 500000.0,
  "tie_word_embeddings": true,
  "vocab_size": 128256
})";

/// A .safetensors file of this JSON, without weights.
inline std::string safetensors_of(const std::string& json) {
  return GgufBytes::number(json.size(), 8) + json;
}

/// The entry of a tensor of bfloat16 in such a file: "name": {...}.
inline std::string tensor_entry(const std::string& name, const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  std::string dims;
  for (const std::int64_t dim : shape) {
    elements *= dim;
    dims += (dims.empty() ? "" : ",") + std::to_string(dim);
  }
  return fmt::format(R"("{}":{{"dtype":"BF16","shape":[{}],"data_offsets":[0,{}]}})", name, dims,
                     2 * elements);
}

/// The header of a Qwen 3 with two blocks: 4 heads of 16 values, 2 of keys, 48 values of a token, 96 in its
/// MLP.
inline std::string small_qwen3_json() {
  std::string json = R"({"__metadata__":{"format":"pt"},)" +
                     tensor_entry("model.embed_tokens.weight", {320, 48}) + "," +
                     tensor_entry("model.norm.weight", {48});
  for (const char* block : {"model.layers.0.", "model.layers.1."}) {
    const auto add = [&](const char* name, const std::vector<std::int64_t>& shape) {
      json += "," + tensor_entry(std::string(block) + name, shape);
    };
    add("input_layernorm.weight", {48});
    add("post_attention_layernorm.weight", {48});
    add("self_attn.q_proj.weight", {64, 48});
    add("self_attn.k_proj.weight", {32, 48});
    add("self_attn.v_proj.weight", {32, 48});
    add("self_attn.o_proj.weight", {48, 64});
    add("self_attn.q_norm.weight", {16});
    add("self_attn.k_norm.weight", {16});
    add("mlp.gate_proj.weight", {96, 48});
    add("mlp.up_proj.weight", {96, 48});
    add("mlp.down_proj.weight", {48, 96});
  }
  return json + "}";
}

}  // namespace assay::test
