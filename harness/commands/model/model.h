#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/model/written_model.h"

#include <filesystem>
#include <string>

namespace assay::app {

struct ModelOptions {
  std::filesystem::path file;  ///< see models::read_model()
  std::filesystem::path out;   ///< the folder to write; empty: the model's name, in the working folder
  ModelCases cases;            ///< an empty name: that of `file`
};

/// The name of a model by that of its file, without suffix, or, for names that all models share (config.json,
/// model.safetensors), of the file's folder: lower-case letters and digits, and single
/// underscores for everything else. Throws Error if nothing is left.
std::string model_name_of(const std::filesystem::path& file);

/// Writes a folder of case files for the model that a file describes, loads them, and says on `terminal` what
/// it wrote and what no case covers. Throws Error(Usage), and leaves nothing behind, if the name has other
/// characters than [a-z0-9_], if the folder exists, if the file cannot be read as a model
/// (models::read_model()), or if a case would be wrong, with its errors.
ExitCode write_model(const ModelOptions& options, const Context& context, const Terminal& terminal);

}  // namespace assay::app
