#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <unistd.h>

namespace assay::test {

/// A file with the input of a fuzzer, in a folder of this process that is removed at its end. Every input
/// replaces it.
class InputFile {
 public:
  explicit InputFile(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() / ("assay-fuzzer-" + std::to_string(::getpid()))),
        path_(folder_ / name) {
    std::filesystem::create_directories(folder_);
  }
  ~InputFile() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& write(const std::uint8_t* data, std::size_t size) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    if (!file.flush()) std::abort();  // the fuzzer would test nothing
    return path_;
  }

 private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

}  // namespace assay::test
