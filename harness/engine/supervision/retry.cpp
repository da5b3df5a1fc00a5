#include "harness/engine/supervision/retry.h"

#include "harness/base/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay {
namespace {

constexpr const char* reproduced = "REPRODUCED";
constexpr const char* order_dependent = "ORDER_DEPENDENT";
constexpr std::size_t most_rows_before = 8;  ///< the most recent ones, which are the likeliest cause

}  // namespace

Retry::Retry(RowIndex row, RowEnd first, std::vector<RowIndex> before)
    : row_(row), first_(std::move(first)), before_(std::move(before)), rows_{row} {
  std::erase(before_, row_);
  if (before_.size() > most_rows_before)
    before_.erase(before_.begin(), before_.end() - static_cast<std::ptrdiff_t>(most_rows_before));
}

RowEnd Retry::lost_again(const std::string& reason) const {
  RowEnd end = first_;
  if (reason != first_.reason) end.reason += "; tried once more: " + reason;
  end.retry = is_behind_others_ ? order_dependent : reproduced;
  if (is_behind_others_) {
    end.reason +=
        fmt::format("; alone it ended as {}, but after the {} rows that had run before it, it was lost again",
                    name_of(alone_.status), before_.size());
  }
  return end;
}

std::optional<RowEnd> Retry::ended(const RowEnd& end) {
  if (class_of(end.status) == StatusClass::Failing) return failed_otherwise(end);
  if (is_behind_others_) return flaky(alone_);
  if (before_.empty()) return flaky(end);
  alone_ = end;
  is_behind_others_ = true;
  rows_ = before_;
  rows_.push_back(row_);
  return std::nullopt;
}

RowEnd Retry::not_reached() const {
  return is_behind_others_ ? flaky(alone_) : first_;
}

/// The row fails again, but in another way.
RowEnd Retry::failed_otherwise(const RowEnd& end) const {
  RowEnd made = first_;
  made.retry = reproduced;
  made.reason += fmt::format("; tried once more it was {}: {}", name_of(end.status), end.reason);
  return made;
}

RowEnd Retry::flaky(const RowEnd& end) const {
  RowEnd made;
  made.status = Status::Flaky;
  made.reason = fmt::format("it was {} ({}), and {} when it was tried once more", name_of(first_.status),
                            first_.reason, name_of(end.status));
  made.driver_retry = end.driver_retry;
  made.validation_messages = end.validation_messages;
  made.validation_texts = end.validation_texts;
  made.total_ms = end.total_ms;
  return made;
}

}  // namespace assay
