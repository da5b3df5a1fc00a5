#pragma once

#include "harness/op/op.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::faults {

using BuildProgram = std::function<Program(const BuildContext&)>;

/// A mistake of the host that builds a program: a grid, a push constant, a specialization constant, a
/// binding, a layout. It is not a mistake of a kernel.
struct HostFault {
  std::string name;
  /// Returns the wrong program; nothing if the mistake cannot be made at this point.
  std::function<std::optional<Program>(const BuildProgram&, const BuildContext&)> make;
};

/// All kinds, in a fixed order.
const std::vector<HostFault>& host_faults();

/// Impl `impl`, whose programs have the fault wherever it can be made. It refers to neither argument
/// afterwards.
Impl with_host_fault(const Impl& impl, const HostFault& fault);

}  // namespace assay::faults
