#include "harness/tensor/pack.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace assay {
namespace {

constexpr std::int64_t bytes_per_chunk = 1 << 18;  // fewer are not worth a thread
constexpr std::uint64_t word_bytes = 8;

/// Returns eight poison bytes, the first of which is at offset 8 * index: a bijective mix of the index.
std::uint64_t poison_word(Poison poison, std::uint64_t index) {
  std::uint64_t x = (index + 1) * 0x9E3779B97F4A7C15U;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93U;
  x ^= x >> 29;
  return x ^ poison.mask();
}

/// Fills whole words; the first has index `first_index`.
void fill_words(std::span<std::byte> bytes, Poison poison, std::uint64_t first_index) {
  for (std::size_t i = 0; i < bytes.size() / word_bytes; ++i) {
    const std::uint64_t word = poison_word(poison, first_index + i);
    std::memcpy(bytes.data() + i * word_bytes, &word, word_bytes);
  }
}

void fill_bytes(std::span<std::byte> bytes, Poison poison, std::uint64_t first_offset) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = poison_byte(poison, first_offset + i);
}

/// Orders a tensor's rows (elements of equal n, c, h) so that copying stays in one region of memory: if
/// channels are inside a row, all channels of a row come before the next row.
struct RowOrder {
  explicit RowOrder(const Physical& physical)
      : dims(physical.dims()), channels_inside(physical.strides()[1].lane < physical.strides()[2].lane) {}

  struct Row {
    std::int64_t n, c, h;
  };
  Row operator[](std::int64_t i) const {
    const std::int64_t inner = channels_inside ? dims.c : dims.h;
    const std::int64_t outer = channels_inside ? dims.h : dims.c;
    const std::int64_t a = i / inner % outer, b = i % inner, n = i / inner / outer;
    return channels_inside ? Row{n, b, a} : Row{n, a, b};
  }

  Dims dims;
  bool channels_inside;
};

/// Copies the rows [first, last) between the logical tensor and memory.
template <std::size_t Size, bool ToMemory, class Logical, class Memory>
void copy_rows(Logical* logical, Memory* memory, const Physical& physical, std::int64_t first,
               std::int64_t last) {
  const Dims& dims = physical.dims();
  const RowOrder rows(physical);
  const Physical::Stride along = physical.strides()[3];
  for (std::int64_t i = first; i < last; ++i) {
    const auto [n, c, h] = rows[i];
    const std::int64_t row = (n * dims.c + c) * dims.h + h;
    auto* row_logical = logical + row * dims.w * static_cast<std::int64_t>(Size);
    auto* row_memory = memory + physical.offset(n, c, h, 0) * static_cast<std::int64_t>(Size);
    for (std::int64_t w = 0; w < dims.w; ++w) {
      auto* in_logical = row_logical + w * static_cast<std::int64_t>(Size);
      auto* in_memory = row_memory + along.at(w) * static_cast<std::int64_t>(Size);
      if constexpr (ToMemory) {
        std::memcpy(in_memory, in_logical, Size);
      } else {
        std::memcpy(in_logical, in_memory, Size);
      }
    }
  }
}

template <bool ToMemory, class Logical, class Memory>
void copy_all(Logical* logical, Memory* memory, const Physical& physical) {
  const Dims& dims = physical.dims();
  const auto size = static_cast<std::int64_t>(size_of(physical.dtype()));
  const std::int64_t grain = div_up(bytes_per_chunk, dims.w * size);
  parallel_for(dims.n * dims.c * dims.h, grain, [&](std::int64_t first, std::int64_t last) {
    switch (size) {
      case 1:
        return copy_rows<1, ToMemory>(logical, memory, physical, first, last);
      case 2:
        return copy_rows<2, ToMemory>(logical, memory, physical, first, last);
      default:
        return copy_rows<4, ToMemory>(logical, memory, physical, first, last);
    }
  });
}

void check_matches(const HostTensor& tensor, const Physical& physical) {
  if (tensor.dtype() == physical.dtype() && tensor.shape() == physical.shape()) return;
  throw Error(fmt::format("packing a tensor {} {} as {}: the form was made for {} {}",
                          name_of(tensor.dtype()), to_string(tensor.shape()), to_string(physical.form()),
                          name_of(physical.dtype()), to_string(physical.shape())));
}

void check_size(std::size_t given, const Physical& physical, const char* doing, const char* where) {
  if (given == static_cast<std::size_t>(physical.bytes())) return;
  throw Error(fmt::format("{} a tensor {} {} {} {}: {} bytes are needed, but {} were given", doing,
                          name_of(physical.dtype()), to_string(physical.shape()), where,
                          to_string(physical.form()), physical.bytes(), given));
}

}  // namespace

std::byte poison_byte(Poison poison, std::uint64_t offset) {
  const std::uint64_t word = poison_word(poison, offset / word_bytes);
  return static_cast<std::byte>(word >> (8 * (offset % word_bytes)));
}

void fill_poison(std::span<std::byte> bytes, Poison poison, std::uint64_t first_offset) {
  const std::uint64_t misaligned = first_offset % word_bytes;
  const std::size_t head = std::min<std::size_t>(bytes.size(), misaligned == 0 ? 0 : word_bytes - misaligned);
  const std::size_t words = (bytes.size() - head) / word_bytes;
  const std::uint64_t first_index = (first_offset + head) / word_bytes;

  fill_bytes(bytes.first(head), poison, first_offset);
  parallel_for(static_cast<std::int64_t>(words), bytes_per_chunk, [&](std::int64_t first, std::int64_t last) {
    const std::size_t start = head + static_cast<std::size_t>(first) * word_bytes;
    fill_words(bytes.subspan(start, static_cast<std::size_t>(last - first) * word_bytes), poison,
               first_index + static_cast<std::uint64_t>(first));
  });
  const std::size_t done = head + words * word_bytes;
  fill_bytes(bytes.subspan(done), poison, first_offset + done);
}

bool has_padding(const Physical& physical) {
  const auto elements = static_cast<std::size_t>(numel(physical.shape()));
  return static_cast<std::size_t>(physical.bytes()) != elements * size_of(physical.dtype());
}

void pack_into(std::span<std::byte> data, const HostTensor& tensor, const Physical& physical, Poison poison,
               std::uint64_t first_offset) {
  check_matches(tensor, physical);
  check_size(data.size(), physical, "packing", "into");
  const std::span<const std::byte> logical = tensor.bytes();
  if (physical.is_contiguous()) {
    copy_bytes(data, logical);
    return fill_poison(data.subspan(logical.size()), poison, first_offset + logical.size());
  }
  if (has_padding(physical)) fill_poison(data, poison, first_offset);
  copy_all<true>(logical.data(), data.data(), physical);
}

std::vector<std::byte> pack(const HostTensor& tensor, const Physical& physical, Poison poison,
                            std::uint64_t first_offset) {
  std::vector<std::byte> data(static_cast<std::size_t>(physical.bytes()));
  pack_into(data, tensor, physical, poison, first_offset);
  return data;
}

HostTensor unpack(std::span<const std::byte> data, const Physical& physical) {
  check_size(data.size(), physical, "unpacking", "from");
  HostTensor tensor = HostTensor::uninitialized(physical.dtype(), physical.shape());
  if (physical.is_contiguous()) {
    copy_bytes(tensor.bytes(), data.first(tensor.bytes().size()));
  } else {
    copy_all<false>(tensor.bytes().data(), data.data(), physical);
  }
  return tensor;
}

}  // namespace assay
