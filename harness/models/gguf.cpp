#include "harness/models/gguf.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace assay::models {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF files are little-endian");

constexpr std::string_view magic = "GGUF";
constexpr std::uint32_t oldest_version = 2, newest_version = 3;
constexpr std::uint64_t most_name_bytes =
    65535;  // of keys, by the format; longer tensor names are useless, too
constexpr std::uint32_t most_dims = 4;
constexpr int most_array_levels = 8;  // of arrays of arrays
constexpr std::uint64_t most_kept = 10'000;
constexpr std::uint64_t most_entries =
    100'000;  // models have dozens of metadata and some thousands of tensors

// The least bytes of an entry: a key's length, its type and a value; a name's length, dims, type and offset.
constexpr std::uint64_t least_entry = 8 + 4 + 1;
constexpr std::uint64_t least_tensor = 8 + 4 + 4 + 8;

enum class Type : std::uint32_t { U8, I8, U16, I16, U32, I32, F32, Bool, String, Array, U64, I64, F64 };

/// The least bytes of a value; 0: there is no such type.
std::uint64_t least_bytes(Type type) {
  constexpr std::array<std::uint64_t, 13> bytes{1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};
  const auto number = static_cast<std::size_t>(type);
  return number < bytes.size() ? bytes[number] : 0;
}

template <std::integral T>
std::int64_t as_int64(T value) {
  return std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value)
                                            : std::numeric_limits<std::int64_t>::max();
}

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("reading the model {}: at byte {} {}", printable_line(file_), at_, what));
  }

  std::uint64_t left() const { return bytes_.size() - at_; }
  std::uint64_t at() const { return at_; }

  std::string_view take(std::uint64_t count, std::string_view what) {
    if (count > left()) fail(fmt::format("{} needs {} bytes, and {} are left", what, count, left()));
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  template <class T>
  T number(std::string_view what) {
    T value{};
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return value;
  }

  std::string_view text(std::string_view what) {
    const auto size = number<std::uint64_t>(what);
    return take(size, what);
  }

  std::string name(std::string_view what) {
    const auto size = number<std::uint64_t>(what);
    if (size > most_name_bytes)
      fail(fmt::format("{} has {} bytes; at most {} are allowed", what, size, most_name_bytes));
    return std::string(take(size, what));
  }

  /// Refuses a number of entries of at least `least` bytes each that cannot follow.
  void check_count(std::uint64_t entries, std::uint64_t least, std::string_view what) const {
    if (entries > left() / least) {
      fail(fmt::format("the file says that it has {} {}, for which the {} bytes that are left are too few",
                       entries, what, left()));
    }
  }

  Type type() {
    const auto type = static_cast<Type>(number<std::uint32_t>("a type"));
    if (least_bytes(type) == 0)
      fail(fmt::format("{} is no type of a value", static_cast<std::uint32_t>(type)));
    return type;
  }

 private:
  std::string_view bytes_;
  std::string_view file_;
  std::size_t at_ = 0;
};

bool boolean(Reader& reader) {
  const auto byte = reader.number<std::uint8_t>("a boolean");
  if (byte > 1) reader.fail(fmt::format("a boolean is {}", byte));
  return byte == 1;
}

GgufValue read_value(Reader& reader, Type type, int level);

/// A text of a tokenizer, which has 100,000 of them, is not kept.
GgufValue read_element(Reader& reader, Type type, int level) {
  if (type != Type::String) return read_value(reader, type, level + 1);
  reader.text("a text of an array");
  return 0.0;
}

void keep(GgufArray& array, const GgufValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) array.integers.push_back(*integer);
  if (const auto* flag = std::get_if<bool>(&value)) array.integers.push_back(*flag ? 1 : 0);
}

