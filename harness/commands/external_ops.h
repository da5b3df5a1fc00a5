#pragma once

#include "harness/commands/context.h"

#include <filesystem>
#include <span>

namespace assay::app {

/// Returns the context with the ops that the manifests in these folders declare, too; the given one if there
/// is no folder. Throws Error(Usage) with all errors of the manifests.
Context with_ops(const Context& context, std::span<const std::filesystem::path> folders);

}  // namespace assay::app
