"""Exact values for `simt/tests/accuracy`: f64.csv (functions of f64) and pairs.csv (functions of two f32).

    python3 simt/tools/table.py N FOLDER        needs mpmath; N arguments for each function, fixed random numbers

A line is name, argument bits (one or two), bits of the result rounded to f64, and the rest of the exact result in units
in the last place of that.
"""

import math
import random
import struct
import sys
from pathlib import Path

from mpmath import cbrt, cos, erf, erfc, exp, expm1, isinf, ldexp, log, log1p, mp, mpf, sin, sqrt, tan, tanh

mp.prec = 200


def bits64(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def from64(b):
    return struct.unpack("<d", struct.pack("<Q", b))[0]


def bits32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def from32(b):
    return struct.unpack("<f", struct.pack("<I", b))[0]


def rounded(exact):
    """The nearest f64, and the rest in its units in the last place."""
    if exact == 0:
        return 0.0, 0.0
    exponent = max(math.floor(mp.log(abs(exact), 2)), -1022)
    # The logarithm may be off by one next to a power of two.
    if abs(exact) >= ldexp(mpf(1), exponent + 1):
        exponent += 1
    elif abs(exact) < ldexp(mpf(1), exponent) and exponent > -1022:
        exponent -= 1
    if exponent > 1023:
        return math.copysign(math.inf, exact), 0.0
    units = ldexp(exact, 52 - exponent)
    whole = int(mp.nint(units))
    try:
        return math.ldexp(whole, exponent - 52), float(units - whole)
    except OverflowError:
        return math.copysign(math.inf, exact), 0.0


def spread(rng, low, high):
    """Sizes from 2^low to 2^high, either sign."""
    return math.copysign(math.ldexp(rng.uniform(1, 2), rng.randint(low, high - 1)), rng.uniform(-1, 1))


def positive(rng):
    return from64(rng.randrange(1, 0x7FF0_0000_0000_0000))


def angle(rng):
    """Any size, and numbers beside multiples of pi/2."""
    kind = rng.randrange(4)
    if kind == 0:
        return spread(rng, -30, 1023)
    if kind == 1:
        return rng.uniform(-10, 10)
    if kind == 2:
        return float(rng.randrange(1, 1 << rng.randrange(1, 40)) * mp.pi / 2)
    return spread(rng, -4, 33)


def uniform(a, b):
    return lambda rng: rng.uniform(a, b)


def sizes(a, b):
    return lambda rng: spread(rng, a, b)


def near(rng):
    """Near 1."""
    return 1 + spread(rng, -52, -1)


def mixed(*choices):
    return lambda rng: rng.choice(choices)(rng)


FUNCTIONS = {
    "exp": (exp, mixed(uniform(-746, 710), sizes(-60, 9), uniform(-1, 1))),
    "exp2": (lambda x: mpf(2) ** x, mixed(uniform(-1076, 1024), sizes(-60, 10), uniform(-1, 1))),
    "exp10": (lambda x: mpf(10) ** x, mixed(uniform(-324, 308.2), sizes(-60, 8), uniform(-1, 1))),
    "expm1": (expm1, mixed(uniform(-40, 709), sizes(-60, 5), uniform(-1.5, 1.5))),
    "log": (log, mixed(positive, uniform(0.5, 2), near)),
    "log2": (lambda x: log(x) / log(mpf(2)), mixed(positive, uniform(0.5, 2), near)),
    "log10": (lambda x: log(x) / log(mpf(10)), mixed(positive, uniform(0.5, 2), near)),
    "log1p": (log1p, mixed(positive, uniform(-1, 2), sizes(-60, -1))),
    "sin": (sin, angle),
    "cos": (cos, angle),
    "tan": (tan, angle),
    "tanh": (tanh, mixed(uniform(-20, 20), uniform(-1, 1), sizes(-60, 4))),
    "erf": (erf, mixed(uniform(-6, 6), uniform(-1, 1), sizes(-60, 2))),
    "erfc": (erfc, mixed(uniform(-6, 27), uniform(-1, 5), sizes(-60, 2))),
    "rsqrt": (lambda x: 1 / sqrt(x), positive),
    "cbrt": (cbrt, positive),
    "rcbrt": (lambda x: 1 / cbrt(x), positive),
}


def near_one(rng, exact, pack):
    """x near 1 with a y that gives a result within the range."""
    x = pack(1 + spread(rng, -20, -1))
    y = pack(rng.uniform(-80, 80) / math.log(x)) if x > 0 and x != 1 else 1.0
    return x, y


def pow_arguments(rng, pack, least, greatest):
    kind = rng.randrange(3)
    if kind == 0:
        return near_one(rng, None, pack)
    x = pack(math.ldexp(rng.uniform(1, 2), rng.randint(least, greatest)))
    if kind == 1 or x == 1:
        return x, pack(rng.uniform(-4, 4))
    return x, pack(rng.uniform(least, greatest) / math.log2(x))


def hypot_arguments(rng, pack, least, greatest):
    x = pack(spread(rng, least, greatest))
    return x, pack(x * spread(rng, -26, 2)) if abs(x) < 2.0 ** (greatest - 3) else pack(spread(rng, least, greatest))


def power(x, y):
    return mp.exp(mpf(y) * log(mpf(x)))


def hypotenuse(x, y):
    return sqrt(mpf(x) ** 2 + mpf(y) ** 2)


PAIRS = {"pow": (power, pow_arguments), "hypot": (hypotenuse, hypot_arguments)}


def line(name, arguments, exact):
    value, rest = rounded(exact)
    return ",".join([name, *(f"{a:x}" for a in arguments), f"{bits64(value):x}", f"{rest:.4f}"]) + "\n"


def main():
    count, folder = int(sys.argv[1]), Path(sys.argv[2])
    mp.prec = 1300  # sin of 2^1023
    rng = random.Random(20)
    with open(folder / "f64.csv", "w") as table:
        for name, (function, argument) in FUNCTIONS.items():
            mp.prec = 1300 if name in ("sin", "cos", "tan") else 200
            for _ in range(count):
                x = argument(rng)
                if name == "log1p" and x <= -1 or x == 0 or name.startswith("log") and x == 1:
                    continue
                table.write(line(name, [bits64(x)], function(mpf(x))))
        mp.prec = 300
        for name, (function, arguments) in PAIRS.items():
            for _ in range(count):
                x, y = arguments(rng, float, -1060, 1020)
                table.write(line(name, [bits64(x), bits64(y)], function(x, y)))
    with open(folder / "pairs.csv", "w") as table:
        for name, (function, arguments) in PAIRS.items():
            for _ in range(count):
                x, y = arguments(rng, lambda x: from32(bits32(x)), -140, 125)
                table.write(line(name, [bits32(x), bits32(y)], function(x, y)))


if __name__ == "__main__":
    main()
