#include "models/nccl/tuning/work.hpp"

#include <array>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/models/nccl/nccl_systems.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

using Algorithm = NcclAlgorithm;
using Protocol = NcclProtocol;

NcclWork work_of(const NcclCommunicator& box, const NcclCall& call, Algorithm algorithm, Protocol protocol) {
  return nccl_work(box, call, nccl_choice_of(box, call, algorithm, protocol));
}

NcclWork work_of(const NcclCommunicator& box, std::int64_t bytes, Algorithm algorithm, Protocol protocol) {
  return work_of(box, all_reduce_of(bytes), algorithm, protocol);
}

std::uint32_t threads_of(const NcclCommunicator& box, std::int64_t bytes, Algorithm algorithm, Protocol protocol) {
  return nccl_choice_of(box, all_reduce_of(bytes), algorithm, protocol).threads;
}

}  // namespace

TEST_CASE("Search channels are doubled, and doubled again on Hopper with few NICs") {
  CHECK(compute_channels(dgx_a100(1)) == 24);
  CHECK(compute_channels(dgx_a100(16)) == 16);
  CHECK(compute_channels(dgx_h100(1)) == 24);
  CHECK(compute_channels(dgx_h100(2)) == 16);
  CHECK(compute_channels(dgx_b200(1)) == 32);
  CHECK(compute_channels(dgx_b200(2)) == 16);
  NcclCommunicator few = dgx_h100(2);
  few.graphs.ring = found_graph(NcclPattern::ring, 2, 48, 48);
  CHECK(compute_channels(few) == 8);
  few.graphs.ring.speed_intra = 45;
  CHECK(compute_channels(few) == 4);
  NcclCommunicator sharp = with_sharp(dgx_h100(2));
  CHECK(compute_channels(sharp) == 16);
  sharp.graphs.collnet_chain.speed_intra = 60;
  CHECK(compute_channels(sharp) == 24);
}

TEST_CASE("The environment clamps channels, the minimum last") {
  CHECK(compute_channels(with_variable(dgx_h100(1), "NCCL_MAX_NCHANNELS", "8")) == 8);
  CHECK(compute_channels(with_variable(dgx_h100(1), "NCCL_MIN_NCHANNELS", "32")) == 32);
  CHECK(compute_channels(with_variable(dgx_h100(1), "NCCL_MAX_CTAS", "4")) == 4);
  const NcclCommunicator both =
      with_variable(with_variable(dgx_h100(1), "NCCL_MAX_NCHANNELS", "4"), "NCCL_MIN_NCHANNELS", "16");
  CHECK(compute_channels(both) == 16);
}

TEST_CASE("NVLS has 16 channels on Hopper, 24 or 32 on Blackwell") {
  CHECK(nvls_sizes(dgx_h100(1)).channels == 16);
  CHECK(nvls_sizes(dgx_b200(1)).channels == 24);
  CHECK(nvls_sizes(dgx_b200(2)).channels == 32);
  CHECK(nvls_sizes(dgx_b200(4)).channels == 24);
  CHECK(nvls_sizes(with_version(dgx_b200(4), {2, 28, 9})).channels == 32);
  CHECK(nvls_sizes(dgx_h100(4)).tree_chunk == 64_KiB);
  CHECK(nvls_sizes(dgx_h100(2)).tree_chunk == 128_KiB);
  NcclCommunicator wide = dgx_b200(4);
  wide.peers.nic_rate = 100;
  CHECK(nvls_sizes(wide).chunk == 256_KiB);
  CHECK(nvls_sizes(with_variable(dgx_b200(1), "NCCL_NVLS_NCHANNELS", "8")).channels == 8);
}

TEST_CASE("Small calls take fewer channels, then fewer threads") {
  const auto choice = [](std::int64_t bytes) {
    return nccl_choice_of(dgx_h100(1), all_reduce_of(bytes), Algorithm::ring, Protocol::ll);
  };
  // 8 bytes per thread and rank: 512 threads are worth their while from 32 KiB a channel on.
  CHECK(choice(24 * 32768).channels == 24);
  CHECK(choice(24 * 32768 - 1).channels == 23);
  CHECK(choice(32768).channels == 1);
  CHECK(choice(32768).threads == 512);
  CHECK(choice(32767).threads == 256);
  CHECK(choice(8).threads == 96);
}

