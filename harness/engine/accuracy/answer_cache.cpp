#include "harness/engine/accuracy/answer_cache.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/gpu/gpu.h"
#include "harness/op/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace assay {

// The format, with numbers in native byte order: a mark, the number of outputs, each output (dtype, rank,
// dims, values, then four lists, each with its length first), and a hash of everything before.

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

constexpr std::string_view mark = "assay answers 3\n";
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
    list(expected.sums);
    list(expected.unrounded);
    list(expected.kept);
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
    made.sums = list<float>();
    made.unrounded = list<double>();
    made.kept = list<std::uint8_t>();
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
  constexpr std::uint64_t lists = 5;
  constexpr std::uint64_t list_bytes =  // for one element
      3 * sizeof(float) + sizeof(double) + sizeof(std::uint8_t);
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

namespace {

namespace fs = std::filesystem;

/// The speed of an ordinary disk and the checksum together.
constexpr double read_bytes_per_ms = 5e5;

constexpr const char* suffix = ".answers";  ///< of a file's name; in a temporary one .tmp<number> follows

/// A file name that no other process or thread writes.
fs::path temporary_name(const fs::path& file) {
  static std::atomic<unsigned> number = 0;
  return file.string() + fmt::format(".tmp{}.{}", ::getpid(), ++number);
}

/// Whether answers match the outputs among `tensors`.
bool fit(std::span<const TensorSpec> tensors, std::span<const Expected> answers) try {
  std::size_t output = 0;
  for (const TensorSpec& tensor : tensors) {
    if (tensor.is_input()) continue;
    if (output == answers.size()) return false;
    check_expected("the cache", tensor, answers[output++]);
  }
  return output == answers.size();
} catch (const std::logic_error&) {
  return false;
}

struct CachedFile {
  fs::path path;
  fs::file_time_type used;
  std::uint64_t bytes = 0;
};

/// Whether the cache wrote a file of this name: --answer-cache may name a folder that holds other files too.
bool is_ours(const fs::path& file) {
  return file.filename().string().find(suffix) != std::string::npos;
}

std::vector<CachedFile> files_in(const fs::path& directory) {
  std::vector<CachedFile> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_ours(entry->path())) continue;
    // Another process may remove the file meanwhile.
    std::error_code gone;
    const CachedFile file{entry->path(), entry->last_write_time(gone), gone ? 0 : entry->file_size(gone)};
    if (!gone) files.push_back(file);
  }
  return files;
}

}  // namespace

std::string AnswerCache::key_of(const Op& op, const Params& params, std::span<const TensorSpec> tensors,
                                const std::string& input_hash) const {
  // Every line is named, so different keys never give the same text.
  std::string text = fmt::format("op {}\nversion {}\nparams {}\ninputs {}\ncode {}\n", op.name, op.version,
                                 params.canonical(), input_hash, options_.reference_code);
  if (op.answer_version) text += fmt::format("answers {}\n", op.answer_version());
  if (!op.definition.empty()) text += fmt::format("definition {}\n{}", op.definition.size(), op.definition);
  for (const TensorSpec& tensor : tensors) {
    text += fmt::format("tensor {} {} {} {} {}\n", tensor.name, tensor.is_input() ? "input" : "output",
                        name_of(tensor.dtype), to_string(tensor.shape), name_of(tensor.output_class));
  }
  return hash_hex(text);
}

fs::path AnswerCache::file_of(const std::string& key) const {
  return options_.directory / (key + suffix);
}

std::optional<std::vector<Expected>> AnswerCache::load(const std::string& key,
                                                       std::span<const TensorSpec> tensors) const {
  if (options_.directory.empty()) return std::nullopt;
  const auto bytes =
      whole_regular_file(file_of(key), std::min(options_.most_bytes, most_encoded_bytes(tensors)));
  if (!bytes) return std::nullopt;
  std::optional<std::vector<Expected>> answers = decode_answers(std::as_bytes(std::span(*bytes)));
  if (!answers || !fit(tensors, *answers)) return std::nullopt;
  std::error_code ignored;  // touch it: the least recently used files are removed first
  fs::last_write_time(file_of(key), fs::file_time_type::clock::now(), ignored);
  return answers;
}

void AnswerCache::store(const std::string& key, std::span<const Expected> answers, double took_ms) const {
  if (options_.directory.empty() || took_ms < options_.least_ms) return;
  const std::vector<std::byte> bytes = encode_answers(answers);
  const double reading_ms = static_cast<double>(bytes.size()) / read_bytes_per_ms;
  if (bytes.size() > options_.most_bytes || took_ms < reading_ms) return;
  const fs::path temporary = temporary_name(file_of(key));
  std::error_code error;
  fs::create_directories(options_.directory, error);
  std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (stream) fs::rename(temporary, file_of(key), error);
  if (!stream || error) fs::remove(temporary, error);
  remove_oldest();
}

/// Temporary files of killed processes age like the others.
void AnswerCache::remove_oldest() const {
  std::vector<CachedFile> files = files_in(options_.directory);
  const auto is_too_large = [&](const CachedFile& file) { return file.bytes > options_.most_bytes; };
  std::ranges::sort(files, {}, &CachedFile::used);
  // store() wrote none that large, so they go first.
  std::stable_partition(files.begin(), files.end(), is_too_large);
  std::uint64_t bytes = 0;
  for (const CachedFile& file : files) bytes += file.bytes;
  for (const CachedFile& file : files) {
    if (bytes <= options_.most_bytes) return;
    std::error_code error;
    fs::remove(file.path, error);
    bytes -= file.bytes;
  }
}

fs::path default_answer_directory() {
  return cache_directory("answers");
}

}  // namespace assay
