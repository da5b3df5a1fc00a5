#include "harness/report/writers/csv_reader.h"

#include "harness/base/error.h"

#include <algorithm>

namespace assay {
namespace {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  std::size_t line() const { return line_; }

  void row(std::vector<std::string>& cells) {
    std::size_t count = 0;
    do {
      if (count == cells.size()) cells.emplace_back();
      cell(cells[count++]);
    } while (take(','));
    cells.resize(count);
    take('\r');
    if (take('\n')) ++line_;
  }

 private:
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void cell(std::string& value) {
    value.clear();
    take('"') ? quoted(value) : plain(value);
    remove_apostrophe(value);
  }

  void plain(std::string& value) {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    value = text_.substr(at_, end - at_);
    at_ = end;
  }

  void quoted(std::string& value) {
    const std::size_t began = line_;
    do {
      const std::size_t end = text_.find('"', at_);
      if (end == text_.npos) throw Error("line " + std::to_string(began) + ": a quote is not closed");
      const std::string_view part = text_.substr(at_, end - at_);
      line_ += static_cast<std::size_t>(std::ranges::count(part, '\n'));
      value.append(part);
      at_ = end + 1;
      if (!at_end() && text_[at_] == '"') value += '"';
    } while (take('"'));
  }

  static void remove_apostrophe(std::string& value) {
    if (!value.starts_with('\'')) return;
    const std::size_t at = value.find_first_not_of('\'');
    if (at != value.npos && std::string_view("=+-@\t\r").find(value[at]) != std::string_view::npos)
      value.erase(0, 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

void for_each_csv_row(
    std::string_view text,
    const std::function<void(const std::vector<std::string>& cells, std::size_t line)>& action) {
  CsvReader reader(text);
  std::vector<std::string> cells;
  while (!reader.at_end()) {
    const std::size_t line = reader.line();
    reader.row(cells);
    action(cells, line);
  }
}

}  // namespace assay
