#include "harness/app/run_noise_file.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <cerrno>
#include <fstream>
#include <sstream>

namespace assay::app {

std::vector<RunPair> pairs_in(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw_file_error("read", file, errno);
  std::ostringstream text;
  text << stream.rdbuf();
  return parse_run_noise(text.str(), file.string());
}

RunNoise read_run_noise(const std::filesystem::path& file) {
  return file.empty() ? RunNoise() : RunNoise(pairs_in(file));
}

}  // namespace assay::app
