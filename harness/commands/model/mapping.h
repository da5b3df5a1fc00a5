#pragma once

#include "harness/models/decoder.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::app {

/// Which op computes what of a decoder, with which parameters and how often: docs/models.md describes it. An
/// op more is an entry of one of the two tables in mapping.cpp.

/// One step of a model: a token (decode) or a prompt (prefill).
struct MappedStep {
  std::string name;  ///< "decode", "prefill"; of one of several, "decode_4096", "prefill_128"
  std::int64_t tokens = 1;
  std::int64_t start = 0;  ///< position of the first token
  bool is_decode = false;
};

/// A linear layer y = x w, x of K values and y of N per token; layers of one shape that a step calls in the
/// same part of a block are one.
struct LinearLayer {
  std::string layer;  ///< "mlp.down"
  std::int64_t k = 0;
  std::int64_t n = 0;
  bool bias = false;
  std::int64_t calls = 0;  ///< of one step
};

/// The linear layers of the blocks, without the output head.
std::vector<LinearLayer> linear_layers(const models::Decoder& decoder);
/// The output head, which computes one token of any step.
LinearLayer output_head(const models::Decoder& decoder);

/// An op that can compute linear layers.
struct LinearOp {
  std::string_view name;
  bool has_groups = false;        ///< the parameter `group_size`
  bool has_dtype = true;          ///< the parameter `dtype`
  std::string_view parameters{};  ///< further ones, as YAML: "x: {scale: 0.031, zero_point: 7}"
  std::string_view in_decode{};   ///< further keys of cases with one token
};
std::span<const LinearOp> linear_ops();
/// Throws Error with the known ones.
const LinearOp& linear_op_named(const std::string& name);

/// A part of a step that is no linear layer.
struct MappedLayer {
  std::string layer;
  std::int64_t calls = 0;                                         ///< of one step
  std::vector<std::pair<std::string, std::string>> parameters{};  ///< names, and values as YAML
};

/// An op that computes such parts.
struct MappedOp {
  std::string_view name;
  std::vector<std::pair<std::string, std::string>> (*parameters)(
      const models::Decoder&);  ///< of all its layers
  std::vector<MappedLayer> (*layers)(const models::Decoder&, const MappedStep&);
  bool has_position = false;    ///< it depends on the position of the step's tokens
  bool cold_in_decode = false;  ///< what it reads is as large as weights, and in no cache
};
std::span<const MappedOp> mapped_ops();

}  // namespace assay::app
