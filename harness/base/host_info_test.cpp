#include "harness/base/host_info.h"

#include "harness/base/clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace assay {

namespace {

TEST(HostInfo, TellsTheMachineItRunsOn) {
  const HostInfo host = host_info();
  EXPECT_FALSE(host.name.empty());
  EXPECT_FALSE(host.os.empty());
  EXPECT_FALSE(host.cpu.empty());
  EXPECT_GE(host.cores, 1);
}

TEST(HostMemory, IsAtLeastWhatThisProcessHas) {
  std::ifstream own("/proc/self/statm");
  std::uint64_t all_pages = 0, pages = 0;
  own >> all_pages >> pages;
  EXPECT_GT(pages, 0U);
  EXPECT_GT(host_memory_bytes(), pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

constexpr double long_enough_s = 0.3;

/// Works until this thread has had that much of a processor, however busy the machine is.
void work_for(double seconds) {
  const auto spent_s = [] {
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) / ns_per_s;
  };
  volatile double sum = 0;
  for (const double end_s = spent_s() + seconds; spent_s() < end_s;) {
    for (int i = 0; i < 1000; ++i) sum = sum + std::sqrt(sum + 1);
  }
}

TEST(ProcessorUse, IsAShare) {
  const ProcessorUse use;
  sleep_for_seconds(long_enough_s);
  EXPECT_GE(use.by_others(), 0);
  EXPECT_LE(use.by_others(), 1);
}

TEST(ProcessorUse, CountsOthersAndNotThisProcess) {
  // Other load on the machine is in both measurements and leaves both the same room.
  const unsigned threads = std::max(std::thread::hardware_concurrency(), 1U);
  const ProcessorUse own;
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work_for, long_enough_s);
  workers.clear();
  const double while_working = own.by_others();

  const ProcessorUse others;
  std::vector<pid_t> children;
  for (unsigned i = 0; i < threads; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      work_for(long_enough_s);
      ::_exit(0);
    }
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  EXPECT_GT(others.by_others(), while_working);
}

}  // namespace

}  // namespace assay
