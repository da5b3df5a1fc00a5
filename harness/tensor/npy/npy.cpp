#include "harness/tensor/npy/npy.h"

#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

// The format: 6 bytes of magic, major and minor version, the header's length (2 bytes in version 1, 4 in
// versions 2 and 3), the header (a Python dictionary literal) and the elements.

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, ".npy data are read and written as they lie");

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::size_t header_alignment = 64;
constexpr std::size_t longest_header = 1 << 16;  // an array of rank 4 needs about 100 bytes

struct DTypeCode {
  std::string_view code;
  DType dtype;
};
constexpr DTypeCode dtype_codes[] = {{"<f4", DType::F32}, {"<f2", DType::F16}, {"<i4", DType::I32},
                                     {"<i2", DType::I16}, {"|i1", DType::I8},  {"|u1", DType::U8},
                                     {"<f8", DType::F64}, {"<i8", DType::I64}, {"|b1", DType::U8}};

using Header = NpyHeader;

/// Returns text from a file in a form that fits in a message.
std::string quoted_briefly(std::string_view text) {
  constexpr std::size_t longest = 60;
  return '\'' + shortened(printable(text.substr(0, 4 * longest)), longest) + '\'';
}

/// Throws the reason why the file cannot be read; read_npy adds the file's name.
[[noreturn]] void refuse(const std::string& why) {
  throw Error(why);
}

DType dtype_of_code(std::string_view code) {
  for (const DTypeCode& known : dtype_codes) {
    if (known.code == code) return known.dtype;
  }
  if (code.starts_with('>'))
    refuse(fmt::format("dtype {} is big endian; save it as little endian", quoted_briefly(code)));
  refuse(
      fmt::format("dtype {} is not supported; f2 f4 f8 i1 i2 i4 i8 u1 and bool are", quoted_briefly(code)));
}

std::string_view code_of_dtype(DType dtype) {
  for (const DTypeCode& known : dtype_codes) {
    if (known.dtype == dtype) return known.code;
  }
  throw std::logic_error("write_npy: not a dtype");
}

/// Parses the dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Header parse() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      entry(key);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) malformed();
    if (!has_dtype_ || !has_order_ || !has_shape_) refuse("its header has no descr, fortran_order or shape");
    return header_;
  }

 private:
  [[noreturn]] static void malformed() { refuse("its header is malformed"); }

  void entry(std::string_view key) {
    if (key == "descr") return once(has_dtype_), descr();
    if (key == "fortran_order") return once(has_order_), order();
    if (key == "shape") return once(has_shape_), shape();
    refuse("its header has an unknown key " + quoted_briefly(key));
  }

  static void once(bool& seen) {
    if (seen) malformed();
    seen = true;
  }

  void descr() {
    skip_space();
    if (rest_.starts_with('[')) refuse("it holds a structured dtype, which is not supported");
    header_.dtype = dtype_of_code(quoted());
  }

  void order() {
    if (accept_word("False")) return;
    if (accept_word("True")) refuse("it is in Fortran order; save it in C order (numpy.ascontiguousarray)");
    malformed();
  }

  void shape() {
    expect('(');
    while (!accept(')')) {
      header_.shape.push_back(dim());
      if (!accept(',')) {
        // "(3)" is a number in Python; a tuple of one element has a comma.
        if (header_.shape.size() < 2) malformed();
        expect(')');
        break;
      }
    }
  }

  std::int64_t dim() {
    skip_space();
    if (rest_.starts_with('-')) refuse("its shape has a negative dim");
    if (rest_.empty() || std::isdigit(static_cast<unsigned char>(rest_[0])) == 0) malformed();
    std::int64_t value = 0;
    while (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0])) != 0) {
      if (value > std::numeric_limits<std::int64_t>::max() / 10 - 1)
        refuse("its shape has a dim beyond 2^59");
      value = value * 10 + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }

  std::string_view quoted() {
    skip_space();
    if (!rest_.starts_with('\'') && !rest_.starts_with('"')) malformed();
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == rest_.npos) malformed();
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  void expect(char wanted) {
    if (!accept(wanted)) malformed();
  }

  bool accept(char wanted) {
    skip_space();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t'))
      rest_.remove_prefix(1);
  }

  std::string_view rest_;
  Header header_;
  bool has_dtype_ = false, has_order_ = false, has_shape_ = false;
};

/// Reads bytes from the front and knows how many are left.
class Reader {
 public:
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  std::uint64_t left() const { return left_; }

  void read(std::span<std::byte> bytes, std::string_view part) {
    if (bytes.size() > left_) {
      refuse(
          fmt::format("it is truncated: its {} takes {} bytes, but {} are left", part, bytes.size(), left_));
    }
    if (!fetch(bytes)) refuse(fmt::format("reading its {} failed", part));
    left_ -= bytes.size();
  }

  std::string text(std::size_t size, std::string_view part) {
    std::string result(size, '\0');
    read(std::as_writable_bytes(std::span(result)), part);
    return result;
  }

  std::size_t number(std::size_t size) {
    const std::string digits = text(size, "header");
    std::size_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(digits[i]);
    return value;
  }

 protected:
  explicit Reader(std::uint64_t size) : left_(size) {}

 private:
  /// Reads the next bytes, at most as many as are left.
  virtual bool fetch(std::span<std::byte> bytes) = 0;

  std::uint64_t left_;
};

class FileReader : public Reader {
 public:
  explicit FileReader(const std::filesystem::path& file)
      : Reader(size_of_file(file)), stream_(file, std::ios::binary) {
    if (!stream_) refuse("it cannot be opened (permissions?)");
  }

