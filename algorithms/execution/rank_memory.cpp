#include "algorithms/execution/rank_memory.hpp"

#include "algorithms/proof/memory_map.hpp"

namespace athanor {

PageMemory::PageMemory(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  owned_ = std::make_unique_for_overwrite<std::byte[]>(bytes + kPage);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(owned_.get()) % kPage;
  bytes_ = {owned_.get() + (kPage - past) % kPage, bytes};
}

UserMemory::UserMemory(const Memory& memory, DataType type)
    : memory_(static_cast<std::size_t>(MemoryMap(memory).base(Buffer::scratch)) * element_size(type)) {
  const MemoryMap map(memory);
  const std::size_t size = element_size(type);
  const auto part = [&](Buffer buffer, Elements count) {
    return memory_.bytes().subspan(static_cast<std::size_t>(map.base(buffer)) * size,
                                   static_cast<std::size_t>(count.count()) * size);
  };
  buffers_ = {part(Buffer::input, memory.input), part(Buffer::output, memory.output)};
}

RankMemory::RankMemory(const Schedule& schedule, DataType type) {
  for (std::uint32_t rank = 0; rank < schedule.agent_count().ranks; ++rank) {
    buffers_.push_back(memory_.emplace_back(schedule.memory(AgentId{rank}), type).buffers());
  }
}

}  // namespace athanor
