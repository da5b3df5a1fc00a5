#include "harness/report/trend/nights.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

NightSummary night(const std::string& id, const std::string& device, const std::vector<std::uint32_t>& rows) {
  NightSummary result;
  result.run = {.run_id = id, .date = id, .device_key = device};
  for (const std::uint32_t row : rows) result.rows.push_back({.row = row});
  return result;
}

TEST(TracksOf, SortsTheNightsOfADeviceByDate) {
  const std::vector<NightSummary> nights{night("03", "a", {1}), night("01", "a", {1}), night("02", "a", {1})};
  const std::vector<Track> tracks = tracks_of(nights);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_THAT(tracks[0].nights, ElementsAre(1, 2, 0));
}

TEST(TracksOf, KeepsRunsWithoutACommonRowApart) {
  const std::vector<NightSummary> nights{night("01", "a", {1, 2}), night("02", "b", {1}),
                                         night("03", "a", {3}), night("04", "a", {2, 4})};
  const std::vector<Track> tracks = tracks_of(nights);
  ASSERT_EQ(tracks.size(), 3U);
  EXPECT_THAT(tracks[0].nights, ElementsAre(0, 3));
  EXPECT_THAT(tracks[1].nights, ElementsAre(2)) << "the same device has a second track";
  EXPECT_THAT(tracks[2].nights, ElementsAre(1));
}

TEST(TracksOf, KeepsRobustRunsApart) {
  std::vector<NightSummary> nights{night("01", "a", {1}), night("02", "a", {1}), night("03", "a", {1})};
  nights[1].run.robust_access = true;
  const std::vector<Track> tracks = tracks_of(nights);
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_THAT(tracks[0].nights, ElementsAre(0, 2));
  EXPECT_THAT(tracks[1].nights, ElementsAre(1));
}

TEST(TracksOf, KeepsRunsWithTheValidationLayerApart) {
  std::vector<NightSummary> nights{night("01", "a", {1}), night("02", "a", {1}), night("03", "a", {1})};
  nights[1].run.validation = true;
  const std::vector<Track> tracks = tracks_of(nights);
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_THAT(tracks[0].nights, ElementsAre(0, 2));
  EXPECT_THAT(tracks[1].nights, ElementsAre(1));
}

TEST(TracksOf, JoinsRunsThroughOthers) {
  const std::vector<NightSummary> nights{night("01", "a", {1}), night("02", "a", {2}),
                                         night("03", "a", {1, 2})};
  ASSERT_EQ(tracks_of(nights).size(), 1U);
}

TEST(TracksOf, CountsARunThatIsGivenTwiceOnce) {
  const std::vector<NightSummary> nights{night("01", "a", {1}), night("01", "a", {1}), night("01", "b", {1})};
  const std::vector<Track> tracks = tracks_of(nights);
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_THAT(tracks[0].nights, ElementsAre(0));
}

}  // namespace
}  // namespace assay
