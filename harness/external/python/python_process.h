#pragma once

#include <string>

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

/// Has a request of driver.py computed in a process that is forked from a driver: a Python that has imported
/// NumPy, waits for requests, and is kept for later ones. The run ended well if the outputs are written in
/// `folder`, which the request names. Thread-safe; threads in the background have drivers of their own, with
/// their priority. The driver is killed after `seconds`. Throws Error(Infrastructure) if it cannot be
/// started.
PythonRun run_in_driver(const std::string& request, const std::string& folder, double seconds);

/// The text of driver.py.
std::string python_driver();

}  // namespace assay::external
