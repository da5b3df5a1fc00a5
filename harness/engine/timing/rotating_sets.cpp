#include "harness/engine/timing/rotating_sets.h"

#include "harness/base/clock.h"
#include "harness/op/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace assay {
namespace {

constexpr std::uint64_t unknown_cache_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t turns_of_cache = 2;
constexpr std::uint64_t most_sets = 2048;  // each is an allocation of its own, and devices allow 4096

double megabytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

std::uint64_t known_or_large(std::uint64_t cache_bytes) {
  return cache_bytes > 0 ? cache_bytes : unknown_cache_bytes;
}

constexpr std::size_t groups = 8;  // sets change places within their group only

constexpr std::size_t programs_in_order = 8;  // half of them on each data set
constexpr std::size_t audited_at_least = 2;   // programs in a row, where a submission has several
constexpr std::size_t audited_at_most = 4;
constexpr int submissions_as_recorded = 16;     // in a window, before the data may change
constexpr std::size_t cold_sets_inspected = 4;  // for changed inputs and guards, at the end of a block

std::size_t programs_of(const gpu::TimedRun& run) {
  return static_cast<std::size_t>(run.warm) + static_cast<std::size_t>(run.batch);
}

/// A program whose memory is these scratch tensors; the others are as small as can be.
Program with_scratch_alone(const Program& program, std::span<const Resource> wanted) {
  Program alone;
  for (std::uint32_t i = 0; i < program.scratch.size(); ++i) {
    const bool is_wanted = std::ranges::find(wanted, Resource::scratch(i)) != wanted.end();
    const Scratch& own = program.scratch[i];
    Scratch kept = is_wanted ? program.scratch[own.in_memory_of.value_or(i)] : Scratch{.shape = {1}};
    kept.name = own.name;
    alone.scratch.push_back(std::move(kept));
  }
  return alone;
}

bool has_repetition(std::vector<std::size_t> sets) {
  std::ranges::sort(sets);
  return std::ranges::adjacent_find(sets) != sets.end();
}

}  // namespace

SetPlan cold_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes,
                  std::int64_t held_bytes) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(set_bytes, 1));
  const std::uint64_t wanted = turns_of_cache * known_or_large(cache_bytes);
  const std::uint64_t sets = std::max<std::uint64_t>(wanted / bytes + 1, 2);
  if (sets > most_sets) {
    return {.kind = InputSets::Cold,
            .refusal =
                fmt::format("a cold row needs sets of tensors that are {:.3g} MB together, twice the cache; "
                            "{} sets of {} bytes, the most that are made, are {:.3g} MB",
                            megabytes(wanted), most_sets, bytes, megabytes(most_sets * bytes))};
  }
  const std::uint64_t emptying = (sets + 1) / 2;
  const std::uint64_t all = sets + emptying + 1;
  const std::uint64_t held = std::max(bytes, static_cast<std::uint64_t>(held_bytes));
  if (all * held > device_memory_bytes / 2) {
    return {.kind = InputSets::Cold,
            .refusal = fmt::format("a cold row needs {} sets of tensors of {} bytes: more than half of the "
                                   "device's {:.4g} MB",
                                   all, held, megabytes(device_memory_bytes))};
  }
  return {.kind = InputSets::Cold, .sets = static_cast<int>(sets), .emptying = static_cast<int>(emptying)};
}

SetPlan hot_sets(std::int64_t set_bytes, std::uint64_t cache_bytes, std::uint64_t device_memory_bytes) {
  const std::uint64_t both = 2 * static_cast<std::uint64_t>(std::max<std::int64_t>(set_bytes, 1));
  if (both > device_memory_bytes / 2) return {};
  const bool fit = both <= known_or_large(cache_bytes) / 2;
  return {.kind = fit ? InputSets::AlternateByProgram : InputSets::AlternateByBatch, .sets = 2};
}

ColdOrder::ColdOrder(std::size_t sets, std::mt19937_64& chance) : chance_(&chance), order_(sets) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::shuffle(order_, chance);
}

void ColdOrder::draw_round() {
  const std::size_t most = std::max<std::size_t>(order_.size() / groups, 1);
  for (std::size_t first = 0; first < order_.size(); first += most) {
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(most, order_.size() - first));
    std::shuffle(begin, end, *chance_);
  }
}

