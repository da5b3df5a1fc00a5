#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// .npz files are zip archives of .npy files, written by numpy.savez and numpy.savez_compressed. Members are
// stored or deflated. Archives of 4 GiB and more (zip64) and encrypted ones are refused.

namespace assay {

/// The bytes of an archive's members, by name.
using NpzMembers = std::map<std::string, std::vector<std::byte>, std::less<>>;

/// Reads all members. Throws Error with the archive's name, the member's if it concerns one, and what is
/// wrong (missing, not a zip archive, damaged). A header that claims an impossible amount of data does not
/// cause an allocation.
NpzMembers read_npz(const std::filesystem::path& archive);

/// Returns a member's inflated size as the archive states it, without reading the data. Throws Error as
/// read_npz_member does.
std::uint64_t npz_member_bytes(const std::filesystem::path& archive, std::string_view member);

/// Returns the bytes of one member by the name it was saved under: "y" finds "y.npy" too. Throws Error as
/// read_npz does, and lists the members if there is none of that name.
std::vector<std::byte> read_npz_member(const std::filesystem::path& archive, std::string_view member);

}  // namespace assay
