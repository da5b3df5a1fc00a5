#include "harness/report/console/time_left.h"

#include <algorithm>

namespace assay {
namespace {

/// Blocks per row before any row has ended: more than most rows need, as an estimate may fall but not rise.
constexpr std::size_t guessed_blocks = 15;

}  // namespace

void TimeLeft::plan(std::span<const RowInfo> planned, double now) {
  *this = {};
  since_ = now;
  for (const RowInfo& row : planned) ++kind_of(row).left;
}

void TimeLeft::ended(const RowInfo& row, double now) {
  Kind& kind = kind_of(row);
  if (kind.left > 0) --kind.left;
  ++kind.ended;
  kind.seconds += now - since_;
  since_ = now;
  const auto blocks = row.mode == "perf" ? blocks_of_.extract(row.id) : decltype(blocks_of_)::node_type();
  if (blocks) ended_blocks_ += blocks.mapped();
}

void TimeLeft::block(const RowInfo& row, double now) {
  perf_.seconds += now - since_;
  since_ = now;
  ++blocks_;
  ++blocks_of_[row.id];
}

/// The expected number of blocks of a row when it ends.
double TimeLeft::blocks_of_a_row() const {
  if (perf_.ended > 0) return static_cast<double>(ended_blocks_) / static_cast<double>(perf_.ended);
  std::size_t most = guessed_blocks;
  for (const auto& [id, blocks] : blocks_of_) most = std::max(most, blocks + 1);
  return static_cast<double>(most);
}

double TimeLeft::blocks_left() const {
  const double of_a_row = blocks_of_a_row();
  double blocks = static_cast<double>(perf_.left - std::min(perf_.left, blocks_of_.size())) * of_a_row;
  for (const auto& [id, had] : blocks_of_) blocks += std::max(1.0, of_a_row - static_cast<double>(had));
  return blocks;
}

std::optional<double> TimeLeft::accu_seconds() const {
  if (accu_.left == 0) return 0;
  if (accu_.ended == 0) return std::nullopt;
  return static_cast<double>(accu_.left) * accu_.seconds / static_cast<double>(accu_.ended);
}

std::optional<double> TimeLeft::perf_seconds() const {
  if (perf_.left == 0) return 0;
  if (blocks_ > 0) return blocks_left() * perf_.seconds / static_cast<double>(blocks_);
  if (perf_.ended == 0) return std::nullopt;
  return static_cast<double>(perf_.left) * perf_.seconds / static_cast<double>(perf_.ended);
}

std::optional<double> TimeLeft::seconds() {
  const std::optional<double> accu = accu_seconds();
  const std::optional<double> perf = perf_seconds();
  if (!accu || !perf || accu_.left + perf_.left == 0) return std::nullopt;
  told_ = std::min(*accu + *perf, told_.value_or(*accu + *perf));
  return told_;
}

}  // namespace assay
