#include "tests/faults/own_kernels/own_kernels.h"

#include "harness/base/file.h"
#include "harness/commands/mutate/equivalent_faults.h"
#include "harness/commands/mutate/fault_list.h"
#include "harness/commands/mutate/fault_reports.h"
#include "harness/commands/mutate/fault_result.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/shader_sources.h"
#include "tests/support/assay_binary.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <sys/resource.h>

// Kernels that no case runs are checked by unit tests. Each fault of `assay mutate` in such a kernel is put
// into it, and the unit tests run with it: they must see it, as rows must see those of other kernels.
//
// A run tries a few of the faults, always the same. With a folder in ASSAY_TEST_FAULTS_OUT it tries all, and
// writes the kill matrix there (docs/faults.md).

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using app::FaultEnd;
using app::FaultRecord;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t seed = 1;
constexpr std::size_t sample = 3;  // a fault takes some seconds of CPU time

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

double cpu_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return sum;
}

/// Tries faults, and keeps what is known of the kernels without any.
class Trials {
 public:
  Trials() {
    for (OwnKernel& kernel : own_kernels()) kernels_.emplace(kernel.file, std::move(kernel));
  }

  std::set<std::string> files() const {
    std::set<std::string> files;
    for (const auto& [file, kernel] : kernels_) files.insert(file);
    return files;
  }

  app::FaultResult result_of(const mutation::Fault& fault) {
    const double began = cpu_seconds();
    const TemporaryFolder folder;
    folder.write(fault.file, mutation::with_fault(fault, sources_.find(fault.file).value().text));
    app::FaultResult result{.id = fault.id};
    try {
      if (compiled(kernels_.at(fault.file), folder.path()) == without_fault(fault.file)) {
        result.end = FaultEnd::Unchanged;
      } else {
        try_tests(kernels_.at(fault.file), folder.path(), result);
      }
    } catch (const gpu::CompileError& error) {
      result.end = FaultEnd::DoesNotCompile;
      result.why = error.what();
    }
    result.cpu_s = cpu_seconds() - began;
    return result;
  }

  /// Whether the tests of a kernel run it here: those of matrices do not on a device without them. A kernel
  /// that does not compile fails them.
  bool is_tested(const std::string& file) {
    const auto [place, is_new] = is_tested_.try_emplace(file, false);
    if (is_new) {
      const TemporaryFolder folder;
      folder.write(file, "this is no GLSL");
      place->second = !run_tests(kernels_.at(file), folder.path()).failed.empty();
    }
    return place->second;
  }

 private:
  void try_tests(const OwnKernel& kernel, const fs::path& folder, app::FaultResult& result) {
    if (!is_tested(kernel.file)) {
      result.why = "no unit test runs the kernel on this device";
      return;
    }
    expect_passes_without_fault(kernel);
    const TestsRun run = run_tests(kernel, folder);
    result.rows_ran = run.ran;
    result.end = run.failed.empty() && run.unfinished.empty() ? FaultEnd::Survived : FaultEnd::Killed;
    constexpr std::size_t enough = 2;  // as in assay mutate
    for (const std::string& test : run.failed) {
      if (result.kills.size() < enough) result.kills.push_back({.row = test, .how = "FAIL", .word = ""});
    }
    if (!run.unfinished.empty()) {
      result.kills = {{.row = run.unfinished, .how = "CRASH", .word = ""}};
      passes_.erase(kernel.tests);  // the machine may be the reason
      expect_passes_without_fault(kernel);
    }
  }

  void expect_passes_without_fault(const OwnKernel& kernel) {
    if (passes_.contains(kernel.tests)) return;
    const TestsRun run = run_tests(kernel, {});
    if (!run.failed.empty() || !run.unfinished.empty())
      throw std::runtime_error("the tests '" + kernel.tests + "' do not pass without a fault");
    passes_.insert(kernel.tests);
  }

  const std::vector<std::vector<std::uint32_t>>& without_fault(const std::string& file) {
    const auto [place, is_new] = without_fault_.try_emplace(file);
    if (is_new) place->second = compiled(kernels_.at(file), {});
    return place->second;
  }

  gpu::ShaderSources sources_{{}, gpu::embedded_shaders()};
  std::map<std::string, OwnKernel> kernels_;  ///< by file
  std::map<std::string, std::vector<std::vector<std::uint32_t>>> without_fault_;
  std::map<std::string, bool> is_tested_;
  std::set<std::string> passes_;  ///< filters of tests
};

/// The files of shaders/harness and shaders/ceilings.
std::set<std::string> own_files() {
  std::set<std::string> files = gpu::ShaderSources({}, gpu::embedded_shaders()).names();
  std::erase_if(files, [](const std::string& file) {
    return !file.starts_with("harness/") && !file.starts_with("ceilings/");
  });
  return files;
}

std::vector<mutation::Fault> faults_of(const std::set<std::string>& files) {
  return app::all_faults(gpu::ShaderSources({}, gpu::embedded_shaders()), files, {});
}

/// A fault may hang a GPU.
bool runs_on_cpu() {
  const gpu::Instance instance;
  const std::vector<std::size_t> devices = gpu::select_devices(instance.devices(), {});
  return !devices.empty() && instance.devices().at(devices.front()).is_cpu();
}

