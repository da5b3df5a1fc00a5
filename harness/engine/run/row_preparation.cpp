#include "harness/engine/run/row_preparation.h"

#include "harness/base/host_info.h"
#include "harness/base/parallel.h"
#include "harness/base/signal_stack.h"
#include "harness/engine/accuracy/experiment.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace assay {
namespace {

constexpr std::size_t gib = std::size_t{1} << 30;
constexpr std::uint64_t share_of_memory = 16;

}  // namespace

std::size_t bytes_of_answer(const TensorSpec& output) {
  const std::size_t value = size_of(output.dtype);
  switch (output.output_class) {
    case OutputClass::Exact:
      return value;
    case OutputClass::Bounded:
      return std::max(value, sizeof(double)) + 2 * sizeof(float);  // of float64, a bound and a magnitude
    case OutputClass::Banded:
      return value + sizeof(float) + sizeof(double);  // a magnitude, and the value before rounding
  }
  throw std::logic_error("bytes_of_answer: not a class of outputs");
}

std::size_t most_bytes_ahead(bool is_cpu_device, std::uint64_t memory_bytes) {
  if (is_cpu_device) return gib;
  return std::clamp<std::size_t>(memory_bytes / share_of_memory, gib, 8 * gib);
}

RowPreparation::RowPreparation(const DeviceContext& context, std::span<const PlannedGroup> groups,
                               const RowsLeft& left, int threads)
    : context_(context),
      groups_(groups),
      left_(left),
      ceilings_(context.ceilings()),
      most_bytes_(most_bytes_ahead(context.device.info().is_cpu(), host_memory_bytes())),
      slots_(groups.size()),
      most_busy_(threads) {
  list_jobs(left);
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The system has no more threads: the existing ones do the work, or the rows themselves.
  }
}

RowPreparation::~RowPreparation() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

/// Lists the jobs in the order in which rows will need their results.
void RowPreparation::list_jobs(const RowsLeft& left) {
  RowIndex first = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const PlannedGroup& group = groups_[g];
    first_rows_.push_back(first);
    const std::size_t jobs_before = jobs_.size();
    std::optional<RowIndex> last_timed;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (!left.wants(first + i)) continue;
      if (jobs_.size() == jobs_before) jobs_.push_back({Kind::Data, g, first + i, i});
      jobs_.push_back({Kind::Row, g, first + i, i});
      if (group[i].mode == Mode::Perf) last_timed = first + i;
    }
    if (last_timed && context_.options.secret_seed)
      jobs_.push_back({Kind::Secret, g, *last_timed, *last_timed - first});
    if (jobs_.size() > jobs_before) slots_[g].own.bytes = slots_[g].secret.bytes = bytes_of_data(group);
    first += group.size();
  }
  is_taken_.assign(jobs_.size(), false);
}

std::size_t RowPreparation::bytes_of_data(const PlannedGroup& group) const {
  const Case& test_case = *group.front().test_case;
  std::size_t bytes = 0;
  for (const TensorSpec& spec : test_case.tensors) {
    const auto elements = static_cast<std::size_t>(numel(spec.shape));
    bytes += elements * (spec.is_input() ? size_of(spec.dtype) : bytes_of_answer(spec));
  }
  return bytes;
}

RowPreparation::Slot& RowPreparation::slot_of(const Job& job) {
  return job.kind == Kind::Secret ? slots_[job.group].secret : slots_[job.group].own;
}

void RowPreparation::work() {
  const BackgroundThread background;
  const SignalStack stack;
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    const bool may_take_one = busy_ < most_busy_ && awaited_ == 0;
    const std::optional<std::size_t> job = may_take_one ? next_job() : std::nullopt;
    if (!job) {
      changed_.wait(lock);
      continue;
    }
    is_taken_[*job] = true;
    if (jobs_[*job].kind != Kind::Row) {
      slot_of(jobs_[*job]).state = State::Making;
      bytes_ += slot_of(jobs_[*job]).bytes;
    }
    ++busy_;
    lock.unlock();
    run(*job);
    lock.lock();
    --busy_;
    changed_.notify_all();
  }
}

std::optional<std::size_t> RowPreparation::next_job() const {
  for (std::size_t i = first_open_; i < jobs_.size() && jobs_[i].row < reached_ + most_rows_ahead; ++i) {
    if (!is_taken_[i] && may_begin(jobs_[i])) return i;
  }
  return std::nullopt;
}

bool RowPreparation::may_begin(const Job& job) const {
  if (job.kind == Kind::Row) return true;
  const Slots& slots = slots_[job.group];
  const Slot& slot = job.kind == Kind::Secret ? slots.secret : slots.own;
  return slot.state == State::Wanted && bytes_ + slot.bytes <= most_bytes_;
}