TEST_CASE("Trees launch 640 threads, Ring with Simple one warp more than it needs, slow rings half") {
  CHECK(threads_of(dgx_h100(1), 8, Algorithm::tree, Protocol::ll) == 640);
  CHECK(threads_of(dgx_h100(1), 1 << 30, Algorithm::ring, Protocol::simple) == 544);
  CHECK(threads_of(pcie_box(), 1 << 30, Algorithm::ring, Protocol::simple) == 288);
  CHECK(threads_of(with_variable(dgx_h100(1), "NCCL_NTHREADS", "128"), 1 << 30, Algorithm::ring, Protocol::simple) ==
        160);
  CHECK(threads_of(dgx_h100(1), 1 << 30, Algorithm::ring, Protocol::ll128) == 640);
  CHECK(threads_of(dgx_h100(1), 8, Algorithm::nvls, Protocol::simple) == 640);
}

TEST_CASE("CollNetDirect drops channels down to 16, then by halves") {
  NcclCommunicator box = with_sharp(dgx_h100(4));
  box.graphs.collnet_chain.speed_intra = 60;
  const auto channels = [&](std::int64_t bytes) {
    return nccl_choice_of(box, all_reduce_of(bytes), Algorithm::collnet_direct, Protocol::simple).channels;
  };
  const std::int64_t worth = 640 * 8 * 512;
  CHECK(channels(24 * worth) == 24);
  CHECK(channels(24 * worth - 1) == 23);
  // From there on half as many bytes are enough.
  CHECK(channels(23 * worth / 2) == 23);
  CHECK(channels(20 * worth / 2) == 20);
  CHECK(channels(16 * worth / 2) == 16);
  CHECK(channels(8) == 1);
}

TEST_CASE("Cells of 32 KiB of traffic are dealt to the channels in order") {
  const NcclWork large = work_of(dgx_h100(1), 67108864, Algorithm::ring, Protocol::simple);
  // 4096 cells of 16 KiB: 171 for each of 24 channels, 163 for the last.
  CHECK(large.channels == 24);
  CHECK(large.first.bytes == 16_KiB * 171);
  CHECK(large.middle.bytes == 16_KiB * 171);
  CHECK(large.last.bytes == 16_KiB * ((4096 - 23 * 171)));
  const NcclWork small = work_of(dgx_h100(1), 20000, Algorithm::ring, Protocol::simple);
  CHECK(small.channels == 1);
  CHECK(small.first.bytes == Bytes{20000});
}

TEST_CASE("The parts of all channels together are the buffer") {
  for (const auto& box :
       {dgx_h100(1), dgx_h100(4), with_sharp(dgx_h100(4)), dgx_a100(2), with_version(dgx_a100(2), {2, 18, 3})}) {
    for (std::int64_t bytes = 16; bytes <= 1'000'000'000; bytes = bytes * 3 + 16) {
      for (const NcclFunction function :
           {NcclFunction::all_reduce, NcclFunction::all_gather, NcclFunction::broadcast}) {
        const NcclCall call = call_of(function, bytes);
        for (const NcclEstimate& each : nccl_estimates(box, call)) {
          if (!each.disabled.empty()) { continue; }
          const NcclWork work = work_of(box, call, each.algorithm, each.protocol);
          const std::int64_t block = function == NcclFunction::all_gather ? (bytes + box.ranks - 1) / box.ranks : bytes;
          const std::int64_t between = work.channels > 2 ? work.channels - 2 : 0;
          CAPTURE(bytes);
          CHECK(work.first.bytes.count() + between * work.middle.bytes.count() + work.last.bytes.count() == block);
          CHECK(work.first.bytes.count() > 0);
          CHECK((work.last.bytes.count() > 0) == (work.channels > 1));
          CHECK(work.chunk.count() % work.grain.count() == 0);
        }
      }
    }
  }
}

