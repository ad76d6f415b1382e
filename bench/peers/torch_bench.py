#!/usr/bin/env python3
"""The benchmark's cases with PyTorch.

Reads cases from standard input, a JSON object a line as `warpwright-bench --list --json` prints them, and appends records
of the same form as warpwright-bench's to a file, with the implementation "torch". PyTorch runs in a process of its own: its
allocator and its CUDA libraries are not mixed with ours. Sampling is that of the benchmark: uniform random data, slots
that together exceed twice the L2 cache, CUDA graphs where a sample has several calls, warm-up, medians.

    warpwright-bench --list --json | python3 torch_bench.py --out records.jsonl
"""

import argparse
import datetime
import json
import math
import os
import re
import statistics
import sys
import time

SAMPLE_US = 300.0
SLOTS = 128
CALLS = SLOTS
ROTATED = 120e6


def parse_shape(text):
    """The fields of a shape, `n=1024 offset=1` as {"n": 1024, "offset": 1}; words without `=` go to "words"."""
    fields = {"words": []}
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals:
            fields["words"].append(word)
        elif name == "dims":
            fields[name] = [int(extent) for extent in value.split("x")]
        elif name == "order":
            fields[name] = [int(digit) for digit in value]
        else:
            fields[name] = int(value)
    return fields


def slot_count(bytes_):
    """As slots() of bench/src/versus/on_gpu.rs."""
    return max(1, min(SLOTS, math.ceil(ROTATED / max(bytes_, 1.0))))


def call_count(fastest_us, slots):
    """As calls() of bench/src/versus/on_gpu.rs."""
    wanted = max(1, min(CALLS, math.ceil(SAMPLE_US / max(fastest_us, 0.5))))
    return math.ceil(wanted / slots) * slots


