#include "harness/base/once_each.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace assay {
namespace {

/// Numbers by key, with a count of how often each was made.
struct Numbers {
  std::shared_ptr<int> get(int key, const std::function<int()>& make) {
    return once.get(
        key,
        [&]() -> std::shared_ptr<int> {
          const auto found = kept.find(key);
          return found == kept.end() ? nullptr : found->second;
        },
        [&] { return make(); }, [&](int made) { kept[key] = std::make_shared<int>(made); });
  }

  OnceEach<int> once;
  std::map<int, std::shared_ptr<int>> kept;
};

void on_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&body, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(OnceEach, ManyThreadsThatAskForOneThingGetItMadeOnce) {
  Numbers numbers;
  std::atomic<int> made = 0;
  std::atomic<int> right = 0;
  on_threads(8, [&](int) {
    right += *numbers.get(7, [&] {
      std::this_thread::yield();
      return ++made;
    });
  });
  EXPECT_EQ(made, 1);
  EXPECT_EQ(right, 8);
}

TEST(OnceEach, DifferentThingsAreMadeAtTheSameTime) {
  Numbers numbers;
  std::atomic<int> inside = 0;
  on_threads(2, [&](int key) {
    numbers.get(key, [&] {
      ++inside;
      while (inside < 2) std::this_thread::yield();  // would hang if one key had to wait for the other
      return key;
    });
  });
  EXPECT_EQ(inside, 2);
}

TEST(OnceEach, WhoeverWaitsForWhatCannotBeMadeLearnsWhy) {
  Numbers numbers;
  std::atomic<int> tries = 0;
  std::atomic<int> failures = 0;
  on_threads(4, [&](int) {
    try {
      numbers.get(1, [&]() -> int {
        ++tries;
        throw std::runtime_error("no");
      });
    } catch (const std::runtime_error&) {
      ++failures;
    }
  });
  EXPECT_EQ(tries, 4);
  EXPECT_EQ(failures, 4);
  EXPECT_EQ(*numbers.get(1, [] { return 5; }), 5);
}

}  // namespace
}  // namespace assay
