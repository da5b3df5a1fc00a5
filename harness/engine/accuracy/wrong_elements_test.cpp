#include "harness/engine/accuracy/wrong_elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace assay {
namespace {

std::string map_of(const Shape& shape, const std::set<std::int64_t>& bad) {
  return tile_map(shape, [&](std::int64_t i) { return bad.contains(i); });
}

TEST(TileMap, ShowsEveryElementOfASmallMatrix) {
  EXPECT_EQ(map_of({3, 4}, {1, 4, 11}),
            "errors by tile of 1 row x 1 column of 3 x 4 ('.' none wrong, '1'-'9' tenths wrong, '#' all)\n"
            ".#..\n"
            "#...\n"
            "...#");
}

TEST(TileMap, ARankOfOneIsOneLine) {
  EXPECT_EQ(map_of({5}, {4}),
            "errors by tile of 1 row x 1 column of 1 x 5 ('.' none wrong, '1'-'9' tenths wrong, '#' all)\n"
            "....#");
}

TEST(TileMap, FoldsAllDimsButTheLastIntoRows) {
  EXPECT_EQ(map_of({2, 2, 1, 3}, {3, 4, 5, 11}),
            "errors by tile of 1 row x 1 column of 4 x 3 ('.' none wrong, '1'-'9' tenths wrong, '#' all)\n"
            "...\n"
            "###\n"
            "...\n"
            "..#");
}

TEST(TileMap, ALastDimOfOneIsOneColumn) {
  EXPECT_EQ(map_of({2, 1}, {1}),
            "errors by tile of 1 row x 1 column of 2 x 1 ('.' none wrong, '1'-'9' tenths wrong, '#' all)\n"
            ".\n"
            "#");
}

TEST(TileMap, CountsTenthsInLargerTiles) {
  // 20 rows x 640 columns: tiles of 2 x 10 elements.
  std::set<std::int64_t> bad = {0};                                 // 1 of 20: less than a tenth
  for (std::int64_t i = 10; i < 20; ++i) bad.insert(i);             // 10 of 20
  for (std::int64_t i = 20; i < 30; ++i) bad.insert({i, 640 + i});  // all
  for (std::int64_t i = 30; i < 39; ++i) bad.insert({i, 640 + i});  // 18 of 20
  for (std::int64_t i = 40; i < 50; ++i) bad.insert({i, 640 + i});  // all but one
  bad.erase(45);
  const std::string text = map_of({20, 640}, bad);
  const std::string first =
      "errors by tile of 2 rows x 10 columns of 20 x 640"
      " ('.' none wrong, '1'-'9' tenths wrong, '#' all)\n15#99";
  EXPECT_EQ(text.substr(0, first.size()), first);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
}

TEST(TileMap, StaysWithin64By16) {
  const Shape shape = {3, 5, 7, 1000};
  const std::string text = map_of(shape, {numel(shape) - 1});
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "errors by tile of 7 rows x 16 columns of 105 x 1000 ('.' none wrong, '1'-'9' tenths wrong, "
            "'#' all)");
  const std::string picture = text.substr(text.find('\n') + 1);
  EXPECT_EQ(std::count(picture.begin(), picture.end(), '\n') + 1, 15);
  EXPECT_EQ(picture.find('\n'), 63U);
  EXPECT_EQ(picture.back(), '1') << "the last tile holds the only error";
  EXPECT_EQ(picture.find_first_not_of(".\n"), picture.size() - 1);
}

TEST(TileMap, ASmallerTileAtTheEdgeIsFullWhenAllItsElementsAreWrong) {
  std::set<std::int64_t> bad;
  for (std::int64_t i = 126; i < 129; ++i) bad.insert(i);
  const std::string text = map_of({129}, bad);  // tiles of 3 columns
  EXPECT_EQ(text,
            "errors by tile of 1 row x 3 columns of 1 x 129 ('.' none wrong, '1'-'9' tenths wrong, '#' "
            "all)\n" +
                std::string(42, '.') + "#");
}

}  // namespace
}  // namespace assay