app::FaultRun this_run() {
  const gpu::Instance instance;
  const DeviceInfo& device = instance.devices().at(gpu::select_devices(instance.devices(), {}).front());
  std::string version = assay({"--version"}).out;
  while (version.ends_with('\n')) version.pop_back();
  return {.choice = {},
          .version = version,
          .device = device.name,
          .driver = device.driver_name + " " + device.driver_info,
          .rows = "",
          .sources = ""};
}

void write_matrix(const fs::path& folder, const std::vector<FaultRecord>& records) {
  static const app::FaultRun run = this_run();
  make_directories(folder);
  replace_file(folder / "kill_matrix.csv", app::kill_matrix_csv(records));
  replace_file(folder / "faults.md", app::faults_markdown(run, records));
}

TEST(TestsRunTest, IsReadFromWhatGoogleTestPrints) {
  const TestsRun run = parse_tests(
      "[==========] Running 3 tests from 1 test suite.\n[ RUN      ] A.a\nfile:3: Failure\n"
      "[  FAILED  ] A.a, where GetParam() = true (2 ms)\n[ RUN      ] A.b\n[       OK ] A.b (1 ms)\n"
      "[ RUN      ] A.c\n[  SKIPPED ] A.c (0 ms)\n[==========] 3 tests from 1 test suite ran. (3 ms total)\n"
      "[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.a\n");
  EXPECT_EQ(run.ran, 2U);
  EXPECT_THAT(run.failed, ElementsAre("A.a"));
  EXPECT_EQ(run.unfinished, "");
  EXPECT_EQ(parse_tests("[ RUN      ] A.a\n[       OK ] A.a (2 ms)\n[ RUN      ] A.b\nx").unfinished, "A.b");
}

TEST(OwnKernels, AreAllTested) {
  EXPECT_EQ(Trials().files(), own_files()) << "own_kernels.cpp names the tests of each kernel";
}

/// All faults in their order, not run yet.
std::vector<FaultRecord> untried(const std::vector<mutation::Fault>& all) {
  std::vector<FaultRecord> records;
  for (const mutation::Fault& fault : mutation::shuffled(all, seed))
    records.push_back({fault, {.id = fault.id, .why = "the run ended before"}});
  return records;
}

/// Tries the first faults until the tests of `count` of them have run.
void try_first(Trials& trials, std::vector<FaultRecord>& records, std::size_t count) {
  for (FaultRecord& record : records) {
    if (count == 0) return;
    record.result = trials.result_of(record.fault);
    if (record.result.rows_ran > 0) --count;
  }
}

/// Tries all. The matrix has each result as soon as it is known.
void try_all(Trials& trials, std::vector<FaultRecord>& records, const fs::path& folder) {
  for (FaultRecord& record : records) {
    record.result = trials.result_of(record.fault);
    std::cout << name_of(record.result.end) << "  " << app::fault_text(record.fault) << std::endl;
    write_matrix(folder, records);
  }
}

/// What the list of equivalent faults says that the kernels do not, or no longer.
std::vector<std::string> wrong_entries(const std::vector<app::EquivalentFault>& listed,
                                       const std::vector<mutation::Fault>& all,
                                       const std::vector<FaultRecord>& records) {
  return app::wrong_entries(listed, all, records, gpu::ShaderSources({}, gpu::embedded_shaders()).names());
}

TEST(EquivalentFaults, AreOfLinesThatTheKernelsHave) {
  const auto listed = app::read_equivalent_faults(ASSAY_SOURCE_DIR "/shaders/equivalent.yaml");
  const auto all = faults_of(gpu::ShaderSources({}, gpu::embedded_shaders()).names());
  EXPECT_THAT(wrong_entries(listed, all, {}), IsEmpty());
  auto changed = listed;
  ASSERT_FALSE(changed.empty());
  changed.front().line_hash = "00000000";
  EXPECT_EQ(wrong_entries(changed, all, {}).size(), 1U);
}

// The list of equivalent faults is that of `assay mutate`.
TEST(OwnKernelFaults, AreSeenByTheKernelsTests) {
  if (!runs_on_cpu()) GTEST_SKIP() << "a fault may hang a GPU: VK_DRIVER_FILES can name lavapipe alone";
  Trials trials;
  const std::string out = environment("ASSAY_TEST_FAULTS_OUT");
  const std::vector<mutation::Fault> all = faults_of(trials.files());
  std::vector<FaultRecord> records = untried(all);
  out.empty() ? try_first(trials, records, sample) : try_all(trials, records, out);
  const auto listed = app::read_equivalent_faults(ASSAY_SOURCE_DIR "/shaders/equivalent.yaml");
  app::mark_equivalent(listed, records);
  for (const FaultRecord& record : records) {
    EXPECT_NE(record.result.end, FaultEnd::Survived)
        << app::fault_text(record.fault) << ' ' << record.fault.id;
  }
  EXPECT_THAT(wrong_entries(listed, all, records), IsEmpty());
  EXPECT_GT(score_of(records).killed, 0U);
  if (!out.empty()) write_matrix(out, records);
}

}  // namespace
}  // namespace assay::test
