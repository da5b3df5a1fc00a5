#include "harness/cases/expansion/load.h"

#include "harness/cases/expansion/case_expansion.h"
#include "harness/cases/expansion/file_loader.h"
#include "harness/cases/yaml/source_file.h"

#include <stdexcept>
#include <system_error>

namespace assay {
namespace {

void check_param_names(const Registry& registry) {
  for (const Op& op : registry.ops()) {
    for (const ParamSpec& param : op.params) {
      if (!cases::is_reserved(param.name)) continue;
      throw std::logic_error("op " + op.name + " declares a parameter '" + param.name +
                             "', which is a key of the case language");
    }
  }
}

}  // namespace

LoadResult load_cases(std::span<const std::filesystem::path> files_or_directories, const Registry& registry,
                      const LoadOptions& options) {
  check_param_names(registry);
  cases::LoadState state{registry, options, {}, {}, {}, {}, 0};
  cases::FileLoader loader(state);
  for (const std::filesystem::path& path : files_or_directories) {
    try {
      std::error_code ignored;
      const bool is_named = !std::filesystem::is_directory(path, ignored);
      for (const std::filesystem::path& file : cases::case_files(path)) loader.load(file, is_named);
    } catch (const cases::Problem& problem) {
      state.reporter.add(problem);
    }
  }
  return {std::move(state.cases).take(), state.reporter.take(), loader.files(), state.npy_files.hashes()};
}

}  // namespace assay
