#pragma once

#include "harness/device/device_profile.h"

#include <optional>
#include <string>

namespace assay::app {

/// Finds what --as-if names. If it is a file or folder: a profile (parse_profile), or a report or its
/// run.json, whose device becomes the profile. Else a shipped profile: profiles/NAME.json in the current
/// directory, next to the binary or in ../share/assay from it. Throws Error(Usage) if there is none, with the
/// names of those that there are; for a file that is no profile; and for a report that has a profile itself.
/// The name of one that is not shipped ends with a part of a hash of its contents: "phone@1a2b3c4d".
DeviceProfile find_profile(const std::string& asked);

/// The same; nothing if nothing is asked for.
std::optional<DeviceProfile> profile_of(const std::string& asked);

}  // namespace assay::app