std::vector<std::size_t> ColdOrder::take(std::size_t programs) {
  std::vector<std::size_t> taken;
  taken.reserve(programs);
  while (taken.size() < programs) {
    if (next_ == order_.size()) {
      draw_round();
      next_ = 0;
    }
    taken.push_back(order_[next_++]);
  }
  return taken;
}

ConstantScratch::ConstantScratch(gpu::Device& device, gpu::DeviceMemory& memory, const Program& program)
    : device_(&device), memory_(&memory), program_(&program), scratch_(constant_scratch(program)) {}

void ConstantScratch::keep(const gpu::Workspace& set) {
  kept_.reset();
  if (scratch_.empty()) return;
  kept_.emplace(*device_, with_scratch_alone(*program_, scratch_), std::span<const Physical>{},
                gpu::guard_bytes);
  gpu::Workspace* const kept = &*kept_;
  set.copy_to({&kept, 1}, scratch_);
}

std::optional<std::string> ConstantScratch::changed_in(std::span<const gpu::Workspace* const> sets) const {
  if (!kept_ || sets.empty() || memory_->same_with_guards(*kept_, sets, scratch_)) return std::nullopt;
  const auto differs = [&](Resource scratch) {
    return !memory_->same_with_guards(*kept_, sets, {&scratch, 1});
  };
  const auto changed = std::ranges::find_if(scratch_, differs);
  const Scratch& scratch = program_->scratch[(changed == scratch_.end() ? scratch_.front() : *changed).index];
  return fmt::format("the scratch '{}', which {}", scratch.name,
                     scratch.is_zero_between_runs ? "must hold zeros after each run"
                                                  : "set-up wrote once and all runs read");
}

RotatingSets::RotatingSets(gpu::Device& device, gpu::DeviceMemory& memory, std::vector<TimedData> data,
                           SetPlan plan, bool is_updated_in_place, std::uint64_t seed, double longest_ns)
    : device_(&device),
      memory_(&memory),
      data_(std::move(data)),
      plan_(std::move(plan)),
      restores_(is_updated_in_place),
      chance_(seed),
      poison_((chance_() & 1U) != 0 ? Poison::A : Poison::B),
      longest_ns_(longest_ns) {}

void RotatingSets::open() {
  abandon();
  programs_run_ = 0;
  last_set_ = 0;
  if (is_cold()) {
    open_cold();
  } else {
    open_hot();
  }
  keep_constant_scratch();
  memory_bytes_ = untouched_ ? untouched_->memory_bytes() : 0;
  for (const Set& set : sets_) memory_bytes_ += set.memory.memory_bytes();
  for (const ConstantScratch& scratch : constant_scratch_) memory_bytes_ += scratch.memory_bytes();
  if (program_hash_.empty()) program_hash_ = executable().program_hash(sets_.front().memory);
}

/// Both data sets share one set of outputs and scratch.
void RotatingSets::open_hot() {
  sets_.push_back({.memory = data_[0].experiment->fresh_workspace(poison_)});
  if (alternates()) {
    sets_.push_back({data_[1].experiment->fresh_workspace(poison_, &sets_.front().memory), 1});
  }
  order_ = plan_.kind == InputSets::AlternateByProgram ? drawn_order() : std::vector<std::size_t>{0};
}

/// The first set of each data is filled, the others are copies: equally many of each, in an order drawn by
/// chance.
void RotatingSets::open_cold() {
  for (std::size_t i = 0; i < data_.size(); ++i) {
    sets_.push_back({data_[i].experiment->fresh_workspace(poison_), i});
  }
  std::vector<std::size_t> others;
  for (auto i = sets_.size(); i < static_cast<std::size_t>(plan_.sets + plan_.emptying); ++i)
    others.push_back(i % data_.size());
  std::ranges::shuffle(others, chance_);
  std::vector<gpu::Workspace> empty = data_.front().experiment->empty_workspaces(others.size() + 1);
  untouched_.emplace(std::move(empty.back()));
  for (std::size_t i = 0; i < others.size(); ++i) sets_.push_back({std::move(empty[i]), others[i]});
  copy_first_sets();
  cold_order_.emplace(static_cast<std::size_t>(plan_.sets), chance_);
  are_caches_empty_ = false;
}

