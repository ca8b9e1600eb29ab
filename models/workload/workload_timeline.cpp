#include "models/workload/workload_timeline.hpp"

#include <algorithm>

namespace athanor {

WorkloadTimeline::WorkloadTimeline(Timeline& timeline, const Workload& workload, std::uint32_t most)
    : timeline_(timeline), workload_(workload) {
  const std::size_t drawn = std::min<std::size_t>(most, workload.workers.size());
  for (std::size_t worker = 0; worker < drawn; ++worker) {
    const ProcessId process = timeline.add_process(workload.workers[worker].name);
    std::vector<Track>& tracks = tracks_.emplace_back();
    for (const Workload::Stream& stream : workload.workers[worker].streams) {
      tracks.push_back(timeline.add_track(process, stream.name));
    }
  }
}

void WorkloadTimeline::draw(OperationId who, const OperationRecord& record, const Workload::Operation& operation) {
  if (who.worker >= tracks_.size() || record.end == record.begin) { return; }
  const Track track = tracks_[who.worker][operation.stream];
  const std::string& label = workload_.labels[operation.label];
  if (operation.kind == Workload::Kind::compute) {
    return timeline_.span(track, label, "compute", record.start, record.end, {{"operation", who.operation}});
  }
  if (record.start > record.begin) {
    timeline_.span(track, "wait", "wait", record.begin, record.start, {{"for", label}});
  }
  if (record.end == record.start) { return; }
  const bool call = operation.kind == Workload::Kind::call;
  const Bytes size = call ? workload_.calls[operation.subject].size : operation.size;
  const Parallelism use = call ? workload_.communicators[workload_.calls[operation.subject].communicator].use
                               : workload_.channels[operation.subject].use;
  timeline_.span(track, label, name(use), record.start, record.end, {{"bytes", size.count()}});
}

}  // namespace athanor
