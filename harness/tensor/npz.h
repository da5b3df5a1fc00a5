#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// .npz files are the zip archives of .npy files that numpy.savez and numpy.savez_compressed write. Members
// are stored or deflated; archives of 4 GiB and more (zip64) and encrypted ones are refused.

namespace assay {

/// The bytes of an archive's members by name.
using NpzMembers = std::map<std::string, std::vector<std::byte>, std::less<>>;

/// Reads all members. Throws Error naming the archive, the member where it is about one, and what is wrong
/// (missing, no zip archive, damaged); a header that claims more data than there can be never allocates for
/// it.
NpzMembers read_npz(const std::filesystem::path& archive);

/// How many bytes a member has once it is inflated, as the archive says; nothing of it is read. Throws Error
/// as read_npz_member does.
std::uint64_t npz_member_bytes(const std::filesystem::path& archive, std::string_view member);

/// The bytes of one member, of the name that it was saved under: "y" finds "y.npy" too. Throws Error as
/// read_npz does, and names the members when there is no such one.
std::vector<std::byte> read_npz_member(const std::filesystem::path& archive, std::string_view member);

}  // namespace assay