void RotatingSets::copy_first_sets() {
  for (std::size_t data = 0; data < data_.size(); ++data) {
    std::vector<gpu::Workspace*> copies;
    if (data == 0) copies.push_back(&*untouched_);
    for (std::size_t i = data_.size(); i < sets_.size(); ++i) {
      if (sets_[i].data == data) copies.push_back(&sets_[i].memory);
    }
    sets_[data].memory.copy_to(copies);
  }
}

void RotatingSets::keep_constant_scratch() {
  for (std::size_t i = 0; i < data_.size() && i < sets_.size(); ++i) {
    ConstantScratch& scratch = constant_scratch_.emplace_back(*device_, *memory_, executable().program());
    data_[i].experiment->with_room([&] { scratch.keep(sets_[i].memory); });
  }
}

std::vector<std::size_t> RotatingSets::drawn_order() {
  std::vector<std::size_t> order(programs_in_order);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i % 2;
  std::ranges::shuffle(order, chance_);
  return order;
}

/// The sets of a hot row's programs. Programs that overlap and write the same outputs must run on the same
/// data.
std::vector<std::size_t> RotatingSets::rotation_of(const gpu::TimedRun& run) {
  const bool is_one =
      plan_.kind == InputSets::AlternateByBatch ||
      (plan_.kind == InputSets::AlternateByProgram && run.spacing == gpu::Spacing::Overlapped);
  if (!is_one) return order_;
  return {static_cast<std::size_t>(chance_() & 1U)};
}

/// A submission that uses every set begins with the same set each time, so that it can be submitted again as
/// it was recorded; a shorter one begins where the last one stopped.
RotatingSets::Turn RotatingSets::turn_of(const gpu::TimedRun& run) {
  if (is_cold()) return cold_turn(run);
  Turn turn{.sets = rotation_of(run)};
  if (programs_of(run) < turn.sets.size()) turn.first = programs_run_ % turn.sets.size();
  return turn;
}

/// Before a set comes again, all sets that hold answers are poisoned again. That, or filling the sets, leaves
/// the caches with what was written: programs over further sets, in the same submission, bring the caches
/// into the state in which such programs leave them. A submission that uses every set several times is
/// submitted again as it was recorded.
RotatingSets::Turn RotatingSets::cold_turn(const gpu::TimedRun& run) {
  const std::size_t programs = programs_of(run);
  const bool is_whole = programs >= cold_order_->sets();
  if (is_whole && recorded_ && recorded_->run == run && recorded_->turn.emptying > 0) {
    poison_answers();
    return recorded_->turn;
  }
  Turn turn{.sets = cold_order_->take(programs)};
  const auto holds_answer = [&](std::size_t set) { return sets_[set].has_answer; };
  if (std::ranges::any_of(turn.sets, holds_answer) || has_repetition(turn.sets)) poison_answers();
  if (are_caches_empty_) return turn;
  turn.emptying = plan_.emptying;
  std::vector<std::size_t> emptying;
  for (int i = plan_.sets; i < plan_.sets + plan_.emptying; ++i) {
    emptying.push_back(static_cast<std::size_t>(i));
    restore(emptying.back());
  }
  turn.sets.insert(turn.sets.begin(), emptying.begin(), emptying.end());
  are_caches_empty_ = true;
  return turn;
}

void RotatingSets::poison_answers() {
  std::vector<gpu::Workspace*> written;
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < static_cast<std::size_t>(plan_.sets); ++i) {
    if (!std::exchange(sets_[i].has_answer, false)) continue;
    written.push_back(&sets_[i].memory);
    used.push_back(i);
  }
  untouched_->copy_to(written, data_.front().experiment->written_when_timed());
  for (const std::size_t set : used) restore(set);
  are_caches_empty_ = false;
}

void RotatingSets::restore(std::size_t set) {
  Set& one = sets_[set];
  if (restores_) data_[one.data].experiment->poison_outputs(one.memory, poison_);
}

std::vector<gpu::Workspace*> RotatingSets::memory_of(const std::vector<std::size_t>& sets) {
  std::vector<gpu::Workspace*> memory;
  for (const std::size_t set : sets) memory.push_back(&sets_[set].memory);
  return memory;
}

