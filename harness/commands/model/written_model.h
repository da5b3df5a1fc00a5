#pragma once

#include "harness/models/decoder.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::app {

/// What the cases of a model are to be.
struct ModelCases {
  std::string name;  ///< the model's, of [a-z0-9_]
  std::vector<std::string> linear_ops{"linear_q4gsw"};
  std::vector<std::int64_t>
      group_sizes{};  ///< of ops with groups; empty: 32 and 128, or what the model allows
  std::vector<std::int64_t> prompts{512};    ///< tokens of each
  std::vector<std::int64_t> contexts{1024};  ///< a decoded token is the last of so many; not empty
  std::string dtype = "f16";                 ///< of activations
};

/// A file of a model's folder.
struct CaseFile {
  std::string name;  ///< "rms_norm.yaml"
  std::string text;
};

/// The group sizes for the linear layers of a decoder, ascending. Throws Error if a given size does not
/// divide every K, or if none is given and no multiple of 8 does.
std::vector<std::int64_t> group_sizes_for(const models::Decoder& decoder, const ModelCases& cases);

/// The case files of a model: shapes.yaml with its linear layers, and one file per op. Throws Error if an op
/// is unknown, or see group_sizes_for().
std::vector<CaseFile> case_files(const models::Decoder& decoder, const ModelCases& cases);

}  // namespace assay::app
