#include "harness/report/writers/markdown.h"

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <utility>

namespace assay {
namespace {

std::string on_one_line(std::string_view text) {
  std::string line = printable(text);
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return line;
}

std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != special.npos) result += '\\';
    result += c;
  }
  return result;
}

std::string row_text(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                     const std::vector<bool>& right) {
  std::string text = "|";
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string cell = i < row.size() ? row[i] : "";
    const std::string blanks(widths[i] - columns_of(cell), ' ');
    text += ' ' + (right[i] ? blanks + cell : cell + blanks) + " |";
  }
  return text + '\n';
}

constexpr std::size_t most_rows = 50;  // rows in a table

std::string title_of(const RunInfo& run) {
  const DeviceInfo& device = run.device;
  std::string title = device.name + ", " + device.driver_name;
  return device.driver_info.empty() ? title : title + " " + device.driver_info;
}

std::string answer_of(const GithubSummary& summary) {
  if (!summary.answer.empty()) return summary.answer;
  std::map<StatusClass, std::size_t> counts;
  for (const SummaryDevice& device : summary.devices) {
    for (const auto& [status, count] : device.statuses) counts[class_of(status)] += count;
  }
  std::string answer = fmt::format("{} fine", counts[StatusClass::Fine]);
  if (counts[StatusClass::Failing] > 0)
    answer += fmt::format(", **{} failed**", counts[StatusClass::Failing]);
  if (counts[StatusClass::Infrastructure] > 0)
    answer += fmt::format(", **{} lost**", counts[StatusClass::Infrastructure]);
  return answer;
}

/// A table of the statuses that occur, one line per device.
std::string status_table(const GithubSummary& summary) {
  std::set<Status> statuses;
  bool has_verdicts = false;
  for (const SummaryDevice& device : summary.devices) {
    for (const auto& [status, count] : device.statuses) statuses.insert(status);
    has_verdicts = has_verdicts || !device.verdict.empty();
  }
  std::vector<std::vector<std::string>> rows = {{"device"}};
  if (has_verdicts) rows[0].emplace_back("verdict");
  for (const Status status : statuses) rows[0].emplace_back(name_of(status));
  for (const SummaryDevice& device : summary.devices) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(markdown_cell(device.title));
    if (has_verdicts) row.push_back(markdown_cell(device.verdict));
    for (const Status status : statuses) {
      const auto count = device.statuses.find(status);
      row.push_back(count == device.statuses.end() ? "" : std::to_string(count->second));
    }
  }
  std::vector<bool> right(rows[0].size(), true);
  right[0] = false;
  if (has_verdicts) right[1] = false;
  return markdown_aligned(rows, right);
}

/// A row without alignment, as blanks count towards the limit.
std::string table_row(std::initializer_list<std::string> cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += ' ' + cell + " |";
  return text + '\n';
}

std::string failure_line(const SummaryRow& row) {
  return table_row({markdown_cell(row.word), markdown_code(row.id) + " (" + markdown_cell(row.mode) + ")",
                    markdown_cell(row.reason), markdown_code(row.repro)});
}

std::string compared_line(const SummaryRow& row) {
  return table_row({markdown_cell(row.word), markdown_code(row.id) + " (" + markdown_cell(row.mode) + ")",
                    markdown_cell(row.figure), markdown_cell(row.reason)});
}

/// Text that grows up to a limit; a piece is added whole or not at all.
class LimitedText {
 public:
  explicit LimitedText(std::size_t limit) : limit_(limit) {}

  bool add(const std::string& piece) {
    if (text_.size() + piece.size() > limit_) return false;
    text_ += piece;
    return true;
  }
  std::string text() && { return std::move(text_); }

 private:
  std::size_t limit_;
  std::string text_;
};

/// Adds a table of rows, with the count of rows that are left out. Returns false if the limit was reached.
bool add_table(LimitedText& text, const std::string& head, const std::vector<SummaryRow>& rows,
               std::size_t left_out, std::string (*line)(const SummaryRow&), std::size_t& cut) {
  if (rows.empty() && left_out == 0) return true;
  const std::size_t shown = std::min(rows.size(), most_rows);
  std::size_t done = 0;
  bool fits = text.add(head);
  while (fits && done < shown) {
    fits = text.add(line(rows[done]));
    done += fits ? 1 : 0;
  }
  const std::size_t more = rows.size() - shown + left_out;
  if (fits && more > 0) fits = text.add(fmt::format("\nand {} more\n", more));
  if (!fits) cut += rows.size() - done + left_out;
  return fits;
}

