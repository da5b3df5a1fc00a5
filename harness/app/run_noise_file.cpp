#include "harness/app/run_noise_file.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <cerrno>
#include <optional>
#include <string>

namespace assay::app {

std::vector<RunPair> pairs_in(const std::filesystem::path& file) {
  const std::optional<std::string> text = whole_file(file);
  if (!text) throw_file_error("read", file, errno);
  return parse_run_noise(*text, file.string());
}

RunNoise read_run_noise(const std::filesystem::path& file) {
  return file.empty() ? RunNoise() : RunNoise(pairs_in(file));
}

}  // namespace assay::app