void RotatingSets::note_run(const Turn& turn, std::size_t first, std::size_t programs) {
  for (std::size_t i = 0; i < std::min(programs, turn.sets.size()); ++i) {
    Set& set = sets_[turn.at(first + i)];
    set.used = set.has_answer = true;
  }
  last_set_ = turn.at(first + programs - 1);
  programs_run_ += programs;
}

bool RotatingSets::is_too_long(std::size_t programs) const {
  return static_cast<double>(programs) * program_ns_ > longest_ns_;
}

/// How many of the untimed programs of `run` go into submissions of their own. The sampler chooses how many
/// programs a submission has, but knows nothing of those that empty the caches. Without timestamps a time is
/// that of the whole submission, in which only timed programs may be.
std::size_t RotatingSets::programs_ahead(const gpu::TimedRun& run, const Turn& turn) const {
  if (!device_->has_timestamps()) return static_cast<std::size_t>(run.warm);
  const bool is_short = program_ns_ > 0 && !is_too_long(programs_of(run));
  return is_short ? 0 : static_cast<std::size_t>(turn.emptying);
}

/// Runs the first programs of a turn. The first of them shows how long one takes, if that is not known.
void RotatingSets::run_ahead(const Turn& turn, std::size_t programs, double timeout_s) {
  recorded_.reset();
  const std::vector<gpu::Workspace*> memory = memory_of(turn.sets);
  for (std::size_t done = 0; done < programs;) {
    const double most = program_ns_ > 0 ? std::floor(longest_ns_ / program_ns_) : 1;
    const double batch = std::clamp(most, 1.0, static_cast<double>(programs - done));
    const gpu::TimedRun run{.batch = static_cast<int>(batch),
                            .first_set = (turn.first + done) % turn.sets.size()};
    device_->tell_phase(Phase::Timing);  // all together may take longer than a supervisor waits
    program_ns_ = executable().time(memory, run, timeout_s).wall_ns / batch;
    done += static_cast<std::size_t>(run.batch);
  }
}

gpu::Timing RotatingSets::submit(const gpu::TimedRun& asked, Turn turn, double timeout_s) {
  gpu::TimedRun run = asked;
  run.warm += turn.emptying;
  run.first_set = turn.first;
  if (!is_cold()) restore(turn.at(0));
  note_run(turn, 0, programs_of(run));
  if (const std::size_t ahead = programs_ahead(run, turn); ahead > 0) {
    run_ahead(turn, ahead, timeout_s);
    run.warm -= static_cast<int>(ahead);
    run.first_set = (turn.first + ahead) % turn.sets.size();
    return executable().time(memory_of(turn.sets), run, timeout_s);
  }
  const bool is_recorded = recorded_ && recorded_->run == asked && recorded_->turn.sets == turn.sets &&
                           recorded_->turn.first == turn.first && recorded_->turn.emptying == turn.emptying;
  if (!is_recorded) {
    const std::vector<gpu::Workspace*> memory = memory_of(turn.sets);
    recorded_.reset();  // before another is bound: see gpu::TimedBatch
    recorded_.emplace(Recorded{asked, std::move(turn), gpu::TimedBatch(executable(), memory, run)});
  }
  const gpu::Timing timing = recorded_->batch.submit(timeout_s);
  program_ns_ = timing.wall_ns / static_cast<double>(programs_of(run));
  return timing;
}

gpu::Timing RotatingSets::time(gpu::TimedRun run, double timeout_s) {
  return submit(run, turn_of(run), timeout_s);
}

void RotatingSets::run_in_window(const gpu::TimedRun& run, double timeout_s) {
  const bool is_whole = programs_of(run) % static_cast<std::size_t>(sets_of_round()) == 0;
  const bool is_recorded = is_whole && recorded_ && recorded_->run == run && recorded_->turn.emptying == 0;
  if (is_recorded && ++submitted_again_ < submissions_as_recorded) {
    submit(run, recorded_->turn, timeout_s);
    return;
  }
  submitted_again_ = 0;
  if (!is_cold()) {
    submit(run, turn_of(run), timeout_s);
    return;
  }
  submit(run, {.sets = cold_order_->take(programs_of(run))}, timeout_s);
}

double RotatingSets::batch_ns_on(std::size_t data, gpu::TimedRun run, double timeout_s) {
  const gpu::Timing timing = submit(run, {.sets = {data}}, timeout_s);
  return timing.gpu_ns.value_or(timing.wall_ns);
}