/// Called without the lock.
void RowPreparation::run(std::size_t index) {
  const BackgroundWork busy;
  const Job job = jobs_[index];
  std::optional<DataSet> data;
  try {
    if (job.kind == Kind::Row) return prepare_row(groups_[job.group][job.index]);
    data = made(job);
  } catch (const std::exception&) {
    // The row will meet the same error and report it.
  }
  const std::scoped_lock lock(mutex_);
  Slot& slot = slot_of(job);
  slot.state = State::Done;
  const bool is_too_late = job.group < first_group_;
  if (data && !is_too_late) {
    slot.data = std::move(data);
  } else {
    bytes_ -= slot.bytes;
  }
}

/// Makes the data of a job; nothing when no row of the group will need them.
std::optional<DataSet> RowPreparation::made(const Job& job) const {
  const PlannedRow* row = first_that_runs(job);
  if (row == nullptr) return std::nullopt;
  const Case& test_case = *row->test_case;
  if (job.kind == Kind::Data) return make_data_set(test_case, context_.options.answers);
  if (!has_secret_data(test_case)) return std::nullopt;
  return make_secret_data_set(test_case, *context_.options.secret_seed);
}

const PlannedRow* RowPreparation::first_that_runs(const Job& job) const {
  const PlannedGroup& group = groups_[job.group];
  for (std::size_t i = 0; i < group.size(); ++i) {
    const bool is_judged_so = job.kind == Kind::Data || group[i].mode == Mode::Perf;
    if (is_judged_so && left_.wants(first_rows_[job.group] + i) && !plan_of(group[i]).not_run)
      return &group[i];
  }
  return nullptr;
}

RowPlan RowPreparation::plan_of(const PlannedRow& row) const {
  return plan_of_row(row, context_.info_of(row), context_, ceilings_);
}

void RowPreparation::prepare_row(const PlannedRow& row) const {
  const RowPlan plan = plan_of(row);
  if (plan.not_run) return;
  Experiment::prepare(context_.device, context_.shaders_of(row), *row.test_case, *plan.made.program);
}

void RowPreparation::reached(RowIndex row) {
  {
    const std::scoped_lock lock(mutex_);
    reached_ = std::max(reached_, row + 1);
    for (; first_open_ < jobs_.size() && (is_taken_[first_open_] || jobs_[first_open_].row < reached_);
         ++first_open_)
      is_taken_[first_open_] = true;
    while (first_group_ + 1 < groups_.size() && first_rows_[first_group_ + 1] <= row) {
      forget(slots_[first_group_].own);
      forget(slots_[first_group_].secret);
      ++first_group_;
    }
  }
  changed_.notify_all();
}

/// Called with the lock. A job in progress notices that its result is no longer needed.
void RowPreparation::forget(Slot& slot) {
  if (!slot.data) return;
  slot.data.reset();
  bytes_ -= slot.bytes;
}

std::optional<DataSet> RowPreparation::take_data(std::size_t group) {
  return take(slots_[group].own);
}

std::optional<DataSet> RowPreparation::take_secret_data(std::size_t group) {
  return take(slots_[group].secret);
}

std::optional<DataSet> RowPreparation::take(Slot& slot) {
  std::optional<DataSet> data;
  {
    std::unique_lock lock(mutex_);
    if (slot.state == State::Wanted) slot.state = State::Done;  // the row makes them itself
    ++awaited_;
    changed_.wait(lock, [&] { return slot.state == State::Done; });
    --awaited_;
    data = std::exchange(slot.data, std::nullopt);
    if (data) bytes_ -= slot.bytes;
  }
  changed_.notify_all();
  return data;
}

RowPreparation::Hush::Hush(RowPreparation& owner) : owner_(owner) {
  const bool is_cpu = owner.context_.device.info().is_cpu();
  const int most = std::max(1, static_cast<int>(owner.threads_.size() + 1) * 3 / 4);
  std::unique_lock lock(owner_.mutex_);
  owner_.most_busy_ = is_cpu ? 0 : most;
  if (is_cpu) {
    owner_.changed_.wait(lock, [&] { return owner_.busy_ == 0; });
  } else {
    limit_background_threads(most);
  }
}

RowPreparation::Hush::~Hush() {
  limit_background_threads(0);
  {
    const std::scoped_lock lock(owner_.mutex_);
    owner_.most_busy_ = static_cast<int>(owner_.threads_.size());
  }
  owner_.changed_.notify_all();
}

}  // namespace assay