TEST_CASE("Rings with Simple take chunks of four steps in two slices, all others one step") {
  const NcclWork ring = work_of(dgx_h100(1), 67108864, Algorithm::ring, Protocol::simple);
  CHECK(ring.chunk == 2_MiB);
  CHECK(ring.slices == 2);
  CHECK(ring.slots == 4);
  const NcclWork rooted =
      work_of(dgx_h100(1), call_of(NcclFunction::broadcast, 1 << 26), Algorithm::ring, Protocol::simple);
  CHECK(rooted.chunk == 512_KiB);
  CHECK(rooted.slices == 1);
  CHECK(rooted.slots == 8);
  CHECK(work_of(dgx_h100(1), 1 << 26, Algorithm::ring, Protocol::ll).chunk == 32_KiB);
  CHECK(work_of(dgx_h100(1), 1 << 26, Algorithm::ring, Protocol::ll128).chunk == Bytes{576000});
  CHECK(work_of(dgx_h100(1), 1 << 26, Algorithm::tree, Protocol::simple).chunk == 512_KiB);
  CHECK(work_of(with_variable(dgx_h100(1), "NCCL_BUFFSIZE", "8388608"), 1 << 26, Algorithm::ring, Protocol::simple)
            .chunk == 4_MiB);
}

TEST_CASE("NVLS cuts its chunks by how many rounds each channel has") {
  const auto chunk = [](const NcclCommunicator& box, Bytes part) {
    NcclChoice choice;
    choice.algorithm = Algorithm::nvls;
    return nccl_chunk(box, all_reduce_of(8), choice, 1, part);
  };
  const NcclCommunicator box = dgx_h100(1);
  // 8 heads: a round is 8 chunks.
  CHECK(chunk(box, 128_KiB * (64 * 8)) == 128_KiB);
  CHECK(chunk(box, 128_KiB * (64 * 8) - Bytes{1}) == 64_KiB);
  CHECK(chunk(box, 64_KiB * (8 * 8)) == 64_KiB);
  CHECK(chunk(box, 64_KiB * (8 * 8) - Bytes{1}) == 32_KiB);
  CHECK(chunk(box, 32_KiB * (2 * 8)) == 32_KiB);
  CHECK(chunk(box, 32_KiB * (2 * 8) - Bytes{1}) == 16_KiB);
  CHECK(chunk(with_variable(box, "NCCL_NVLS_CHUNKSIZE", "65536"), 1_GiB) == 64_KiB);
  NcclCommunicator registered = box;
  registered.registered = true;
  NcclChoice choice;
  choice.algorithm = Algorithm::nvls;
  CHECK(nccl_chunk(registered, call_of(NcclFunction::all_gather, 8), choice, 1, 1_MiB) == 512_KiB);
}

TEST_CASE("NVLSTree takes 64 KiB from four nodes on, and 32 KiB below one round") {
  const auto chunk = [](const NcclCommunicator& box, Bytes part) {
    NcclChoice choice;
    choice.algorithm = Algorithm::nvls_tree;
    return nccl_chunk(box, all_reduce_of(8), choice, 1, part);
  };
  CHECK(chunk(dgx_h100(2), 1_GiB) == 128_KiB);
  CHECK(chunk(dgx_h100(4), 1_GiB) == 64_KiB);
  CHECK(chunk(dgx_h100(2), 128_KiB * (4 * 8) - Bytes{1}) == 64_KiB);
  CHECK(chunk(dgx_h100(2), 64_KiB * 8) == 64_KiB);
  CHECK(chunk(dgx_h100(2), 64_KiB * 8 - Bytes{1}) == 32_KiB);
}

TEST_CASE("NVLS in the network goes down to 32 KiB where NICs are slow") {
  NcclChoice choice;
  choice.algorithm = Algorithm::nvls;
  NcclCommunicator box = with_sharp(dgx_h100(4));
  CHECK(nccl_chunk(box, all_reduce_of(8), choice, 16, 16_GiB) == 128_KiB);
  box.graphs.nvls.speed_inter = 12;  // 8 x 12 x R / (2 (R - 1)) = 50 GB/s
  CHECK(nccl_chunk(box, all_reduce_of(8), choice, 16, 16_GiB) == 32_KiB);
}

