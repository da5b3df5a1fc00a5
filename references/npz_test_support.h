#pragma once

// Reading of .npz files, the zip archives of .npy files that numpy.savez writes.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace assay::test {

/// The bytes of an archive's members by name.
using NpzMembers = std::map<std::string, std::vector<std::byte>, std::less<>>;

/// Reads all members of an archive that is stored, not compressed. Throws Error naming the archive, the
/// member where it is about one, and what is wrong (missing, no zip archive, compressed, damaged).
NpzMembers read_npz(const std::filesystem::path& archive);

}  // namespace assay::test
