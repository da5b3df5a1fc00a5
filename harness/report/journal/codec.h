#pragma once

#include "harness/base/error.h"
#include "harness/report/record/events.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// A kind of journal line that timed rows have many of.
struct QuickLine {
  RowIndex row = 0;
  std::optional<Block> block;  ///< absent: the row begins or is resumed
};

/// Reads a `begin` or `block` as EventLines writes it, in a tenth of the time that parsing JSON takes.
/// Returns nullopt for any other line, invalid or merely formatted differently: the JSON parser reads it
/// then.
std::optional<QuickLine> quick_line(std::string_view line);

// Converts events to lines of the journal and back. Numbers keep their value (NaN and infinities are the
// strings "nan", "inf" and "-inf"), text becomes valid UTF-8, and fields that have their initial value are
// left out.

/// Encodes each event as a line.
class EventLines : public RunListener {
 public:
  /// Receives an event as a line of the journal, without the line end.
  virtual void line(std::string_view line) = 0;

  void run(const RunInfo& info) final;
  void plan(std::span<const RowInfo> rows) final;
  void begin(RowIndex row) final;
  void judged(RowIndex row, const AccuracyResult& accuracy) final;
  void block(RowIndex row, const Block& block) final;
  void end(RowIndex row, const RowEnd& end) final;
  void done() final;

 private:
  std::size_t planned_ = 0;
};

/// Thrown for a journal of another schema: its lines are not damaged.
class OtherSchema : public Error {
 public:
  using Error::Error;
};

/// The end of a plan's line if more lines of the same plan follow.
inline constexpr std::string_view plan_goes_on = R"(],"more":true})";

/// Whether a line may be an event. It is quick, and false only for lines that Decoder refuses.
bool may_be_event(std::string_view line);

/// Reads the lines of one journal, in order.
class Decoder {
 public:
  explicit Decoder(std::size_t most_rows = most_rows_of_a_run) : most_rows_(most_rows) {}

  /// Sends `listener` the event of one line; a plan in several lines is sent with its last line. Throws
  /// OtherSchema, or an Error that names the field and what is wrong with it.
  void line(std::string_view line, RunListener& listener);

 private:
  static void check_block(const Block& block);
  static void check_perf(const PerfResult& perf);
  RowIndex checked(RowIndex row) const;  ///< throws unless the row is planned
  bool quick(std::string_view line, RunListener& listener) const;
  bool plan(std::string_view line, RunListener& listener);
  void check_first(const nlohmann::ordered_json& plan, std::size_t rows);
  void take_rows(const nlohmann::ordered_json& plan, std::vector<RowInfo> rows, RunListener& listener);
  void event(const std::string& name, const nlohmann::ordered_json& object, RunListener& listener);
  void row_event(const std::string& name, const nlohmann::ordered_json& object, RunListener& listener);

  std::size_t most_rows_;
  std::size_t planned_ = 0;
  std::vector<RowInfo> pending_;  ///< rows of a plan whose last line has not come
};

/// Encodes a device's ceilings as one line without line end, and decodes them; decoding throws Error as
/// Decoder does.
std::string encode_ceilings(const Ceilings& ceilings);
Ceilings decode_ceilings(std::string_view text);

/// The run as a JSON object with every member, as in run.json.
nlohmann::ordered_json json_of(const RunInfo& info);

}  // namespace assay
