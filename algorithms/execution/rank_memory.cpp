#include "algorithms/execution/rank_memory.hpp"

#include "algorithms/check/memory_map.hpp"

namespace athanor {

PageMemory::PageMemory(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  owned_ = std::make_unique_for_overwrite<std::byte[]>(bytes + kPage);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(owned_.get()) % kPage;
  bytes_ = {owned_.get() + (kPage - past) % kPage, bytes};
}

RankMemory::RankMemory(const Schedule& schedule, DataType type) {
  const std::size_t size = element_size(type);
  for (std::uint32_t rank = 0; rank < schedule.roster().ranks; ++rank) {
    const Memory memory = schedule.memory(AgentId{rank});
    const MemoryMap map(memory);
    const std::span<std::byte> all =
        memory_.emplace_back(static_cast<std::size_t>(map.base(Buffer::scratch)) * size).bytes();
    const auto part = [&](Buffer buffer, Elements count) {
      return all.subspan(static_cast<std::size_t>(map.base(buffer)) * size,
                         static_cast<std::size_t>(count.count()) * size);
    };
    buffers_.push_back({part(Buffer::input, memory.input), part(Buffer::output, memory.output)});
  }
}

}  // namespace athanor
