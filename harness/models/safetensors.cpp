#include "harness/models/safetensors.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/models/json.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

namespace assay::models {
namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t most_header_bytes = std::uint64_t{1} << 25;
constexpr std::size_t most_listed_dims = 8;

[[noreturn]] void fail(std::string_view file, const std::string& what) {
  throw Error(fmt::format("reading the model {}: {}", printable_line(file), what));
}

std::string quoted(std::string_view name) {
  return fmt::format("'{}'", printable_line(shortened(name, 80)));
}

/// The bytes of an element; 0: unknown.
std::uint64_t bytes_of(const std::string& dtype) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 15> known{{{"BOOL", 1},
                                                                              {"U8", 1},
                                                                              {"I8", 1},
                                                                              {"F8_E4M3", 1},
                                                                              {"F8_E5M2", 1},
                                                                              {"F8_E8M0", 1},
                                                                              {"I16", 2},
                                                                              {"U16", 2},
                                                                              {"F16", 2},
                                                                              {"BF16", 2},
                                                                              {"I32", 4},
                                                                              {"U32", 4},
                                                                              {"F32", 4},
                                                                              {"I64", 8},
                                                                              {"F64", 8}}};
  for (const auto& [name, bytes] : known) {
    if (name == dtype) return bytes;
  }
  return 0;
}

std::uint64_t unsigned_of(const Json& value, std::string_view file, std::string_view name) {
  if (!value.is_number_unsigned()) {
    fail(file, fmt::format("the shape or the offsets of the tensor {} are no lists of whole numbers",
                           quoted(name)));
  }
  return value.get<std::uint64_t>();
}

const Json& list_of(const Json& tensor, const char* member, std::size_t most, std::string_view file,
                    std::string_view name) {
  const auto found = tensor.find(member);
  if (found == tensor.end() || !found->is_array() || found->size() > most) {
    fail(file,
         fmt::format("the tensor {} has no list '{}' of at most {} numbers", quoted(name), member, most));
  }
  return *found;
}

/// Where the weights of a tensor end, after the header. Throws Error if its bytes are not those of its shape.
std::uint64_t checked_end(const Json& tensor, std::uint64_t elements, std::string_view file,
                          std::string_view name) {
  const Json& offsets = list_of(tensor, "data_offsets", 2, file, name);
  const std::optional<std::string> dtype = JsonObject(tensor, file).text("dtype");
  if (offsets.size() != 2 || !dtype)
    fail(file, fmt::format("the tensor {} needs a dtype and two offsets", quoted(name)));
  const std::uint64_t begin = unsigned_of(offsets[0], file, name);
  const std::uint64_t end = unsigned_of(offsets[1], file, name);
  const std::uint64_t bytes = bytes_of(*dtype);
  if (begin > end || (bytes != 0 && end - begin != elements * bytes)) {
    fail(file, fmt::format("the tensor {} has {} elements of {}, and its offsets are {} and {}", quoted(name),
                           elements, printable_line(shortened(*dtype, 20)), begin, end));
  }
  return end;
}

struct ListedTensor {
  std::vector<std::int64_t> shape;
  std::uint64_t end = 0;  ///< of its weights, after the header
};

ListedTensor listed_tensor(const Json& tensor, std::string_view file, std::string_view name) {
  if (!tensor.is_object()) fail(file, fmt::format("the tensor {} is no object", quoted(name)));
  std::vector<std::int64_t> shape;
  std::uint64_t elements = 1;
  for (const Json& dim : list_of(tensor, "shape", most_listed_dims, file, name)) {
    const std::uint64_t size = unsigned_of(dim, file, name);
    if (size == 0 || size > most_elements / elements) {
      fail(file,
           fmt::format("the tensor {} has a dim of {}, with which it has none or more than 2^48 elements",
                       quoted(name), size));
    }
    elements *= size;
    shape.push_back(static_cast<std::int64_t>(size));
  }
  return {std::move(shape), checked_end(tensor, elements, file, name)};
}

}  // namespace

TensorShapes parse_safetensors(std::string_view bytes, std::string_view file, std::uint64_t file_bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < length_bytes)
    fail(file, fmt::format("it has {} bytes, less than a header", bytes.size()));
  std::memcpy(&length, bytes.data(), length_bytes);
  bytes.remove_prefix(length_bytes);
  if (length > most_header_bytes || length > bytes.size()) {
    fail(file,
         fmt::format(
             "its header has {} bytes by its length, and the file has {} after that; at most {} are read",
             length, bytes.size(), most_header_bytes));
  }
  const Json header = parse_json(bytes.substr(0, length), file);
  const std::uint64_t weights = file_bytes - length_bytes - length;  // none: the header alone
  TensorShapes shapes;
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    auto [shape, end] = listed_tensor(tensor, file, name);
    if (weights > 0 && end > weights) {
      fail(file,
           fmt::format("the file ends within the tensor {} or before it: {} bytes of weights follow the "
                       "header, and the tensor's end with byte {}. Give the whole file, or its header "
                       "alone",
                       quoted(std::string_view(name)), weights, end));
    }
    shapes.emplace(name, std::move(shape));
  }
  return shapes;
}

}  // namespace assay::models