/// A shader sees no submission begin or end: to it, audited programs are a part of a timed submission.
RotatingSets::Audit RotatingSets::audit(const gpu::TimedRun& run, double most_s, double timeout_s) {
  const Stopwatch watch;
  const Turn turn = turn_of(run);
  recorded_.reset();
  const std::size_t place = static_cast<std::size_t>(turn.emptying) + chance_() % programs_of(run);
  if (place > 0) {
    run_ahead(turn, place, timeout_s);
    note_run(turn, 0, place);
  }
  const std::size_t most = is_cold() ? std::min(turn.sets.size() - place, audited_at_most) : audited_at_most;
  Audit found = audit_one(turn.at(place), run.probe, timeout_s);
  if (restores_ && is_cold()) found.first = {};  // what was restored just before is in the caches
  const std::size_t least = programs_of(run) > 1 ? audited_at_least : 1;
  for (std::size_t i = 1; i < most && found.is_right && (i < least || watch.s() < most_s); ++i) {
    found.is_right = audit_one(turn.at(place + i), nullptr, timeout_s).is_right;
  }
  return found;
}

/// A program that joins must find its parts as the program before left them, so that it may take its output
/// for done, and must find them poisoned, so that what it has not made shows: by chance one or the other.
RotatingSets::Audit RotatingSets::audit_one(std::size_t set, gpu::AppendedWork* probe, double timeout_s) {
  Set& audited = sets_[set];
  data_[audited.data].experiment->poison_outputs(audited.memory, poison_);
  if ((chance_() & 1U) != 0) data_[audited.data].experiment->poison_joined(audited.memory, poison_);
  const gpu::Timing timing = executable().time(audited.memory, {.batch = 1, .probe = probe}, timeout_s);
  note_run({.sets = {set}}, 0, 1);
  return {count_right({set}) == 1 && !has_changed_constant_scratch(audited), timing};
}

std::vector<double> RotatingSets::dispatch_ns(double timeout_s) {
  if (!device_->has_timestamps()) return {};
  recorded_.reset();
  restore(0);
  note_run({.sets = {0}}, 0, 1);
  const bool is_warmed_ahead = !restores_ && is_too_long(2);
  if (is_warmed_ahead) run_ahead({.sets = {0}}, 1, timeout_s);
  return executable().dispatch_ns(sets_.front().memory, timeout_s,
                                  /*warms_up=*/!restores_ && !is_warmed_ahead);
}

std::optional<double> RotatingSets::isolated_ns(int warm, double timeout_s) {
  if (!device_->has_timestamps()) return std::nullopt;
  std::size_t timed = 0;
  std::size_t other = 0;
  if (is_cold()) {
    const Turn turn = cold_turn({.warm = 1, .batch = 1});
    timed = turn.sets.back();
    other = turn.sets[turn.sets.size() - 2];
    recorded_.reset();
    run_ahead(turn, static_cast<std::size_t>(turn.emptying), timeout_s);
  } else {
    timed = chance_() % sets_.size();
    other = sets_.size() - 1 - timed;
  }
  recorded_.reset();
  note_run({.sets = {other, timed}}, 0, 2);
  if (is_too_long(static_cast<std::size_t>(warm) + 1)) {
    run_ahead({.sets = {other}}, static_cast<std::size_t>(std::exchange(warm, 0)), timeout_s);
  }
  const std::vector<Resource> written = data_.front().experiment->written_when_timed();
  const std::optional<double> ns = executable().isolated_ns(sets_[timed].memory,
                                                            {.before = &sets_[other].memory,
                                                             .warm = warm,
                                                             .poisoned = written,
                                                             .poison = static_cast<std::uint32_t>(chance_())},
                                                            timeout_s);
  if (data_.front().experiment->writes_in_part()) write_again(timed, timeout_s);
  return ns;
}

/// After all of a set's outputs were overwritten: what programs leave as it is, and their answer.
void RotatingSets::write_again(std::size_t set, double timeout_s) {
  Set& one = sets_[set];
  data_[one.data].experiment->poison_outputs(one.memory, poison_);
  executable().time(one.memory, {.batch = 1}, timeout_s);
  are_caches_empty_ = false;
}

double RotatingSets::setup_ns(double timeout_s) {
  recorded_.reset();
  return executable().setup_ns(sets_.front().memory, timeout_s);
}