GgufArray read_array(Reader& reader, int level) {
  if (level == most_array_levels)
    reader.fail(fmt::format("arrays are nested more than {} deep", most_array_levels));
  const Type type = reader.type();
  GgufArray array{.size = reader.number<std::uint64_t>("the size of an array")};
  reader.check_count(array.size, least_bytes(type), "elements of an array");
  const bool is_of_one_size = type != Type::String && type != Type::Array;
  const std::uint64_t looked_at = is_of_one_size ? std::min(array.size, most_kept) : array.size;
  for (std::uint64_t i = 0; i < looked_at; ++i) keep(array, read_element(reader, type, level));
  if (is_of_one_size) reader.take((array.size - looked_at) * least_bytes(type), "an array");
  return array;
}

GgufValue read_value(Reader& reader, Type type, int level) {
  switch (type) {
    case Type::U8:
      return as_int64(reader.number<std::uint8_t>("a value"));
    case Type::I8:
      return as_int64(reader.number<std::int8_t>("a value"));
    case Type::U16:
      return as_int64(reader.number<std::uint16_t>("a value"));
    case Type::I16:
      return as_int64(reader.number<std::int16_t>("a value"));
    case Type::U32:
      return as_int64(reader.number<std::uint32_t>("a value"));
    case Type::I32:
      return as_int64(reader.number<std::int32_t>("a value"));
    case Type::U64:
      return as_int64(reader.number<std::uint64_t>("a value"));
    case Type::I64:
      return as_int64(reader.number<std::int64_t>("a value"));
    case Type::F32:
      return static_cast<double>(reader.number<float>("a value"));
    case Type::F64:
      return reader.number<double>("a value");
    case Type::Bool:
      return boolean(reader);
    case Type::String:
      return std::string(reader.text("a text"));
    case Type::Array:
      return read_array(reader, level);
  }
  reader.fail("a value has no type");
}

void read_metadata(Reader& reader, std::uint64_t entries, GgufHeader& header) {
  for (std::uint64_t i = 0; i < entries; ++i) {
    std::string key = reader.name("a key");
    const Type type = reader.type();
    GgufValue value = read_value(reader, type, 0);
    const auto [place, is_new] = header.metadata.emplace(std::move(key), std::move(value));
    if (!is_new)
      reader.fail(fmt::format("the key '{}' comes again", printable_line(shortened(place->first, 80))));
  }
}

std::vector<std::int64_t> read_shape(Reader& reader, const std::string& name) {
  const auto dims = reader.number<std::uint32_t>("a number of dims");
  if (dims > most_dims) {
    reader.fail(fmt::format("the tensor '{}' has {} dims; at most {} are allowed",
                            printable_line(shortened(name, 80)), dims, most_dims));
  }
  std::vector<std::int64_t> shape(dims);
  std::uint64_t elements = 1;
  for (std::int64_t& dim : shape) {
    const auto size = reader.number<std::uint64_t>("a dim");
    if (size == 0 || size > most_elements / elements) {
      reader.fail(
          fmt::format("the tensor '{}' has a dim of {}, with which it has none or more than 2^48 elements",
                      printable_line(shortened(name, 80)), size));
    }
    elements *= size;
    dim = static_cast<std::int64_t>(size);
  }
  std::ranges::reverse(shape);
  return shape;
}

/// Elements of a type of weights come in blocks.
struct BlockSize {
  std::uint64_t elements = 0, bytes = 0;
};

/// By the number of the type; no bytes: a type that is newer or was given up.
BlockSize block_size(std::uint32_t type) {
  constexpr std::array<BlockSize, 15> first{{{1, 4},
                                             {1, 2},
                                             {32, 18},
                                             {32, 20},
                                             {},
                                             {},
                                             {32, 22},
                                             {32, 24},
                                             {32, 34},
                                             {32, 36},
                                             {256, 84},
                                             {256, 110},
                                             {256, 144},
                                             {256, 176},
                                             {256, 210}}};
  constexpr std::uint32_t bfloat16 = 30;
  if (type == bfloat16) return {1, 2};
  return type < first.size() ? first[type] : BlockSize{};
}

