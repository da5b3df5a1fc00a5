#pragma once

#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay::external {

struct NamedTensor {
  std::string name;
  const HostTensor& tensor;
};

struct WantedOutput {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
};

/// What a reference returned for one output.
struct PythonAnswer {
  HostTensor values;                ///< of the output's dtype, or F64 for floats
  std::optional<HostTensor> bound;  ///< F64, not negative: an absolute error per element
};

/// What one call of a reference may use.
struct PythonLimits {
  double seconds = 240;  ///< less than the silence after which a worker counts as hanging
  double cpu_seconds = 240;
  std::uint64_t memory_bytes = std::uint64_t{16} << 30;
  std::uint64_t file_bytes = std::uint64_t{8} << 30;
};

/// A Python function of NumPy arrays that computes an op's outputs. Each call runs in a process of its own
/// with an empty environment but PATH, a new working folder and limits; what it started is ended when it
/// returns. These processes are forked from drivers (run_in_driver()). That is protection from accidents, not
/// from attackers: it runs as this user, and reaches all files that he can.
class PythonReference {
 public:
  PythonReference(std::filesystem::path file, std::string function, PythonLimits limits = {})
      : file_(std::move(file)), function_(std::move(function)), limits_(limits) {}

  /// Returns an answer per output, in their order. The function is called with the inputs and with those
  /// parameters that it takes, all by keyword, and returns a dict: an array per output, and optionally
  /// "<output>_bound". Throws Error with what it did: the end of its traceback, what is wrong with the
  /// answer, or which limit was reached. Thread-safe.
  std::vector<PythonAnswer> compute(const Params& params, std::span<const NamedTensor> inputs,
                                    std::span<const WantedOutput> outputs) const;

 private:
  std::filesystem::path file_;
  std::string function_;
  PythonLimits limits_;
};

/// Why references in Python cannot run on this machine, and what to install; nothing if they can.
std::optional<std::string> why_no_python();

/// "Python 3.11.2, NumPy 1.24.2"; empty where they cannot run.
std::string python_versions();

}  // namespace assay::external