/// The sets whose outputs are compared: each set of a cold row that holds an answer; of a hot row, whose sets
/// share their outputs, the one with the data of the program that ran last.
std::vector<std::size_t> RotatingSets::written_sets() const {
  if (programs_run_ == 0) return {};
  if (!is_cold()) return {last_set_};
  std::vector<std::size_t> written;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (sets_[i].has_answer) written.push_back(i);
  }
  return written;
}

/// How many of these sets hold the outputs judged on their data: all, or those before the first wrong one.
std::size_t RotatingSets::count_right(const std::vector<std::size_t>& written) {
  std::size_t right = 0;
  for (std::size_t data = 0; data < data_.size(); ++data) {
    std::vector<const gpu::Workspace*> sets;
    for (const std::size_t set : written) {
      if (sets_[set].data == data) sets.push_back(&sets_[set].memory);
    }
    const std::size_t holding = data_[data].experiment->count_holding(sets, data_[data].judged);
    right += holding;
    if (holding < sets.size()) break;
  }
  return right;
}

/// Where two data sets alternate, one more program runs on the other data than the last one had: a program
/// that reuses an earlier answer is then wrong in one of the two comparisons.
bool RotatingSets::is_right_with_other_data(double timeout_s) {
  recorded_.reset();
  last_set_ = 1 - last_set_;
  sets_[last_set_].used = true;
  restore(last_set_);
  executable().time(sets_[last_set_].memory, {.batch = 1}, timeout_s);
  return count_right({last_set_}) == 1;
}

/// Counters must be zero again after each program, not after the last one of a block alone.
bool RotatingSets::has_changed_constant_scratch(const Set& set) const {
  const gpu::Workspace* const memory = &set.memory;
  return constant_scratch_[set.data].changed_in({&memory, 1}).has_value();
}

std::string RotatingSets::changed_constant_scratch() const {
  for (std::size_t data = 0; data < constant_scratch_.size(); ++data) {
    std::vector<const gpu::Workspace*> used;
    for (const Set& set : sets_) {
      if (set.used && set.data == data) used.push_back(&set.memory);
    }
    if (const auto changed = constant_scratch_[data].changed_in(used)) return *changed;
  }
  return "";
}

/// Whether the guards of these sets of a cold row are those of the set that no program runs over. Compared on
/// the device: the host would read each of them by itself.
bool RotatingSets::have_guards_of_untouched(const std::vector<std::size_t>& sets) {
  if (!untouched_) return false;
  std::vector<const gpu::Workspace*> memory;
  for (const std::size_t set : sets) memory.push_back(&sets_[set].memory);
  return memory_->same_guards(*untouched_, memory, data_.front().experiment->resources());
}

/// What programs changed of the inputs and guards of the sets that they used. State there is of use in a cold
/// row only if most sets have it, so a few are inspected.
std::string RotatingSets::changes() {
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (sets_[i].used) used.push_back(i);
  }
  std::ranges::shuffle(used, chance_);
  if (is_cold() && used.size() > cold_sets_inspected) used.resize(cold_sets_inspected);
  const bool are_guards_whole = have_guards_of_untouched(used);
  for (const std::size_t i : used) {
    const Set& set = sets_[i];
    Experiment& experiment = *data_[set.data].experiment;
    const std::vector<Finding> found = are_guards_whole ? experiment.changed_inputs_in(set.memory, poison_)
                                                        : experiment.changes_in(set.memory, poison_);
    if (!found.empty()) return found.front().reason;
  }
  return "";
}

void RotatingSets::abandon() {
  constant_scratch_.clear();
  recorded_.reset();
  sets_.clear();
  untouched_.reset();
}

bool RotatingSets::close(double timeout_s) {
  const std::vector<std::size_t> written = written_sets();
  const std::size_t rights = count_right(written);
  bool right = rights == written.size();
  const std::size_t compared = right ? rights : rights + 1;
  if (right && !written.empty() && alternates()) right = is_right_with_other_data(timeout_s);
  verified_pct_ =
      written.empty() ? 0 : 100 * static_cast<double>(compared) / static_cast<double>(written.size());
  changed_scratch_ = changed_constant_scratch();
  changed_memory_ = changes();
  abandon();
  return right && changed_scratch_.empty() && changed_memory_.empty();
}

}  // namespace assay