std::uint64_t bytes_of_weights(const std::vector<std::int64_t>& shape, std::uint32_t type) {
  const BlockSize block = block_size(type);
  if (block.bytes == 0) return 0;
  std::uint64_t elements = 1;
  for (const std::int64_t dim : shape) elements *= static_cast<std::uint64_t>(dim);
  return elements / block.elements * block.bytes;  // at most 2^48 elements of 4 bytes
}

/// The tensor that ends last, in bytes after the begin of all weights.
struct LastTensor {
  std::string name;
  std::uint64_t end = 0;

  void note(const std::string& tensor, std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t tensor_end = offset > most - bytes ? most : offset + bytes;
    if (tensor_end > end) *this = {tensor, tensor_end};
  }
};

/// Weights may be missing altogether, but not in part.
void check_end(const Reader& reader, const GgufHeader& header, const LastTensor& last,
               std::uint64_t file_bytes) {
  constexpr std::uint64_t usual_alignment = 32, most_alignment = 1 << 20;
  std::uint64_t alignment = usual_alignment;
  const auto given = header.metadata.find("general.alignment");
  if (given != header.metadata.end()) {
    const auto* value = std::get_if<std::int64_t>(&given->second);
    if (value == nullptr || *value < 1 || std::cmp_greater(*value, most_alignment))
      reader.fail(fmt::format("'general.alignment' is no integer of 1 to {}", most_alignment));
    alignment = static_cast<std::uint64_t>(*value);
  }
  const std::uint64_t begin = (reader.at() + alignment - 1) / alignment * alignment;
  if (file_bytes <= begin || file_bytes - begin >= last.end) return;
  reader.fail(
      fmt::format("the header ends, and the file within the tensor '{}': {} bytes of weights follow, and the "
                  "header lists {}. Give the whole file, or its header alone",
                  printable_line(shortened(last.name, 80)), file_bytes - begin, last.end));
}

LastTensor read_tensors(Reader& reader, std::uint64_t tensors, GgufHeader& header) {
  reader.check_count(tensors, least_tensor, "tensors");
  LastTensor last;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    std::string name = reader.name("a tensor's name");
    std::vector<std::int64_t> shape = read_shape(reader, name);
    const auto type = reader.number<std::uint32_t>("a tensor's type");
    last.note(name, reader.number<std::uint64_t>("a tensor's offset"), bytes_of_weights(shape, type));
    const auto [place, is_new] = header.tensors.emplace(std::move(name), std::move(shape));
    if (!is_new)
      reader.fail(fmt::format("the tensor '{}' comes again", printable_line(shortened(place->first, 80))));
  }
  return last;
}

}  // namespace

GgufHeader parse_gguf(std::string_view bytes, std::string_view file, std::uint64_t file_bytes) {
  Reader reader(bytes, file);
  if (reader.take(magic.size(), "the format's name") != magic) reader.fail("it is no GGUF file");
  const auto version = reader.number<std::uint32_t>("the version");
  if (version < oldest_version || version > newest_version) {
    reader.fail(fmt::format("the version is {}; {} and {} are read, little-endian", version, oldest_version,
                            newest_version));
  }
  const auto tensors = reader.number<std::uint64_t>("the number of tensors");
  const auto entries = reader.number<std::uint64_t>("the number of entries of metadata");
  reader.check_count(entries, least_entry, "entries of metadata");
  if (std::max(tensors, entries) > most_entries) {
    reader.fail(
        fmt::format("the file says that it has {} tensors and {} entries of metadata; at most {} of each are "
                    "read",
                    tensors, entries, most_entries));
  }
  GgufHeader header;
  read_metadata(reader, entries, header);
  check_end(reader, header, read_tensors(reader, tensors, header), file_bytes);
  return header;
}

}  // namespace assay::models
