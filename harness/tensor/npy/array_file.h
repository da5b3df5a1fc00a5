#pragma once

#include "harness/tensor/npy/npy.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace assay {

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
