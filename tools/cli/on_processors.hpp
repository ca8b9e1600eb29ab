#pragma once

#include <cstddef>
#include <functional>

namespace athanor {

/// Calls work(0) to work(count - 1) on as many threads as there are processors, the next when one of them is free.
/// Throws what a call has thrown, when the other threads are done.
void on_processors(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace athanor
