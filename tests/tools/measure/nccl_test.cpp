#include <doctest/doctest.h>

#include "algorithms/execution/cuda/cuda_executor.hpp"
#include "tools/measure/cuda_backend.hpp"
#include "tools/measure/nccl_library.hpp"

using namespace athanor;

namespace {

Trial trial_of(CollectiveKind kind, std::uint32_t ranks, std::int64_t count) {
  Trial trial;
  trial.collective = {.kind = kind, .ranks = ranks, .count = Elements{count}};
  trial.library = "nccl";
  return trial;
}

bool says(const std::optional<std::string>& reason, const char* words) {
  return reason && reason->find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("NCCL is refused what it has not, with the reason") {
  CHECK_FALSE(nccl_refuses(trial_of(CollectiveKind::all_reduce, 2, 5), 2));
  CHECK(says(nccl_refuses(trial_of(CollectiveKind::all_reduce, 4, 8), 2), "a GPU for each rank: 2 for 4 ranks"));
  CHECK(says(nccl_refuses(trial_of(CollectiveKind::barrier, 2, 0), 2), "no barrier"));
  CHECK(says(nccl_refuses(trial_of(CollectiveKind::all_gather, 2, 5), 2), "parts of one size"));
  CHECK(says(nccl_refuses(trial_of(CollectiveKind::send_receive, 1, 5), 1), "nobody"));
  Trial average = trial_of(CollectiveKind::all_reduce, 2, 4);
  average.reduction = Reduction::average;
  CHECK_FALSE(nccl_refuses(average, 2));
  average.type = DataType::int32;
  CHECK(says(nccl_refuses(average, 2), "average of whole numbers"));
  Trial in_place = trial_of(CollectiveKind::all_to_all, 2, 4);
  in_place.collective.in_place = true;
  CHECK(says(nccl_refuses(in_place, 2), "in place"));
}

TEST_CASE("every collective by NCCL, on the GPUs that are here") {
  const std::size_t gpus = cuda_devices().size();
  if (gpus == 0 || !NcclLibrary::find()) {
    MESSAGE("no GPU, or no libnccl.so.2: nothing was run");
    return;
  }
  const std::unique_ptr<Backend> backend = make_cuda_backend();
  for (const CollectiveKind kind : collective_kinds()) {
    for (const bool in_place : {false, true}) {
      Trial trial = trial_of(kind, static_cast<std::uint32_t>(gpus), static_cast<std::int64_t>(gpus) * 1000);
      if (kind == CollectiveKind::all_to_all_v) { continue; }  // needs sizes of its own
      trial.collective.in_place = in_place;
      if (backend->refuses(trial)) { continue; }
      CAPTURE(name(kind));
      CHECK(backend->run(trial).wrong == 0);
    }
  }
}
