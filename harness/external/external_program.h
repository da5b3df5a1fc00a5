#pragma once

#include "harness/external/manifest/manifest.h"
#include "harness/op/op.h"

#include <optional>
#include <string>

namespace assay::external {

/// The program of an impl at a point on a device. Throws Error with the place in the manifest for an
/// expression that has no value there, or one that makes no sense.
Program program_at(const Manifest& manifest, const DeclaredImpl& impl, const BuildContext& at);

/// The reason of the first exclusion that holds; nothing if none does.
std::optional<std::string> why_excluded(const DeclaredImpl& impl, const ImplPoint& at);

/// Which dispatch has more workgroups than the device takes, with both numbers; nothing if none has.
std::optional<std::string> why_beyond_device(const DeclaredImpl& impl, const BuildContext& at);

}  // namespace assay::external
