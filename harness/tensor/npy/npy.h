#pragma once

#include "harness/tensor/tensor.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace assay {

/// Reads a NumPy .npy file (format 1.0 to 3.0, little endian, C order; f2 f4 f8 i1 i2 i4 i8 u1, and bool as
/// U8). Rank 0 is read as {1}. Throws Error with the file's name and what is wrong (missing, not .npy,
/// truncated, Fortran order, unsupported dtype). A header that claims more data than the file has does not
/// cause an allocation.
HostTensor read_npy(const std::filesystem::path& file);

/// What a .npy file's header says.
struct NpyHeader {
  DType dtype = DType::F32;
  Shape shape;
};

/// Reads only the header, however large the file is. Throws Error as read_npy() does, except for problems in
/// the data.
NpyHeader read_npy_header(const std::filesystem::path& file);

/// Parses the bytes of a .npy file, such as a member of an archive; `name` is used in errors.
HostTensor parse_npy(std::span<const std::byte> content, std::string_view name);

/// Writes format 1.0. Throws Error(Infrastructure) if the file cannot be written completely.
void write_npy(const std::filesystem::path& file, const HostTensor& tensor);

}  // namespace assay
