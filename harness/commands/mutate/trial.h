#pragma once

#include "harness/base/status.h"
#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/mutate/trial_rows.h"
#include "harness/engine/accuracy/answer_cache.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment_memory.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/shader_sources.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::app {

/// The shaders with a fault in one file.
class Mutant {
 public:
  struct Folders {
    std::filesystem::path scratch;  ///< for files of this process
    std::filesystem::path shaders;  ///< sources before the embedded ones; empty: none
  };

  /// Writes the file into the scratch folder. `without_fault` must outlive this.
  Mutant(const Folders& folders, const std::string& file, const std::string& text,
         gpu::ShaderLibrary& without_fault);

  gpu::ShaderLibrary& shaders() { return shaders_; }
  /// Lets the program's kernels from outside find the file with the fault, whatever folder it is in.
  void take_into(Program& program) const;
  /// Whether the SPIR-V of one of the variants differs. Throws CompileError; Error(Usage) if a shader does
  /// not compile without the fault.
  bool changes(const std::vector<ShaderVariant>& variants);
  /// Whether one of the variants that changes() found to differ still does when both are optimized.
  bool changes_optimized();

 private:
  bool differs(const ShaderVariant& variant);
  const std::vector<std::uint32_t>& compiled(const ShaderVariant& variant);
  const std::vector<std::uint32_t>& compiled_without_fault(const ShaderVariant& variant);
  bool uses_file(const ShaderVariant& variant);

  Folders folders_;
  std::filesystem::path file_;  ///< with the fault
  gpu::ShaderLibrary& without_fault_;
  gpu::ShaderSources sources_;
  gpu::ShaderLibrary shaders_;
  std::map<std::string, bool> uses_file_;  ///< by shader
  std::map<ShaderVariant, bool> differs_;
  std::map<ShaderVariant, bool> differs_optimized_;
};

/// A fault to be tried: a whole source instead of a file, and the rows to run, in order.
struct TrialRequest {
  std::string file;  ///< path below shaders/
  std::string text;
  std::vector<std::size_t> rows;
  std::size_t most_rows = 0;
  /// The rows are run without any fault instead: the end is Survived if all pass, else NotRun.
  bool without_fault = false;
};

/// A row that passed before no longer does without any fault: an earlier fault has damaged this process.
class DamagedProcess : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs rows with a fault in their shaders, in this process. Inputs and references are computed once and kept
/// for later faults.
class TrialBench {
 public:
  struct Parts {
    std::filesystem::path shaders{};  ///< sources before the embedded ones; empty: none
    std::filesystem::path scratch{};  ///< folder for files of this process
    AnswerCacheOptions answers{};
  };
  /// Told when a row begins, when it has killed the fault, when it has ended, and now and then while shaders
  /// are compiled.
  struct Listener {
    std::function<void(std::size_t row)> begin;
    std::function<void()> end;
    std::function<void()> goes_on;
    std::function<void(std::size_t row, const Kill& kill)> killed;
  };

  /// Device and rows must outlive this.
  TrialBench(gpu::Device& device, std::span<const TrialRow> rows, const Parts& parts);

  /// A row kills the fault if it fails with the fault and, right after, passes without. Throws
  /// DamagedProcess; what `listener` throws.
  FaultResult run(const TrialRequest& request, const Listener& listener);

  /// Whether nothing more can run on the device in this process.
  bool is_lost() const { return is_lost_; }

 private:
  struct Data {
    DataSet set;
    std::optional<PackedInputs> packed;
  };
  struct Answer {
    Status status = Status::Pass;
    std::string how;
    std::string word;
  };

  FaultResult run_without_fault(const TrialRequest& request, const Listener& listener);
  /// Runs rows until enough of them have killed the fault; `rows_left`: those that were not looked at.
  void run_rows(const TrialRequest& request, Mutant& mutant, const Listener& listener, FaultResult& result);
  FaultEnd end_of(FaultResult& result, const TrialRequest& request, Mutant& mutant, const Listener& listener);
  bool changes(Mutant& mutant, std::size_t row, const Listener& listener);
  bool changes_some_of(Mutant& mutant, std::span<const std::size_t> left, const Listener& listener);
  std::optional<Kill> killed_by(std::size_t row, Mutant& mutant);
  Answer answer_of(std::size_t row, Mutant* mutant);  ///< null: without any fault
  Answer assessed(const TrialRow& row, Mutant* mutant);
  Data& data_for(const Case& test_case);
  bool passes_without_fault(std::size_t row);

  gpu::Device& device_;
  std::span<const TrialRow> rows_;
  Parts parts_;
  AnswerCache answers_;
  gpu::ShaderLibrary without_fault_;
  std::map<std::uint64_t, std::unique_ptr<Data>> data_;
  std::size_t data_bytes_ = 0;
  std::set<std::size_t> passed_;
  std::set<std::size_t> unfit_;  ///< rows that do not pass here without a fault, either
  bool is_lost_ = false;
  double told_s_ = 0;  ///< when the listener was last told that it goes on
};

}  // namespace assay::app
