#pragma once

#include "harness/cases/expansion/load.h"
#include "harness/op/op.h"
#include "tests/support/temporary_folder.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

/// Ops with the parameters and tensors of real ones, and nothing to run.
///   q8ta_pixel_shuffle   qparams, two forms of each tensor, impls `fused` and `unfused` (no 4C1W)
///   quantize_affine      lists, choices, defaults, roles of fills, float tensors with textures
///   q8ta_dequantize      an output that is exact (dtype f32) or bounded (f16)
const Registry& fake_ops();

/// Loads a text as the file `case.yaml`.
LoadResult load_text(const TemporaryFolder& folder, std::string_view text, const LoadOptions& options = {});
LoadResult load_text(std::string_view text, const LoadOptions& options = {});

/// Loads a text that must have no errors.
std::vector<Case> load_good(std::string_view text, const LoadOptions& options = {});

/// Returns what `assay list` prints.
std::string listed(std::span<const Case* const> cases, bool details);

std::vector<std::string> ids_of(const std::vector<Case>& cases);

/// Returns all messages, one after the other, without the folder's path.
std::string messages(const TemporaryFolder& folder, const std::vector<Diagnostic>& errors);

/// Returns a case of q8ta_dequantize with a bounded output; `extra` is its seventh line and what follows.
std::string dequantize_case(std::string_view extra);

/// Returns a case file of q8ta_pixel_shuffle with one case that ends with `extra`: lines "    key: value".
std::string pixel_shuffle_case(std::string_view extra);

}  // namespace assay::test
