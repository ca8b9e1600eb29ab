"""Profiles as PyTorch writes them: what a CPU and a GPU with two streams did, by a small model of both."""

import json

COMPUTE, NCCL = 7, 20
LAUNCH = 6.5  # microseconds of a call that launches a kernel


class Recorder:
    """Launches follow each other on one thread; a stream does one kernel after the other."""

    def __init__(self, rank, world, groups):
        self.head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "example GPU"}],
                     "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world, "pg_count": len(groups),
                                         "pg_config": groups, "nccl_version": "2.21.5"}}
        self.events = []
        self.now = 1000.0
        self.free = {COMPUTE: 0.0, NCCL: 0.0}
        self.correlation = 0

    def text(self):
        """One event a line."""
        events = ",\n".join(json.dumps(event) for event in self.events)
        return json.dumps(self.head)[:-1] + f', "traceEvents": [\n{events}\n], "traceName": "example"}}\n'

    def event(self, category, name, begin, duration, track=None, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if track else 4242,
                            "tid": track or 4242, "ts": round(begin, 3), "dur": round(duration, 3), "args": args})

    def call(self, name, duration=LAUNCH):
        self.correlation += 1
        self.event("cuda_runtime", name, self.now, duration, correlation=self.correlation)
        self.now += duration

    def think(self, duration):
        self.event("cpu_op", "aten::operator", self.now, duration, **{"External id": self.correlation})
        self.now += duration

    def kernel(self, name, duration, stream=COMPUTE, after=0.0, **args):
        self.call("cudaLaunchKernel")
        begin = max(self.now, self.free[stream], after)
        self.free[stream] = begin + duration
        self.event("kernel", name, begin, duration, stream, device=0, stream=stream, correlation=self.correlation, **args)
        return begin + duration

    def collective(self, name, kernel, elements, out, duration, group, ranks):
        """On the stream of NCCL, which waits for what the caller's stream does; the time includes skew."""
        self.call("cudaEventRecord", 1.5)
        self.call("cudaStreamWaitEvent", 1.5)
        return self.kernel(kernel, duration, NCCL, self.free[COMPUTE],
                           **{"Collective name": name, "In msg nelems": elements, "Out msg nelems": out,
                              "Group size": len(ranks), "dtype": "BFloat16", "Process Group Name": group,
                              "Process Group Description": "default_pg", "Process Group Ranks": json.dumps(ranks)})

    def wait(self, end):
        """The stream of computations waits for NCCL's."""
        self.call("cudaStreamWaitEvent", 1.5)
        self.free[COMPUTE] = max(self.free[COMPUTE], end)

    def synchronize(self):
        end = max(self.free.values())
        self.call("cudaDeviceSynchronize", max(1.0, end - self.now + 3.0))

    def step(self, number, begin):
        self.event("user_annotation", f"ProfilerStep#{number}", begin, self.now - begin)


def group(ranks):
    return [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": len(ranks),
             "ranks": ranks}]


def ddp(rank, world, steps):
    ranks = list(range(world))
    recorder = Recorder(rank, world, group(ranks))
    for step in range(steps):
        begin = recorder.now
        for layer in range(3):
            recorder.think(15.0)
            recorder.kernel("void cutlass::Kernel2<bf16_128x128>(cutlass::Params)", 210.0 + 10 * rank)
        ends = []
        for layer in range(3):
            recorder.think(10.0)
            recorder.kernel("void cutlass::Kernel2<bf16_128x128>(cutlass::Params)", 420.0)
            ends.append(recorder.collective("allreduce", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)",
                                            12_500_000, 12_500_000, 300.0, "0", ranks))
        recorder.wait(max(ends))
        recorder.kernel("void at::native::multi_tensor_apply_kernel<Adam>(int)", 90.0)
        recorder.synchronize()
        recorder.step(step, begin)
    return recorder.text()


def fsdp(world, layers):
    ranks = list(range(world))
    recorder = Recorder(0, world, group(ranks))
    begin, shard = recorder.now, 4_000_000
    for layer in range(layers):
        ready = recorder.collective("_allgather_base", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgs)", shard,
                                    shard * world, 350.0, "0", ranks)
        recorder.wait(ready)
        recorder.kernel("void cutlass::Kernel2<bf16_256x128>(cutlass::Params)", 800.0)
    for layer in range(layers):
        recorder.kernel("void cutlass::Kernel2<bf16_256x128>(cutlass::Params)", 1600.0)
        ready = recorder.collective("_reduce_scatter_base", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)",
                                    shard * world, shard, 350.0, "0", ranks)
    recorder.wait(ready)
    recorder.kernel("void at::native::multi_tensor_apply_kernel<Adam>(int)", 60.0)
    recorder.synchronize()
    recorder.step(0, begin)
    return recorder.text()


OPERATOR = ('{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":4242,"tid":4242,"ts":%.3f,"dur":20.125,"args":{"External '
            'id":%d,"Record function id":0,"Sequence number":%d,"Fwd thread id":0,"Ev Idx":%d}},\n')
CALL = ('{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4242,"tid":4242,"ts":%.3f,"dur":6.5,"args":'
        '{"External id":%d,"cbid":211,"correlation":%d}},\n')
FLOW = '{"ph":"%s","id":%d,"pid":4242,"tid":4242,"ts":%.3f,"cat":"ac2g","name":"ac2g"},\n'
GPU = ('{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{"External id":%d,"queued":0,'
       '"device":0,"context":1,"stream":%d,"correlation":%d,"registers per thread":124,"shared memory":0,"blocks per '
       'SM":0.03,"warps per SM":0.121212,"grid":[4,1,1],"block":[128,1,1],"est. achieved occupancy %%":0%s}},\n')
GEMM = "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(Params)"
REDUCED = (',"Collective name":"allreduce","In msg nelems":4194304,"Out msg nelems":4194304,"Group size":8,"dtype":'
           '"BFloat16","Process Group Name":"0","Process Group Ranks":"[0, 1, 2, 3, 4, 5, 6, 7]"')


def large(size):
    """Parts of a profile of about `size` bytes, of one rank of 8: one kernel in 20 is an all-reduce."""
    yield '{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":0,"world_size":8},"traceEvents":[\n'
    written, time, index, parts = 0, 1000.0, 0, []
    while written < size:
        index += 1
        nccl = index % 20 == 0
        name, stream = ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", NCCL) if nccl else (GEMM, COMPUTE)
        parts += [OPERATOR % (time, index, index, index), CALL % (time + 5, index, index), FLOW % ("s", index, time + 5),
                  GPU % (name, stream, time + 12, 18.0, index, stream, index, REDUCED if nccl else ""),
                  FLOW % ("f", index, time + 12)]
        time += 25.5
        if len(parts) > 5000:
            text = "".join(parts)
            written += len(text)
            parts.clear()
            yield text
    yield '{"ph":"i","name":"Record Window End","s":"g","ts":%.3f}\n],"traceName":"large"}\n' % time
