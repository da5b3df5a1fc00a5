#pragma once

#include "harness/tensor/npy.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace assay {

/// Where an array lies: a .npy file, or a member of a .npz archive.
struct ArrayFile {
  std::string path;
  std::string member;  ///< as numpy.savez calls it, "y" or "y.npy"; empty: the file is a .npy file

  ArrayFile() = default;
  ArrayFile(std::string file, std::string member_of_it = {})  // NOLINT(google-explicit-constructor)
      : path(std::move(file)), member(std::move(member_of_it)) {}

  friend bool operator==(const ArrayFile&, const ArrayFile&) = default;
  friend auto operator<=>(const ArrayFile&, const ArrayFile&) = default;  // NOLINT(modernize-use-nullptr)
};

/// "x.npy", "vectors.npz[x]".
std::string to_string(const ArrayFile& file);

/// What is known of an array before its data are read.
struct ArrayOutline {
  std::optional<NpyHeader> header;  ///< of a .npy file
  std::uint64_t bytes = 0;          ///< of a member of an archive, its header included
};

/// Throws Error, see read_npy_header() and npz_member_bytes().
ArrayOutline outline_of_array(const ArrayFile& file);

/// Throws Error, see read_npy() and read_npz_member().
HostTensor read_array(const ArrayFile& file);

}  // namespace assay
