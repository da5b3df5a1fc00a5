#include "harness/base/host_info.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <string>
#include <sys/resource.h>
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

std::uint64_t host_memory_bytes() {
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  const std::uint64_t installed =
      pages > 0 && page_bytes > 0 ? static_cast<std::uint64_t>(pages * page_bytes) : 0;
  // In a container its own group is the root; the file then has a number, or "max".
  std::ifstream group("/sys/fs/cgroup/memory.max");
  std::uint64_t allowed = 0;
  return group >> allowed && allowed > 0 && (installed == 0 || allowed < installed) ? allowed : installed;
}

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Returns the processor time of all threads of this process.
double own_seconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

ProcessorUse::ProcessorUse() : start_(now()) {}

ProcessorUse::Times ProcessorUse::now() {
  // proc(5): user nice system idle iowait irq softirq steal, in ticks. Time stolen by a hypervisor counts as
  // busy, because this machine did not have it. Guests' time is part of user and nice.
  constexpr std::size_t idle = 3, iowait = 4, columns = 8;
  std::ifstream stat("/proc/stat");
  std::string label;
  std::array<double, columns> ticks{};
  stat >> label;
  for (double& column : ticks) stat >> column;
  if (!stat || label != "cpu") return {};
  const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  Times times{.own = own_seconds()};
  for (std::size_t i = 0; i < columns; ++i) {
    (i == idle || i == iowait ? times.idle : times.busy) += ticks[i] / per_second;
  }
  return times;
}

double ProcessorUse::by_others() const {
  const Times end = now();
  const double busy = end.busy - start_.busy, idle = end.idle - start_.idle;
  if (!(busy + idle > 0)) return 0;
  return std::clamp((busy - (end.own - start_.own)) / (busy + idle), 0.0, 1.0);
}

}  // namespace assay