TEST_CASE("A tree with LL128 halves its chunk until its pipeline is full") {
  // 2 nodes of 8: 2.8 steps of depth, so 22.4 loops down to 128 KiB and 5.6 down to 32 KiB.
  NcclChoice choice;
  choice.algorithm = Algorithm::tree;
  choice.protocol = Protocol::ll128;
  const auto chunk = [&](std::int64_t bytes) {
    return nccl_chunk(dgx_h100(2), all_reduce_of(8), choice, 1, Bytes{bytes}).count();
  };
  CHECK(chunk(23 * 576000) == 576000);
  CHECK(chunk(23 * 576000 - 1) == 288000);
  CHECK(chunk(23 * 288000 - 1) == 144000 / 1920 * 1920);
  CHECK(chunk(6 * 72000) == 72000 / 1920 * 1920);
  CHECK(chunk(6 * 72000 - 1) == 36000 / 1920 * 1920);
  CHECK(chunk(8) == 18000 / 1920 * 1920);
}

TEST_CASE("CollNet's chunks follow the depth of the node") {
  NcclChoice direct;
  direct.algorithm = Algorithm::collnet_direct;
  const NcclCommunicator box = with_sharp(dgx_h100(4));
  const auto chunk = [&](const NcclChoice& choice, Bytes bytes) {
    return nccl_chunk(box, all_reduce_of(8), choice, 1, bytes);
  };
  CHECK(chunk(direct, 512_KiB * (128 * 8)) == 512_KiB);
  CHECK(chunk(direct, 512_KiB * (128 * 8) - Bytes{1}) == 256_KiB);
  CHECK(chunk(direct, 128_KiB * (16 * 8)) == 128_KiB);
  CHECK(chunk(direct, 128_KiB * (16 * 8) - Bytes{1}) == 64_KiB);
  CHECK(chunk(direct, 64_KiB * (16 * 8) - Bytes{1}) == 32_KiB);
  NcclChoice chain;
  chain.algorithm = Algorithm::collnet_chain;
  CHECK(chunk(chain, 256_KiB * (8 * 64)) == 256_KiB);
  CHECK(chunk(chain, 256_KiB * (8 * 64) - Bytes{1}) == 128_KiB);
  CHECK(chunk(chain, 128_KiB * (8 * 8) - Bytes{1}) == 64_KiB);
  CHECK(chunk(chain, 64_KiB * 8 - Bytes{1}) == 32_KiB);
}

TEST_CASE("PAT halves its chunk while 32 or 16 rounds do not fill the buffer") {
  NcclChoice choice;
  choice.algorithm = Algorithm::pat;
  const auto chunk = [&](NcclFunction function, Bytes bytes) {
    return nccl_chunk(lone_h100(4), call_of(function, 8), choice, 1, bytes);
  };
  CHECK(chunk(NcclFunction::all_gather, 512_KiB * 32) == 512_KiB);
  CHECK(chunk(NcclFunction::all_gather, 512_KiB * 32 - Bytes{1}) == 256_KiB);
  CHECK(chunk(NcclFunction::reduce_scatter, 512_KiB * 16) == 512_KiB);
  CHECK(chunk(NcclFunction::reduce_scatter, 8_B) == 64_KiB);
}

TEST_CASE("Before 2.22 channels take equal parts") {
  const NcclWork work =
      work_of(with_version(dgx_h100(1), {2, 18, 3}), 24 * 16 * 100000, Algorithm::ring, Protocol::simple);
  CHECK(work.channels == 24);
  CHECK(work.first.bytes == work.last.bytes);
  CHECK(work.first.bytes == Bytes{16 * 100000});
}

TEST_CASE("A buffer that holds less than a grain is told, not rounded to nothing") {
  NcclCommunicator box = dgx_h100(1);
  box.environment.buffers[2] = Bytes{1024};
  CHECK_THROWS_WITH_AS(work_of(box, 1 << 20, Algorithm::tree, Protocol::simple),
                       doctest::Contains("below Simple's grain of 512"), SimulationError);
}

TEST_CASE("A call of no bytes has no part") {
  const NcclWork work = work_of(dgx_h100(1), 0, Algorithm::ring, Protocol::ll);
  CHECK(work.channels == 1);
  CHECK(work.first.bytes == Bytes{0});
}
