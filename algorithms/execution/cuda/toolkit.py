"""What the build has to know of the nvcc that it found, one word a line; whatever the version, from CUDA 11.8 on.

    toolkit.py NVCC version|flags|includes|libraries
    toolkit.py NVCC works FILE    compiles a kernel, unless FILE says that this very nvcc could; else says why not, and fails
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

OLDEST = 60  # from which atomics of the whole system and cooperative launches are there
# Of data centers: machine code, all of it from the PTX of the first, which is compiled once; for all others it is made from
# the oldest PTX when it is first needed. No kernel knows instructions of a later one: sums of half precisions are those of floats.
GENERATIONS = (80, 90, 100)
PROBE = "#include <cuda/atomic>\n#include <cuda_bf16.h>\n__global__ void probe(unsigned* word) { atomicAdd_system(word, 1u); }\n"


def version_of(text):
    """ "12.4" of what `nvcc --version` prints."""
    return re.search(r"release (\d+\.\d+)", text).group(1)


def architecture_flags(text):
    """Of what `nvcc --list-gpu-arch` prints: each nvcc knows others, and drops old ones."""
    known = sorted({int(number) for number in re.findall(r"^compute_(\d+)$", text, re.MULTILINE)})
    usable = [number for number in known if number >= OLDEST]
    if not usable:
        raise SystemExit(f"this nvcc knows no GPU from compute_{OLDEST} on")
    codes = [f"arch=compute_{usable[0]},code=compute_{usable[0]}"]
    machines = [number for number in GENERATIONS if number in known]
    if machines:
        codes.append(f"arch=compute_{machines[0]},code=[{','.join(f'sm_{number}' for number in machines)}]")
    return [word for code in codes for word in ("-gencode", code)]


def compile_flags(architectures):
    """C++17 for all: CUDA 11 knows no later one."""
    return ["-std=c++17", "-O3", "--expt-relaxed-constexpr", "-Wno-deprecated-gpu-targets", *architecture_flags(architectures)]


def directories(dry_run, name, option):
    """The folders that nvcc itself searches, of what `nvcc --dryrun` prints: none where they are the system's."""
    lines = re.findall(rf"^#\$ {name}=(.*)$", dry_run, re.MULTILINE)
    words = [word for line in lines for text in shlex.split(line) for word in shlex.split(text)]
    folders = [word[len(option):] for word in words if word.startswith(option)]
    return [folder for folder in folders if not folder.endswith("/stubs") and folder not in ("/usr/include", "/usr/lib")]


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def dry_run(nvcc):
    return output(nvcc, "--dryrun", "-c", "-x", "cu", "/dev/null", "-o", "/dev/null")


def works(nvcc, note):
    """Whether it compiles a kernel with the compiler that it finds: it refuses those that are newer than itself."""
    path = pathlib.Path(nvcc).resolve()
    known = f"{path} {path.stat().st_mtime_ns} {output('c++', '--version').splitlines()[0]}\n"
    note = pathlib.Path(note)
    if note.exists() and note.read_text() == known:
        return
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "probe.cu")
        source.write_text(PROBE)
        flags = compile_flags(output(nvcc, "--list-gpu-arch"))[:6]  # PTX will do
        done = subprocess.run([nvcc, *flags, "-c", source, "-o", f"{source}.o"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{nvcc} compiles no kernel:\n{done.stderr or done.stdout}")
    note.write_text(known)


def main(nvcc, what, *rest):
    if what == "works":
        return works(nvcc, *rest)
    words = {"version": lambda: [version_of(output(nvcc, "--version"))],
             "flags": lambda: compile_flags(output(nvcc, "--list-gpu-arch")),
             "includes": lambda: directories(dry_run(nvcc), "INCLUDES", "-I"),
             "libraries": lambda: directories(dry_run(nvcc), "LIBRARIES", "-L")}
    print("\n".join(words[what]()))


if __name__ == "__main__":
    main(*sys.argv[1:])
