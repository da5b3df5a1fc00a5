#include "harness/base/host_info.h"

#include <array>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace assay {
namespace {

std::string value_of_line(const std::string& file, const std::string& key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key)) continue;
    std::string value = line.substr(line.find(separator) + 1);
    std::erase(value, '"');
    value.erase(0, value.find_first_not_of(" \t"));
    return value;
  }
  return "unknown";
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

HostInfo host_info() {
  return {.name = host_name(),
          .os = value_of_line("/etc/os-release", "PRETTY_NAME=", '='),
          .cpu = value_of_line("/proc/cpuinfo", "model name", ':'),
          .cores = static_cast<int>(std::thread::hardware_concurrency())};
}

}  // namespace assay
