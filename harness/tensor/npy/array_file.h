#pragma once

#include "harness/tensor/npy/npy.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// .npz files are zip archives of .npy files, written by numpy.savez and numpy.savez_compressed. Members are
// stored or deflated. Archives of 4 GiB and more (zip64) and encrypted ones are refused.

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

/// Says where an array is: in a .npy file, or in a member of a .npz archive.
struct ArrayFile {
  std::string path;
  std::string member;  ///< the name in numpy.savez, "y" or "y.npy"; empty: the file is a .npy file

  ArrayFile() = default;
  ArrayFile(std::string file, std::string member_of_it = {})  // NOLINT(google-explicit-constructor)
      : path(std::move(file)), member(std::move(member_of_it)) {}

  friend bool operator==(const ArrayFile&, const ArrayFile&) = default;
  friend auto operator<=>(const ArrayFile&, const ArrayFile&) = default;  // NOLINT(modernize-use-nullptr)
};

/// Returns "x.npy" or "vectors.npz[x]".
std::string to_string(const ArrayFile& file);

/// What is known about an array before its data are read.
struct ArrayOutline {
  std::optional<NpyHeader> header;  ///< for a .npy file
  std::uint64_t bytes = 0;          ///< for a member of an archive: its size, with its header
};

/// Reads an array's outline. Throws Error as read_npy_header() and npz_member_bytes() do.
ArrayOutline outline_of_array(const ArrayFile& file);

/// Reads an array. Throws Error as read_npy() and read_npz_member() do.
HostTensor read_array(const ArrayFile& file);

}  // namespace assay