def boundaries(n, segments, lengths):
    """As boundaries() of bench/src/versus/slot.rs."""
    weights = [0.5 ** (i % 16) if lengths == "skewed" else 1.0 for i in range(segments)]
    if lengths == "giant":
        weights[segments // 2] = float(segments)
    total, before, starts = sum(weights), 0.0, []
    for weight in weights:
        starts.append(int(before / total * n))
        before += weight
    return starts + [n]


class Bench:
    """One GPU with PyTorch."""

    def __init__(self, torch, arguments):
        self.torch = torch
        self.arguments = arguments
        self.run = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ") + "-torch"
        self.notes = []
        self.types = {
            "f32": torch.float32,
            "tf32": torch.float32,
            "f16": torch.float16,
            "bf16": torch.bfloat16,
            "f64": torch.float64,
            "i32": torch.int32,
            "u8": torch.uint8,
            "c128": torch.complex128,
        }
        self.flushed = torch.empty(int(ROTATED), dtype=torch.uint8, device="cuda")

    def random(self, count, dtype):
        """Uniform in [-1, 1], or over all integers of the type; drawn in pieces, since drawing takes memory of its own."""
        torch = self.torch
        kind = self.types[dtype]
        data = torch.empty(count, dtype=kind, device="cuda")
        for piece in data.split(1 << 27):
            if kind == torch.uint8:
                piece.random_(0, 256)
            elif kind == torch.int32:
                piece.random_(-(2**31), 2**31 - 1)
            elif kind == torch.complex128:
                torch.view_as_real(piece).uniform_(-1, 1)
            else:
                piece.uniform_(-1, 1)
        return data

    def slot(self, case):
        """A function that makes one call on memory of its own; None if PyTorch has no such operation."""
        torch, shape = self.torch, parse_shape(case["shape"])
        work, dtype = case["work"], case["dtype"]
        accumulator = torch.float32 if dtype in ("f16", "bf16") else None
        if work in ("copy", "add", "sum", "sum_squares", "max", "argmax", "dot"):
            n, offset = shape["n"], shape.get("offset", 0)
            x = self.random(n + offset, dtype)[offset:]
            if work == "copy":
                out = torch.empty_like(x)
                return lambda: out.copy_(x)
            if work == "add":
                y, out = self.random(n, dtype), torch.empty_like(x)
                return lambda: torch.add(x, y, out=out)
            if work == "sum":
                # Integers would be added as 64 bits otherwise.
                accumulator = torch.int32 if dtype == "i32" else accumulator
                return lambda: torch.sum(x, dtype=accumulator)
            if work == "sum_squares":
                return lambda: torch.dot(x, x)
            if work == "dot":
                y = self.random(n, dtype)
                return lambda: torch.dot(x, y)
            return lambda: torch.amax(x) if work == "max" else torch.argmax(x)
        if work in ("sum_axis0", "sum_axis1", "max_axis0", "max_axis1", "transpose"):
            rows, cols, ld = shape["rows"], shape["cols"], shape["ld"]
            a = self.random(rows * ld, dtype).view(rows, ld)[:, :cols]
            if work == "transpose":
                out = torch.empty(cols, rows, dtype=a.dtype, device="cuda")
                return lambda: out.copy_(a.t())
            axis = int(work[-1])
            if work.startswith("max"):
                return lambda: torch.amax(a, dim=axis)
            return lambda: torch.sum(a, dim=axis, dtype=accumulator)
        if work == "sum_segments":
            n, segments = shape["n"], shape["segments"]
            x = self.random(n, dtype)
            offsets = torch.tensor(boundaries(n, segments, shape["words"][0]), device="cuda")
            return lambda: torch.segment_reduce(x, "sum", offsets=offsets, unsafe=True)
        if work == "permute":
            a = self.random(math.prod(shape["dims"]), dtype).view(shape["dims"])
            permuted = a.permute(shape["order"])
            out = torch.empty(permuted.shape, dtype=a.dtype, device="cuda")
            return lambda: out.copy_(permuted)
        if work == "gemm":
            m, n, k, batch = shape["m"], shape["n"], shape["k"], shape["batch"]
            layout = shape["words"][0]
            a = self.random(batch * m * k, dtype).view(batch, *((k, m) if layout[0] == "t" else (m, k)))
            b = self.random(batch * k * n, dtype).view(batch, *((n, k) if layout[1] == "t" else (k, n)))
            a = a.transpose(1, 2) if layout[0] == "t" else a
            b = b.transpose(1, 2) if layout[1] == "t" else b
            out = torch.empty(batch, m, n, dtype=a.dtype, device="cuda")
            if batch == 1:
                a, b, out = a[0], b[0], out[0]
            return lambda: torch.matmul(a, b, out=out)
        return None

    def elapsed_us(self, calls, flush):
        """Microseconds of one execution of each of the functions, which are queued one after the other."""
        torch = self.torch
        events = []
        for call in calls:
            if flush:
                self.flushed.fill_(1)
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            call()
            end.record()
            events.append((start, end))
        torch.cuda.synchronize()
        return [1e3 * start.elapsed_time(end) for start, end in events]

    def capture(self, calls):
        """The calls as a graph; the calls themselves where they cannot be captured."""
        torch = self.torch

        def one_by_one():
            for call in calls:
                call()

        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                one_by_one()
            return graph.replay, None
        except RuntimeError as error:
            torch.cuda.synchronize()
            return one_by_one, str(error).splitlines()[0]

    def measure(self, case):
        """Records of one case, one for each mode."""
        torch = self.torch
        torch.backends.cuda.matmul.allow_tf32 = case["dtype"] == "tf32"
        slots = []
        for _ in range(slot_count(case["bytes"])):
            call = self.slot(case)
            if call is None:
                return
            slots.append(call)
        fastest = min(self.elapsed_us([slots[0]] * 4, False)[1:])
        count = call_count(fastest, len(slots))
        sample, why_not = slots[0], None
        calls = [slots[i % len(slots)] for i in range(count)]
        if count > 1:
            sample, why_not = self.capture(calls)
        if why_not:
            self.notes.append(f"{case['work']}/{case['dtype']} {case['shape']}: torch: no graph: {why_not}")
        flush = len(slots) * case["bytes"] < ROTATED
        for mode in case["modes"]:
            called = (lambda: [call() for call in calls]) if mode == "stream" else sample
            yield self.record(case, mode, self.samples(called, mode, flush), count)

    def samples(self, sample, mode, flush):
        """Microseconds of each sample."""
        sustained = mode == "sustained"
        goal = self.arguments.warm_up * 1e6 if sustained else 60e3
        worked, once = 0.0, 1.0
        while worked < goal:
            once = statistics.median(self.elapsed_us([sample] * 4, flush))
            worked += 4 * once
        wanted = max(5, min(self.arguments.samples, int(3e6 / (once if sustained else 4 * once))))
        if sustained:
            return self.elapsed_us([sample] * (wanted + 1), flush)[1:]
        times = []
        for _ in range(wanted):
            time.sleep(max(0.015, 3 * once / 1e6))
            times += self.elapsed_us([sample, sample], flush)[1:] if once < 1000 else self.elapsed_us([sample], flush)
        return times

    def record(self, case, mode, samples, count):
        times = [round(us / count, 4) for us in samples]
        return {
            "work": case["work"],
            "dtype": case["dtype"],
            "shape": case["shape"],
            "impl": "torch",
            "run": self.run,
            "mode": mode,
            "median_us": statistics.median(times),
            "samples_us": times,
            "bytes": case["bytes"],
            "flops": case["flops"],
        }

    def run_record(self):
        """The record of the run; clocks and power are read by warpwright-bench alone."""
        torch, nothing = self.torch, {"sm_mhz": None, "memory_mhz": None, "power_w": None, "temperature_c": None}
        return {
            "run": self.run,
            "device": torch.cuda.get_device_name(),
            "driver": f"unknown, CUDA {torch.version.cuda}",
            "clocks": {"before": nothing, "least": nothing, "most": nothing, "after": nothing},
            "power_limit_w": None,
            "commit": os.environ.get("WARPWRIGHT_COMMIT", "unknown"),
            "command": " ".join(sys.argv),
            "peers": [f"PyTorch {torch.__version__}"],
            "notes": self.notes,
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="", help="file of records to append to; else DEVICE.jsonl in --folder")
    parser.add_argument("--folder", default="docs/benchmarks")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--warm-up", type=float, default=1.0, help="seconds of work before a sustained measurement")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        sys.exit(f"PyTorch is not there ({error}): pip install torch, or name a python3 that has it in PYTHON")
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU")
    cases = [json.loads(line) for line in sys.stdin if line.strip()]
    device = re.sub(r"[^a-z0-9]+", "-", torch.cuda.get_device_name().lower()).strip("-")
    out = arguments.out or os.path.join(arguments.folder, device + ".jsonl")
    os.makedirs(os.path.dirname(out) or ".", exist_ok=True)
    bench = Bench(torch, arguments)
    with open(out, "a", encoding="utf-8") as file:
        for case in cases:
            name = f"{case['work']}/{case['dtype']} {case['shape']}"
            try:
                for record in bench.measure(case):
                    file.write(json.dumps(record) + "\n")
                    rate = (record["flops"] if case["work"] == "gemm" else record["bytes"]) / record["median_us"] / 1e6
                    print(f"{name} {record['mode']}: torch {record['median_us']:.2f} us, {rate:.3f} T/s", flush=True)
            except (RuntimeError, NotImplementedError) as error:
                bench.notes.append(f"{name}: torch is left out: {str(error).splitlines()[0]}")
                print(bench.notes[-1], file=sys.stderr, flush=True)
            torch.cuda.empty_cache()
        file.write(json.dumps(bench.run_record()) + "\n")
    print(f"records in {out}")


if __name__ == "__main__":
    main()
