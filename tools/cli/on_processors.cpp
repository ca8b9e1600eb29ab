#include "tools/cli/on_processors.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace athanor {

void on_processors(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto work_on = [&] {
    for (std::size_t i = next++; i < count; i = next++) { work(i); }
  };
  const std::size_t threads = std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::future<void>> running;
  for (std::size_t i = 0; i < threads; ++i) { running.push_back(std::async(std::launch::async, work_on)); }
  for (std::future<void>& each : running) { each.get(); }
}

}  // namespace athanor
