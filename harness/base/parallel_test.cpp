#include "harness/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace assay {
namespace {

/// Returns how often each index was visited.
std::vector<int> visits(std::int64_t count, std::int64_t grain) {
  std::vector<int> seen(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), 0);
  parallel_for(count, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  return seen;
}

TEST(ParallelTest, EveryIndexIsVisitedOnce) {
  for (const std::int64_t count : {1, 2, 3, 7, 64, 1000, 1001}) {
    for (const std::int64_t grain : {0, 1, 3, 64, 5000}) {
      EXPECT_EQ(visits(count, grain), std::vector<int>(static_cast<std::size_t>(count), 1))
          << count << " by " << grain;
    }
  }
}

TEST(ParallelTest, NothingIsCalledForAnEmptyRange) {
  int calls = 0;
  parallel_for(0, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  parallel_for(-3, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 0);
}

TEST(ParallelTest, NoChunkIsShorterThanTheGrain) {
  std::mutex mutex;
  std::int64_t shortest = 1 << 30;
  parallel_for(1000, 300, [&](std::int64_t first, std::int64_t last) {
    const std::scoped_lock lock(mutex);
    shortest = std::min(shortest, last - first);
  });
  EXPECT_GE(shortest, 300);
}

TEST(ParallelTest, AnExceptionIsRethrownAfterAllChunksHaveEnded) {
  std::atomic<int> ended = 0;
  const auto body = [&](std::int64_t first, std::int64_t) {
    ++ended;
    if (first == 0) throw std::runtime_error("first chunk");
  };
  try {
    parallel_for(1000, 1, body);
    FAIL() << "the exception was lost";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()), "first chunk");
  }
  const int after = ended;
  parallel_for(1000, 1, [&](std::int64_t, std::int64_t) { --ended; });
  EXPECT_EQ(ended, 0) << "not all of " << after << " chunks ran";
}

TEST(ParallelTest, AnExceptionOfTheLastChunkIsRethrownToo) {
  EXPECT_THROW(parallel_for(1000, 1,
                            [](std::int64_t, std::int64_t last) {
                              if (last == 1000) throw std::runtime_error("last chunk");
                            }),
               std::runtime_error);
}

TEST(ParallelTest, CallsMayBeNested) {
  std::atomic<int> total = 0;
  parallel_for(4, 1, [&](std::int64_t first, std::int64_t last) {
    parallel_for(100 * (last - first), 1,
                 [&](std::int64_t a, std::int64_t b) { total += static_cast<int>(b - a); });
  });
  EXPECT_EQ(total, 400);
}

TEST(EqualBytes, SeesTheOneThatDiffers) {
  std::vector<std::byte> a((3U << 20) + 1, std::byte{5});
  std::vector<std::byte> b = a;
  EXPECT_TRUE(equal_bytes(a, b));
  EXPECT_TRUE(equal_bytes({}, {}));
  for (const std::size_t i : {std::size_t{0}, a.size() / 2, a.size() - 1}) {
    b[i] = std::byte{6};
    EXPECT_FALSE(equal_bytes(a, b)) << i;
    b[i] = a[i];
  }
}

TEST(CopyBytes, CopiesAllOfThemHoweverMany) {
  for (const std::size_t count : {0U, 1U, 1000U, (5U << 20) + 3}) {
    std::vector<std::byte> from(count);
    for (std::size_t i = 0; i < count; ++i) from[i] = static_cast<std::byte>(i * 31 + (i >> 12));
    std::vector<std::byte> to(count + 1, std::byte{9});
    copy_bytes(to, from);
    EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin())) << count;
    EXPECT_EQ(to.back(), std::byte{9});
    zero_bytes(to);
    EXPECT_TRUE(std::ranges::all_of(to, [](std::byte byte) { return byte == std::byte{0}; })) << count;
  }
}

/// Returns the largest number of threads that were in `body` at the same time.
int most_at_once(std::int64_t count) {
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  parallel_for(count, 1, [&](std::int64_t, std::int64_t) {
    int seen = ++now;
    for (int before = most; before < seen && !most.compare_exchange_weak(before, seen);) {
    }
    std::this_thread::yield();
    --now;
  });
  return most;
}

/// Runs `body` on a thread of its own, which is a background thread.
void run_in_background(const std::function<void()>& body) {
  std::thread([&] {
    const BackgroundThread background;
    body();
  }).join();
}

TEST(BackgroundTest, ALoopGetsNoMoreThreadsThanTheBackgroundHas) {
  limit_parallel_threads(8);
  limit_background_threads(2);
  run_in_background([] {
    const BackgroundWork busy;
    EXPECT_TRUE(is_in_background());
    for (int i = 0; i < 20; ++i) EXPECT_LE(most_at_once(1000), 2);
    EXPECT_EQ(visits(1001, 1), std::vector<int>(1001, 1));
  });
  EXPECT_FALSE(is_in_background());
  limit_background_threads(0);
  limit_parallel_threads(0);
}

TEST(BackgroundTest, ALoopOfABusyBackgroundIsItsThreadsAlone) {
  limit_parallel_threads(4);
  limit_background_threads(2);
  run_in_background([] {
    const BackgroundWork own;
    const BackgroundWork other;
    EXPECT_EQ(most_at_once(1000), 1);
  });
  limit_background_threads(0);
  limit_parallel_threads(0);
}

TEST(BackgroundTest, AnExceptionIsRethrownThereToo) {
  limit_parallel_threads(4);
  run_in_background([] {
    const BackgroundWork busy;
    EXPECT_THROW(parallel_for(1000, 1, [](std::int64_t, std::int64_t) { throw std::runtime_error("chunk"); }),
                 std::runtime_error);
  });
  limit_parallel_threads(0);
}

int own_priority() {
  return ::getpriority(PRIO_PROCESS, 0);  // of the thread, on Linux
}

TEST(BackgroundTest, ItsThreadsHaveTheLowestPriorityAndNoOthers) {
  const int usual = own_priority();
  limit_parallel_threads(4);
  std::mutex mutex;
  std::map<std::thread::id, int> seen;
  run_in_background([&] {
    const BackgroundWork busy;
    while (seen.size() < 2) {  // until a helper has had a chunk
      parallel_for(1000, 1, [&](std::int64_t, std::int64_t) {
        const std::scoped_lock lock(mutex);
        seen[std::this_thread::get_id()] = own_priority();
      });
    }
  });
  for (const auto& [thread, priority] : seen) EXPECT_EQ(priority, 19);
  EXPECT_EQ(own_priority(), usual);
  parallel_for(1000, 1, [&](std::int64_t, std::int64_t) { EXPECT_EQ(own_priority(), usual); });
  limit_parallel_threads(0);
}

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
