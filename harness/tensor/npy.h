#pragma once

#include "harness/tensor/tensor.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace assay {

/// Reads a NumPy .npy file (format 1.0 to 3.0, little endian, C order; f2 f4 f8 i1 i2 i4 i8 u1 and bool as
/// U8). Rank 0 reads as {1}. Throws Error naming the file and what is wrong (missing, not .npy, truncated,
/// Fortran order, unsupported dtype); a header that claims more data than the file has never allocates for
/// it.
HostTensor read_npy(const std::filesystem::path& file);

/// What a .npy file says that it holds.
struct NpyHeader {
  DType dtype = DType::F32;
  Shape shape;
};

/// The header alone, however large the file is: of a file that read_npy() would read, but for its data.
/// Throws Error as read_npy() does.
NpyHeader read_npy_header(const std::filesystem::path& file);

/// The same from the bytes of such a file, a member of an archive for one; `name` is what errors call them.
HostTensor parse_npy(std::span<const std::byte> content, std::string_view name);

/// Writes format 1.0. Throws Error(Infrastructure) when the file cannot be written whole.
void write_npy(const std::filesystem::path& file, const HostTensor& tensor);

}  // namespace assay
