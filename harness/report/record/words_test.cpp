#include "harness/report/record/words.h"

#include "harness/base/file.h"
#include "harness/base/status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace assay {
namespace {

TEST(Diagnoses, HaveAWordEach) {
  std::set<std::string_view> words;
  for (const DiagnosisWords& diagnosis : known_diagnoses()) {
    EXPECT_TRUE(words.insert(diagnosis.word).second) << diagnosis.word;
    EXPECT_EQ(name_of(diagnosis.kind), diagnosis.word);
    EXPECT_EQ(diagnosis_name(diagnosis.word), diagnosis.name);
  }
  EXPECT_EQ(words.size(), static_cast<std::size_t>(ErrorKind::Tail) + 1);
  EXPECT_EQ(diagnosis_name("invented_later"), "invented_later");
}

std::string failures_page() {
  return whole_file(ASSAY_SOURCE_DIR "/docs/failures.md").value_or("");
}

/// A heading or a row of a table that begins with the word.
bool has_entry(const std::string& page, const std::string& word) {
  return page.find("| `" + word + "`") != std::string::npos ||
         page.find("### " + word + "\n") != std::string::npos ||
         page.find("### `" + word + "`") != std::string::npos;
}

TEST(FailuresPage, HasEveryWord) {
  const std::string page = failures_page();
  ASSERT_FALSE(page.empty());
  for (const DiagnosisWords& diagnosis : known_diagnoses())
    EXPECT_TRUE(has_entry(page, std::string(diagnosis.name))) << diagnosis.name;
  for (const MetricWords& metric : known_metrics())
    EXPECT_TRUE(has_entry(page, std::string(metric.metric))) << metric.metric;
  for (int i = 0; i <= static_cast<int>(Status::Interrupted); ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_TRUE(has_entry(page, std::string(name_of(status)))) << name_of(status);
  }
}

TEST(PercentOfPeak, IsOfTheNearerCeiling) {
  EXPECT_EQ(percent_of_peak({.pct_peak_bw = 60, .pct_peak_ops = 2, .limited_by = "bandwidth"}), 60);
  EXPECT_EQ(percent_of_peak({.pct_peak_bw = 3, .pct_peak_ops = 42, .limited_by = "operations"}), 42);
  // Far from both, a kernel of many operations was said to be at 3 %.
  EXPECT_EQ(percent_of_peak({.pct_peak_bw = 3, .pct_peak_ops = 19, .limited_by = "kernel"}), 19);
}

TEST(RoughTime, HasFewBlocksOrAWideInterval) {
  PerfResult perf{.ci_pct = 10, .blocks = 5};
  EXPECT_EQ(why_imprecise(perf), "");
  perf.ci_pct = 10.1;
  EXPECT_EQ(why_imprecise(perf), "its interval is +- 10.1 %");
  perf.blocks = 4;
  EXPECT_EQ(why_imprecise(perf), "only 4 blocks, of the 5 that are needed");
  perf.blocks = 1;
  EXPECT_EQ(why_imprecise(perf), "only 1 block, of the 5 that are needed");
}

}  // namespace

}  // namespace assay
