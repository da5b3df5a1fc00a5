#pragma once

#include "harness/engine/accuracy.h"

#include <filesystem>

namespace assay {

/// Writes a case's tensors as .npy into `root`/<id with / as _>: NAME.npy (inputs), NAME.got.npy,
/// NAME.expected.npy and NAME.error.npy (f64, got - expected) of each output. Returns that folder. Throws
/// Error(Infrastructure).
std::filesystem::path dump_tensors(const std::filesystem::path& root, const Case& one, const DataSet& data,
                                   const Assessment& assessment);

}  // namespace assay
