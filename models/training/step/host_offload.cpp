#include "models/training/step/host_offload.hpp"

namespace athanor {

HostOffload::HostOffload(StageWriter& writer, const ChunkPieces& chunk)
    : writer_(writer), chunk_(chunk), away_(chunk.layers.size()), back_(chunk.layers.size()) {}

void HostOffload::before_forward(Chain& chain, std::size_t layer) {
  for (std::size_t each = 0; each < layer; ++each) {
    if (offloads(each) && chunk_.layers[each].offload_window + 1 == layer) { chain.wait_for(away_[each].back()); }
  }
}

void HostOffload::after_forward(const Chain& chain, std::size_t layer) {
  if (!offloads(layer)) { return; }
  away_[layer].push_back(writer_.copy("to host", chunk_.layers[layer].offload, chain.ends()));
}

void HostOffload::before_backward(Chain& chain, std::size_t layer) {
  for (std::size_t each = layer + 1; each-- > 0;) {
    if (!offloads(each) || chunk_.layers[each].offload_window != layer) { continue; }
    StageWriter::Numbers after = chain.ends();
    after.push_back(away_[each].at(back_[each].size()));
    back_[each].push_back(writer_.copy("from host", chunk_.layers[each].offload, after));
  }
  if (offloads(layer)) { chain.wait_for(back_[layer].back()); }
}

}  // namespace athanor
