#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::models {

/// A decoder of transformer blocks, each of attention and a gated MLP with SiLU, with an RMS norm before each
/// of the two and one after the last block. Counts are positive; check() says how large they may be.
struct Decoder {
  std::string architecture;       ///< as the file names it: "llama"
  std::int64_t hidden = 0;        ///< values of a token between blocks
  std::int64_t intermediate = 0;  ///< values of a token inside of the MLP
  std::int64_t blocks = 0;
  std::int64_t heads = 0;       ///< of queries
  std::int64_t kv_heads = 0;    ///< of keys and of values; divides `heads`
  std::int64_t head_dim = 0;    ///< values of a head
  std::int64_t rotary_dim = 0;  ///< values of a head that the rotary embedding turns: even
  std::int64_t vocab = 0;       ///< tokens that exist: rows of the embedding and of the output head
  double eps = 1e-5;            ///< of the RMS norms
  bool interleaved = false;     ///< which values turn together: 2i and 2i + 1, else i and i + rotary_dim / 2
  bool qkv_bias = false;
  bool o_bias = false;
  bool mlp_bias = false;
  bool qk_norm = false;        ///< each head of queries and keys has an RMS norm of its own
  bool fused_qkv = false;      ///< one linear layer makes queries, keys and values
  bool fused_gate_up = false;  ///< one linear layer makes the MLP's gate and what it gates

  std::int64_t q_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * head_dim; }
};

/// Throws Error that names `file` and the member if a count is not positive or too large for a model (so that
/// no product overflows), if kv_heads does not divide heads, if rotary_dim is odd or more than head_dim, or
/// if eps is not between 1e-20 and 1.
void check(const Decoder& decoder, std::string_view file);

/// The size of a head if all heads together are as wide as a token. Throws Error if that is no whole number.
std::int64_t equal_share(std::int64_t hidden, std::int64_t heads, std::string_view file);

/// What is known of an architecture by its name.
struct Architecture {
  std::string_view name;
  bool qkv_bias = false;
  bool qk_norm = false;
  bool fused = false;                  ///< fused_qkv and fused_gate_up
  bool window_needs_a_switch = false;  ///< a window in config.json counts only with `use_sliding_window`
  std::int64_t default_window = 0;     ///< of a config.json without `sliding_window`; 0: none
  bool gguf_interleaves = false;       ///< GGUF files store its weights for interleaved pairs
};

/// Returns the architecture, one of Llama, Mistral, Qwen 2, Qwen 3 and Phi-3 (which Phi-4 is, too). Throws
/// Error that names what the architecture needs and no op has, or that it is unknown, with those that are
/// known.
const Architecture& architecture_named(const std::string& name, std::string_view file);

/// What some files ask for and no op has.
struct UnusualParts {
  std::int64_t experts = 0;
  std::string soft_cap;                 ///< the member that sets one; empty: none
  std::optional<std::int64_t> window;   ///< tokens that attention in a sliding window sees
  std::optional<std::int64_t> context;  ///< tokens; a window as long as it hides nothing
};
/// Throws Error if a model has one of them.
void refuse_unusual_parts(const UnusualParts& parts, const std::string& architecture, std::string_view file);

/// The first soft cap that the file of a model sets, by its name, which is the same in GGUF and config.json;
/// empty: none. `reader` has a function number(name).
template <class Reader>
std::string soft_cap_of(const Reader& reader) {
  for (const char* name : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (reader.number(name).value_or(0) > 0) return name;
  }
  return "";
}

/// Sets what a file may leave out because it follows from the rest.
void set_heads(Decoder& decoder, std::optional<std::int64_t> kv_heads, std::optional<std::int64_t> head_dim,
               std::string_view file);

/// Throws the Error that `architecture` needs what no op has: "the activation 'gelu'".
[[noreturn]] void needs_what_no_op_has(std::string_view file, const std::string& architecture,
                                       const std::string& what);

}  // namespace assay::models
