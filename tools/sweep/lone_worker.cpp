#include "tools/sweep/lone_worker.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace athanor {

std::uint32_t launched_processes() {
  // Open MPI, MPICH and its relatives (Hydra), srun.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) { continue; }
    const std::string_view digits(text);
    std::uint32_t count = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), count).ec == std::errc() && count > 1) {
      return count;
    }
  }
  return 1;
}

}  // namespace athanor