bool add_device(LimitedText& text, const SummaryDevice& device, std::size_t& cut) {
  if (device.notes.empty() && device.failures.empty() && device.compared.empty()) return true;
  std::string head = "\n### " + markdown_cell(device.title) + "\n";
  for (const std::string& note : device.notes) head += "\n- " + markdown_cell(note) + '\n';
  bool fits = text.add(head);
  if (!fits) {
    cut +=
        device.failures.size() + device.failures_left_out + device.compared.size() + device.compared_left_out;
  }
  fits = fits && add_table(text, "\n| status | row | why | again |\n|---|---|---|---|\n", device.failures,
                           device.failures_left_out, failure_line, cut);
  return fits && add_table(text, "\n| verdict | row | times | why |\n|---|---|---|---|\n", device.compared,
                           device.compared_left_out, compared_line, cut);
}

off_t size_of(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 ? status.st_size : 0;
}

}  // namespace

std::string markdown_aligned(const std::vector<std::vector<std::string>>& rows,
                             const std::vector<bool>& right) {
  constexpr std::size_t least_width = 3;  // width of the line below the header
  std::vector<std::size_t> widths(right.size(), least_width);
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < widths.size() && i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row[i]));
    }
  }
  std::vector<std::string> rule;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    rule.push_back(std::string(widths[i] - (right[i] ? 1 : 0), '-') + (right[i] ? ":" : ""));
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += row_text(rows[i], widths, right);
    if (i == 0) text += row_text(rule, widths, right);
  }
  return text;
}

std::string markdown_cell(std::string_view text) {
  return escaped(on_one_line(text), "\\|`*<[");
}

std::string markdown_code(std::string_view text) {
  std::string code = on_one_line(text);
  if (code.empty()) return "";
  std::ranges::replace(code, '`', '\'');  // nothing can be escaped in a code span, except a table's pipe
  return '`' + escaped(code, "|") + '`';
}

SummaryRow summary_row(const RowInfo& info, Status status, const std::string& reason,
                       const std::string& repro) {
  return {.id = info.id,
          .mode = mode_words(info),
          .word = std::string(name_of(status)),
          .reason = first_line(reason),
          .repro = status == Status::Missing ? "" : repro};
}

SummaryDevice summary_device(const RunReport& report) {
  SummaryDevice device{.title = title_of(report.run)};
  if (!report.complete) device.notes.emplace_back("The run did not finish.");
  // Rows that never ran say less than failures, so they come last.
  for (const bool missing : {false, true}) {
    for (const Record& record : report.records) {
      if ((record.status == Status::Missing) != missing) continue;
      ++device.statuses[record.status];
      if (class_of(record.status) == StatusClass::Fine) continue;
      if (device.failures.size() == most_rows) {
        ++device.failures_left_out;
        continue;
      }
      std::string reason = record.reason;
      if (reason.empty() && record.accuracy) reason = describe(*record.accuracy);
      device.failures.push_back(summary_row(record.info, record.status, reason, record.repro));
    }
  }
  return device;
}

std::string github_markdown(const GithubSummary& summary, std::size_t limit) {
  constexpr std::size_t last_line = 200;  // reserved for the line that says what was left out
  LimitedText text(limit > last_line ? limit - last_line : 0);
  bool fits = text.add("## " + markdown_cell(summary.title) + "\n\n" + answer_of(summary) + "\n");
  fits = fits && (summary.devices.empty() || text.add("\n" + status_table(summary)));
  std::size_t cut = 0, devices = 0;
  for (const SummaryDevice& device : summary.devices) {
    if (fits) fits = add_device(text, device, cut);
    devices += fits ? 0 : 1;
  }
  std::string markdown = std::move(text).text();
  if (!fits) {
    const std::string note = fmt::format(
        "\nCut at GitHub's limit: at least {1} rows of {0} devices are left out; the reports have them "
        "all.\n",
        devices, cut);
    if (markdown.size() + note.size() <= limit) markdown += note;
  }
  return markdown;
}

void append_github_summary(const std::filesystem::path& path, const GithubSummary& summary) {
  if (path.empty()) return;
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (file.get() < 0) throw_file_error("write the GitHub summary", path, errno);
  const auto there = static_cast<std::size_t>(std::max<off_t>(size_of(file.get()), 0));
  const std::size_t left = github_summary_limit - std::min(there, github_summary_limit);
  const std::string text = github_markdown(summary, left);
  if (write_bytes(file.get(), text) != text.size()) throw_file_error("write the GitHub summary", path, errno);
}

}  // namespace assay
