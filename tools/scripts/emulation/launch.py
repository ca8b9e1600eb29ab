"""How Open MPI is started in the namespaces: one process in each, which it takes for hosts of their own."""

import json
import os
import pathlib
import shlex

from . import plan

# Up to here a message is sent at once, and TCP's window is what holds it back. Open MPI's own limit is 64 KiB: the rest of
# a longer message waits for an answer, and that for the data in front of it at the receiver's own link.
EAGER_LIMIT = 2**20
AGENT = pathlib.Path(__file__).resolve().with_name("enter_host.py")


def write_files(fabric, folder):
    """What mpirun and its agent read: the hosts, and which namespace each is."""
    hosts = {plan.control_address(rank): {"namespace": plan.namespace(fabric, vertex), "name": plan.host_name(rank)}
             for rank, vertex in enumerate(fabric.endpoints)}
    (folder / "hosts.json").write_text(json.dumps(hosts), encoding="utf-8")
    (folder / "hostfile").write_text("".join(f"{address} slots=1\n" for address in hosts), encoding="utf-8")
    for name in [host["name"] for host in hosts.values()] + ["control"]:
        (folder / name).mkdir()


def environment(folder):
    return os.environ | {"TMPDIR": str(folder / "control"), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                         "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpirun(fabric, folder, program):
    """The words that start `program` once on each host. Out-of-band traffic goes over the control network, and what
    the processes send to each other over TCP on the fabric: neither shared memory nor the control network is theirs."""
    settings = {
        "plm": "rsh",
        "plm_rsh_agent": shlex.join([str(AGENT), str(folder)]),
        "plm_rsh_no_tree_spawn": "1",
        "oob_tcp_if_include": plan.CONTROL_SUBNET,
        "pml": "ob1",
        "btl": "tcp,self",
        "btl_tcp_if_include": plan.DATA_SUBNET,
        "btl_tcp_flags": "1",  # send only: as a put, a long message is one fragment, and two of them took turns
        "btl_tcp_eager_limit": str(EAGER_LIMIT),
        "btl_tcp_rndv_eager_limit": str(EAGER_LIMIT),
        "btl_tcp_max_send_size": str(EAGER_LIMIT),
        "mpi_yield_when_idle": "1",
        "rmaps_base_oversubscribe": "1",
        "hwloc_base_binding_policy": "none",
    }
    words = ["ip", "netns", "exec", plan.CONTROL, "unshare", "--uts", "sh", "-c", 'hostname control && exec "$@"', "sh",
             "mpirun", "-np", str(len(fabric.endpoints)), "--hostfile", str(folder / "hostfile"), "--map-by", "node"]
    for name, value in settings.items():
        words += ["--mca", name, value]
    return words + list(program)
