#pragma once

#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::external {

/// How a program ended, and the end of what it printed.
struct PythonRun {
  bool ended_well = false;  ///< with exit code 0
  std::string how;          ///< "exited with code 1"; empty: it took too long
  std::string printed;      ///< the last 64 KiB of both streams
};

/// A Python that has NumPy.
struct Interpreter {
  std::string path;      ///< "/usr/bin/python3"; empty: there is none
  std::string versions;  ///< "Python 3.11.2, NumPy 1.24.2"
  std::string missing;   ///< what is missing, and how to install it; empty: nothing
};

/// The one that the environment names as ASSAY_PYTHON, or the first of /usr/bin/python3 and the python3 of
/// PATH that imports NumPy. It is looked for once.
const Interpreter& interpreter();

/// Runs the interpreter, isolated from the user's settings, with an environment of PATH and what keeps
/// answers reproducible. It and its process group are killed after `seconds`. Throws Error(Infrastructure) if
/// it cannot be started.
PythonRun run_python(const std::string& path, const std::vector<std::string>& arguments, double seconds);

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
/// returns. These processes are forked from drivers, which have started Python and imported NumPy, and are
/// kept for later calls. That is protection from accidents, not from attackers: it runs as this user, and
/// reaches all files that he can.
class PythonReference {
 public:
  PythonReference(std::filesystem::path file, std::string function, PythonLimits limits = {});
  ~PythonReference();
  PythonReference(PythonReference&&) noexcept;
  PythonReference& operator=(PythonReference&&) noexcept;

  /// Returns an answer per output, in their order. The function is called with the inputs and with those
  /// parameters that it takes, all by keyword, and returns a dict: an array per output, and optionally
  /// "<output>_bound". Throws Error with what it did: the end of its traceback, what is wrong with the
  /// answer, or which limit was reached. Thread-safe.
  std::vector<PythonAnswer> compute(const Params& params, std::span<const NamedTensor> inputs,
                                    std::span<const WantedOutput> outputs) const;

 private:
  class Drivers;

  std::filesystem::path file_;
  std::string function_;
  PythonLimits limits_;
  std::unique_ptr<Drivers> drivers_;
};

/// Why references in Python cannot run on this machine, and what to install; nothing if they can.
std::optional<std::string> why_no_python();

/// "Python 3.11.2, NumPy 1.24.2"; empty where they cannot run.
std::string python_versions();

/// The text of driver.py.
std::string python_driver();

}  // namespace assay::external
