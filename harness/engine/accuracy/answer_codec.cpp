#include "harness/engine/accuracy/answer_codec.h"

#include "harness/base/error.h"
#include "harness/base/hash.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

// The format, with numbers in native byte order: a mark, the number of outputs, each output (dtype, rank,
// dims, values, then three lists, each with its length first), and a hash of everything before.

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

constexpr std::string_view mark = "assay answers 1\n";
constexpr std::size_t hash_digits = 32;
constexpr std::uint64_t most_outputs = 64;
constexpr std::uint64_t most_rank = 4;

class Writer {
 public:
  void add(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void number(std::uint64_t value) { add(std::as_bytes(std::span(&value, 1))); }

  template <class T>
  void list(const std::vector<T>& values) {
    number(values.size());
    add(std::as_bytes(std::span(values)));
  }

  void add(const Expected& expected) {
    number(static_cast<std::uint64_t>(expected.values.dtype()));
    number(expected.values.shape().size());
    for (const std::int64_t dim : expected.values.shape()) number(static_cast<std::uint64_t>(dim));
    add(expected.values.bytes());
    list(expected.bound);
    list(expected.magnitude);
    list(expected.unrounded);
  }

  std::vector<std::byte> finish() {
    add(hash_hex(std::span<const std::byte>(bytes_)));
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads the format. Throws Error when there are fewer bytes than expected: data with the right hash were
/// written by us, but perhaps by another version.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool is_at_end() const { return rest_.empty(); }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > rest_.size()) throw Error("the answers end early");
    const std::span<const std::byte> taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  std::uint64_t number(std::uint64_t most) {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    if (value > most) throw Error("a number of the answers is too large");
    return value;
  }

  template <class T>
  std::vector<T> list() {
    const std::uint64_t count = number(rest_.size() / sizeof(T));
    const std::span<const std::byte> bytes = take(count * sizeof(T));
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  Expected expected() {
    const auto dtype = static_cast<DType>(number(static_cast<std::uint64_t>(DType::I64)));
    Shape shape(number(most_rank));
    for (std::int64_t& dim : shape) dim = static_cast<std::int64_t>(number(std::uint64_t{1} << 40));
    const std::span<const std::byte> values = take(static_cast<std::uint64_t>(numel(shape)) * size_of(dtype));
    Expected made{.values = HostTensor::uninitialized(dtype, shape)};
    std::ranges::copy(values, made.values.bytes().begin());
    made.bound = list<float>();
    made.magnitude = list<float>();
    made.unrounded = list<double>();
    return made;
  }

 private:
  std::span<const std::byte> rest_;
};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<Expected> decode(Reader reader) {
  std::vector<Expected> answers;
  const std::uint64_t outputs = reader.number(most_outputs);
  for (std::uint64_t i = 0; i < outputs; ++i) answers.push_back(reader.expected());
  if (!reader.is_at_end()) throw Error("bytes follow the answers");
  return answers;
}

}  // namespace

std::uint64_t most_encoded_bytes(std::span<const TensorSpec> tensors) {
  constexpr std::uint64_t number_bytes = sizeof(std::uint64_t);
  constexpr std::uint64_t lists = 3;
  constexpr std::uint64_t list_bytes = sizeof(float) + sizeof(float) + sizeof(double);  // for one element
  std::uint64_t bytes = mark.size() + number_bytes + hash_digits;
  for (const TensorSpec& tensor : tensors) {
    if (tensor.is_input()) continue;
    bytes += (2 + tensor.shape.size() + lists) * number_bytes;
    bytes += static_cast<std::uint64_t>(numel(tensor.shape)) * (size_of(tensor.dtype) + list_bytes);
  }
  return bytes;
}

std::vector<std::byte> encode_answers(std::span<const Expected> answers) {
  Writer writer;
  writer.add(mark);
  writer.number(answers.size());
  for (const Expected& expected : answers) writer.add(expected);
  return writer.finish();
}

std::optional<std::vector<Expected>> decode_answers(std::span<const std::byte> bytes) {
  if (bytes.size() < mark.size() + hash_digits) return std::nullopt;
  const std::span<const std::byte> hashed = bytes.first(bytes.size() - hash_digits);
  if (text_of(hashed.first(mark.size())) != mark || text_of(bytes.last(hash_digits)) != hash_hex(hashed))
    return std::nullopt;
  try {
    return decode(Reader(hashed.subspan(mark.size())));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace assay
