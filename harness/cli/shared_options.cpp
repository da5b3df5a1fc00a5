#include "harness/cli/shared_options.h"

#include "harness/base/text.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace assay::cli {
namespace {

/// Returns the number if it is all of the text; nothing for other text, and for numbers that Number cannot
/// hold.
template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// Where an output goes: the file by all of its names, or "-".
std::filesystem::path place_of(const std::string& output) {
  if (output == "-") return output;
  std::error_code error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(output, error), error);
}

/// Whether it is no file that one output would write over another's, such as /dev/null.
bool is_device(const std::string& output) {
  std::error_code error;
  return std::filesystem::exists(output, error) && !std::filesystem::is_regular_file(output, error);
}

/// Makes a check from the range in words and a function that says whether a text is in it.
CLI::Validator check_of(const char* kind, const std::string& range,
                        std::function<bool(const std::string& text)> is_in_range) {
  return {[=, is_in_range = std::move(is_in_range)](std::string& text) {
            if (is_in_range(text)) return std::string();
            return fmt::format("'{}' is not a {} {}", shortened(text, 60), kind, range);
          },
          "{" + range + "}"};
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const std::string to = most == most_seed ? "2^64 - 1" : most == most_exact ? "2^53" : std::to_string(most);
  return check_of("whole number", fmt::format("from {} to {}", least, to), [=](const std::string& text) {
    const auto value = number_in<std::uint64_t>(text);
    return value && *value >= least && *value <= most;
  });
}

CLI::Validator number(double least, double most) {
  return check_of("number", fmt::format("from {:g} to {:.10g}", least, most), [=](const std::string& text) {
    const auto value = number_in<double>(text);
    return value && *value >= least && *value <= most;  // false for NaN
  });
}

CLI::Validator positive_number(double most) {
  return check_of("number", fmt::format("above 0 and at most {:.10g}", most), [=](const std::string& text) {
    const auto value = number_in<double>(text);
    return value && *value > 0 && *value <= most;
  });
}

void add_case_options(CLI::App& app, app::CaseOptions& options) {
  app.add_option("files", options.files,
                 "Case files or folders of them (default: cases/ here, else the one next to the binary)");
  app.add_option("--filter", options.filter,
                 "Cases to select by id: POS[:POS...][-NEG[:NEG...]], globs as in GoogleTest; the id of a "
                 "cold row (.../cold) selects its whole case");
  app.add_option("--impl", options.impls, "Impls to select (names or globs; repeatable)")
      ->allow_extra_args(false);
  app.add_option("--op", options.ops, "Ops to select (names or globs; repeatable)")->allow_extra_args(false);
  add_op_folders(app, options.op_folders);
  app.add_option("--tier", options.tiers, "Tiers to select (repeatable; default: all)")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"smoke", "ci", "nightly"}));
  app.add_option("--mode", options.mode, "Select only accuracy rows or only performance rows (default: both)")
      ->check(CLI::IsMember({"accu", "perf", "both"}));
  app.add_option("--shard", options.shard,
                 "I/N: the I-th of N parts of the rows; rows that share data stay together (default: from "
                 "GTEST_SHARD_INDEX, TEST_SHARD_INDEX or CI_NODE_INDEX and their totals, else all rows)");
  app.add_option("--balance", options.balance,
                 "Report whose times are used to make the parts of --shard equally long; give the same one "
                 "to all parts");
  app.add_flag(
      "--nodes", options.nodes,
      "Instead of chains, the nodes that they consist of, each alone in every form: times for --times");
  app.add_option("--times", options.times,
                 "Report of a run with --nodes: impl fastest of chains is planned with its times");
  app.add_option("--set", options.values,
                 "KEY=VALUE: a value in YAML for the selected cases instead of their own, such as "
                 "'shape=[1, 64, 128, 128]' or 'fill={x: zero}' (repeatable)")
      ->take_all()
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--seed", options.seed, "Seed of the input data, for cases that do not set their own")
      ->check(whole_number(0, most_seed));
}

CLI::Option* add_op_folders(CLI::App& app, std::vector<std::filesystem::path>& folders) {
  return app
      .add_option("--ops", folders,
                  "Folder with an op's manifest, op.yaml, or with folders that have one: its cases run, "
                  "and its reference, a program, is trusted (repeatable; docs/own-ops.md)")
      ->allow_extra_args(false);
}

void add_benchmark_flag(CLI::App& app, bool& flag) {
  app.add_flag("--benchmark", flag, "Also print the times in Google Benchmark's console format");
}

CLI::Option* add_github_summary(CLI::App& app, std::filesystem::path& file) {
  return app.add_option("--github-summary", file,
                        "Append a Markdown summary to this file, such as $GITHUB_STEP_SUMMARY");
}

void refuse_one_place(CLI::App& app, const std::vector<const CLI::Option*>& outputs) {
  app.parse_complete_callback([outputs] {
    std::map<std::filesystem::path, const CLI::Option*> seen;
    for (const CLI::Option* option : outputs) {
      if (option->count() == 0) continue;
      const std::string& text = option->results().back();
      const auto [other, is_new] = seen.emplace(place_of(text), option);
      const bool is_taken = !is_new && (text == "-" || !is_device(text));
      if (!is_taken) continue;
      throw CLI::ValidationError(option->get_name(),
                                 fmt::format("{} goes to '{}' as well: name another file",
                                             other->second->get_name(), other->second->results().back()));
    }
  });
}

void add_run_noise(CLI::App& app, std::filesystem::path& file, const std::string& help) {
  app.add_option("--run-noise", file, help)->check(CLI::ExistingFile);
}

CLI::Option* add_ceilings(CLI::App& app, std::string& ceilings, const std::string& help) {
  return app.add_option("--ceilings", ceilings, help)
      ->check(CLI::IsMember({"stored", "measure", "none"}))
      ->capture_default_str();
}

CLI::Option* add_as_if(CLI::App& app, std::string& profile, const std::string& help) {
  return app.add_option("--as-if", profile,
                        help +
                            "a shipped profile (vulkan_1_1_minimum, ...), a file that `vulkaninfo --json` or "
                            "`assay devices --profile` wrote, or a report (docs/devices.md)");
}

CLI::Option* add_ceiling_store(CLI::App& app, std::filesystem::path& folder) {
  return app.add_option(
      "--ceiling-store", folder,
      "Folder of ceilings for the runs of one night: measured ceilings are stored there and "
      "reused, even if other work disturbed them (default: $XDG_CACHE_HOME/assay/ceilings, which "
      "keeps only undisturbed ones)");
}

}  // namespace assay::cli