 private:
  static std::uint64_t size_of_file(const std::filesystem::path& file) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (status.type() == std::filesystem::file_type::not_found) refuse("there is no such file");
    if (status.type() == std::filesystem::file_type::none) refuse(error.message());
    if (!std::filesystem::is_regular_file(status)) refuse("it is not a regular file");
    const std::uint64_t size = std::filesystem::file_size(file, error);
    if (error) refuse(error.message());
    return size;
  }

  bool fetch(std::span<std::byte> bytes) override {
    stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return !stream_.fail();
  }

  std::ifstream stream_;
};

class MemoryReader : public Reader {
 public:
  explicit MemoryReader(std::span<const std::byte> content) : Reader(content.size()), content_(content) {}

 private:
  bool fetch(std::span<std::byte> bytes) override {
    std::ranges::copy(content_.first(bytes.size()), bytes.begin());
    content_ = content_.subspan(bytes.size());
    return true;
  }

  std::span<const std::byte> content_;
};

Header read_header(Reader& reader) {
  if (reader.left() == 0) refuse("it is empty");
  if (reader.left() < magic.size() || reader.text(magic.size(), "magic") != magic) {
    refuse("it is not a .npy file");
  }
  const std::size_t major = reader.number(1);
  const std::size_t minor = reader.number(1);
  if (major < 1 || major > 3 || minor != 0) {
    refuse(fmt::format("its format {}.{} is unknown; 1.0 to 3.0 are known", major, minor));
  }
  const std::size_t length = reader.number(major == 1 ? 2 : 4);
  if (length > longest_header && length <= reader.left()) {
    refuse(fmt::format("its header of {} bytes is longer than any plain array needs", length));
  }
  if (length > reader.left()) {
    refuse(fmt::format("it is truncated: its header takes {} bytes, but {} are left", length, reader.left()));
  }
  return HeaderParser(reader.text(length, "header")).parse();
}

/// Reads the header and checks that the rest of the file is exactly the data that it promises.
Header read_checked_header(Reader& reader) {
  Header header = read_header(reader);
  if (header.shape.size() > 4) {
    refuse(fmt::format("its shape {} has {} dims; at most 4 are possible",
                       shortened(to_string(header.shape), 60), header.shape.size()));
  }
  if (header.shape.empty()) header.shape = {1};
  const auto size = static_cast<std::uint64_t>(numel(header.shape)) * size_of(header.dtype);
  if (size != reader.left()) {
    refuse(fmt::format("{}: its header promises {} bytes of {} {}, but {} are left",
                       size > reader.left() ? "it is truncated" : "it has trailing bytes", size,
                       name_of(header.dtype), to_string(header.shape), reader.left()));
  }
  return header;
}

HostTensor read_tensor(Reader& reader) {
  const Header header = read_checked_header(reader);
  HostTensor tensor(header.dtype, header.shape);
  reader.read(tensor.bytes(), "data");
  return tensor;
}

std::string header_text(const HostTensor& tensor) {
  std::string dims;
  for (const std::int64_t dim : tensor.shape()) dims += fmt::format("{}{}", dims.empty() ? "" : ", ", dim);
  if (tensor.shape().size() == 1) dims += ',';  // a tuple of one
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                       code_of_dtype(tensor.dtype()), dims);
  const std::size_t before = magic.size() + 4;  // version and length
  const std::size_t total =
      (before + dictionary.size() + 1 + header_alignment - 1) / header_alignment * header_alignment;
  dictionary.resize(total - before - 1, ' ');
  return dictionary + '\n';
}

/// Removes a partly written file; a device or pipe that was written to stays.
void remove_partial(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored)) std::filesystem::remove(file, ignored);
}

}  // namespace

HostTensor read_npy(const std::filesystem::path& file) {
  try {
    FileReader reader(file);
    return read_tensor(reader);
  } catch (const Error& error) {
    throw Error(fmt::format("reading {}: {}", file.string(), error.what()));
  }
}

NpyHeader read_npy_header(const std::filesystem::path& file) {
  try {
    FileReader reader(file);
    return read_checked_header(reader);
  } catch (const Error& error) {
    throw Error(fmt::format("reading {}: {}", file.string(), error.what()));
  }
}

HostTensor parse_npy(std::span<const std::byte> content, std::string_view name) {
  try {
    MemoryReader reader(content);
    return read_tensor(reader);
  } catch (const Error& error) {
    throw Error(fmt::format("reading {}: {}", name, error.what()));
  }
}

void write_npy(const std::filesystem::path& file, const HostTensor& tensor) {
  if (tensor.numel() == 0) throw std::logic_error("write_npy: a tensor that was never made");
  const std::string header = header_text(tensor);
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  if (!stream) {
    throw Error(fmt::format("writing {}: it cannot be created; does its directory exist, and is it writable?",
                            file.string()),
                ExitCode::Infrastructure);
  }
  const char lead[] = {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  stream << magic;
  stream.write(lead, sizeof lead);
  stream << header;
  stream.write(reinterpret_cast<const char*>(tensor.bytes().data()),
               static_cast<std::streamsize>(tensor.bytes().size()));
  stream.close();
  if (!stream) {
    remove_partial(file);
    throw Error(fmt::format("writing {}: {} bytes could not be written whole; is the disk full?",
                            file.string(), tensor.bytes().size()),
                ExitCode::Infrastructure);
  }
}

}  // namespace assay
