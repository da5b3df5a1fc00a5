#include "harness/models/model_file.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/models/config.h"
#include "harness/models/gguf.h"
#include "harness/models/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace assay::models {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 26;  // tokenizers in GGUF files take some MiB
constexpr std::size_t begin_of_safetensors = 8;           // a length, then JSON

struct FirstBytes {
  std::string bytes;
  std::uint64_t file_bytes = 0;  ///< of the whole file
};

/// The first bytes of a regular file, links followed.
FirstBytes first_bytes(const std::filesystem::path& path) {
  // Without O_NONBLOCK the open itself would wait for the writer of a FIFO.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) throw_file_error("read the model", path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(
        fmt::format("reading the model {}: it is no regular file; give a .gguf or .safetensors file or a "
                    "config.json",
                    printable_line(path.string())));
  }
  std::optional<std::string> bytes = read_to_end(file.get(), most_bytes);
  if (!bytes) throw_file_error("read the model", path, errno);
  const auto there = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t size = std::max<std::uint64_t>(bytes->size(), there);  // it may have grown
  return {std::move(*bytes), size};
}

/// A length of .safetensors may begin with the byte of a brace, but then a zero follows, which JSON has
/// nowhere.
bool is_json(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  const bool has_zero = bytes.substr(0, begin_of_safetensors).find('\0') != bytes.npos;
  return first != bytes.npos && bytes[first] == '{' && !has_zero;
}

}  // namespace

Decoder read_model(const std::filesystem::path& path) {
  const std::string file = path.string();
  const auto [bytes, file_bytes] = first_bytes(path);
  if (bytes.starts_with("GGUF")) return decoder_of(parse_gguf(bytes, file, file_bytes), file);
  if (is_json(bytes)) return decoder_of_config(parse_json(bytes, file), file);
  if (bytes.size() > begin_of_safetensors && bytes[begin_of_safetensors] == '{')
    return decoder_of_shapes(parse_safetensors(bytes, file, file_bytes), file);
  throw Error(fmt::format("reading the model {}: it begins neither as GGUF, nor as .safetensors, nor as JSON",
                          printable_line(file)));
}

}  // namespace assay::models
