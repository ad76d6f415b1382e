"""Polynomials of `simt/src/math/`: minimax fits.

For each polynomial p on an interval: the Remez exchange (on a grid of 1500 points, 60 digits) gives the p that
minimises the greatest weight(t) * |p(t) - g(t)|. The coefficients are rounded to the format. Prints Rust, and the
greatest weighted error as a power of two.

    python3 simt/tools/minimax.py [NAME]        needs mpmath
"""

import struct
import sys

from mpmath import atanh, cos, erf, erfc, exp, expm1, fabs, log, log1p, lu_solve, matrix, mp, mpf, nstr, pi
from mpmath import sin, sqrt, tan, tanh

mp.dps = 60
GRID = 1500


def grid(a, b):
    return [(a + b) / 2 - (b - a) / 2 * cos(pi * i / (GRID - 1)) for i in range(GRID)]


def remez(ts, g, w, powers):
    """Coefficients of `powers` for values g and weights w at ts, and the greatest weighted error."""
    n = len(powers)
    ref = [round(i * (len(ts) - 1) / n) for i in range(n + 1)]
    for _ in range(40):
        a = matrix(n + 1, n + 1)
        rhs = matrix(n + 1, 1)
        for row, i in enumerate(ref):
            for col, k in enumerate(powers):
                a[row, col] = ts[i] ** k
            a[row, n] = (-1) ** row / w[i]
            rhs[row] = g[i]
        x = lu_solve(a, rhs)
        level = fabs(x[n])
        errors = []
        for t, gt, wt in zip(ts, g, w):
            p = mpf(0)
            last = powers[-1]
            for c, k in zip(reversed([x[i] for i in range(n)]), reversed(powers)):
                p = p * t ** (last - k) + c
                last = k
            errors.append(wt * (p * t ** last - gt))
        # One extremum for each run of equal signs.
        peaks = []
        for i, e in enumerate(errors):
            if peaks and (errors[peaks[-1]] > 0) == (e > 0):
                if fabs(e) > fabs(errors[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        worst = max(fabs(e) for e in errors)
        while len(peaks) > n + 1:
            drop = 0 if fabs(errors[peaks[0]]) < fabs(errors[peaks[-1]]) else -1
            peaks.pop(drop)
        if len(peaks) < n + 1 or worst < level * (1 + mpf(10) ** -4):
            return [x[i] for i in range(n)], worst
        ref = peaks
    return [x[i] for i in range(n)], worst


def rounded(x, bits):
    if bits == 64:
        return float(x)
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def fit(g, w, a, b, degree, bits):
    # Weights vanish at 0: without its neighbourhood, which the polynomial meets anyway.
    ts = [t for t in grid(mpf(a), mpf(b)) if fabs(t) > (b - a) / 200]
    target = [g(t) for t in ts]
    weights = [w(t) for t in ts]
    coefficients, ideal = remez(ts, target, weights, list(range(degree + 1)))
    coefficients = [rounded(c, bits) for c in coefficients]
    value = lambda t: sum(mpf(c) * t ** j for j, c in enumerate(coefficients))
    return coefficients, ideal, max(fabs(wt * (value(t) - gt)) for t, gt, wt in zip(ts, target, weights))


ln2, ln10 = log(mpf(2)), log(mpf(10))


def erfcx_scaled(k):
    """(1 + 2x) erfcx(x) as a function of t = (x - k) / (x + k)."""
    def f(t):
        x = k * (1 + t) / (1 - t)
        return (1 + 2 * x) * exp(x * x) * erfc(x)
    return f


# name: g, weight, interval, degree for f32, degree for f64
h = ln2 / 2 * (1 + mpf(2) ** -10)
q = pi / 4 * (1 + mpf(2) ** -10)
EK32, EK64 = mpf(2), mpf(4)
def tt(k, x):
    return (x - k) / (x + k)
H, HALF, TENTH = (-h, h), (-mpf("0.5005"), mpf("0.5005")), (-mpf("0.1507"), mpf("0.1507"))
THIRD = (-mpf(1) / 3 - mpf(10) ** -4, mpf(1) / 3 + mpf(10) ** -4)
FITS = {
    # e^f = 1 + f + f^2 EXP(f)
    "EXP": (lambda f: (expm1(f) - f) / f**2, lambda f: fabs(f), H, H, 5, 10),
    # 2^f = 1 + f ln 2 + f^2 EXP2(f)
    "EXP2": (lambda f: (expm1(f * ln2) - f * ln2) / f**2, lambda f: f**2, HALF, HALF, 4, 9),
    # 10^f = 1 + f ln 10 + f^2 EXP10(f)
    "EXP10": (lambda f: (expm1(f * ln10) - f * ln10) / f**2, lambda f: f**2, TENTH, TENTH, 4, 9),
    # f32: log(1+f) = f + f^2 (-1/2 + f LOG(f)); f64, with s = f/(2+f), z = s^2: log(1+f) = 2s + s z LOG(z)
    "LOG32": (lambda f: (log1p(f) - f + f * f / 2) / f**3, lambda f: f**2, THIRD, None, 8, None),
    "LOG64": (lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, lambda z: z, None, (0, mpf("0.02945")), None, 6),
    # log2((1+s)/(1-s)) = s (2/ln2 + z (2/(3 ln 2) + z POW(z)))
    "POW": (lambda z: ((2 * atanh(sqrt(z)) / sqrt(z) - 2) / z - mpf(2) / 3) / z / ln2,
            lambda z: z**2, (0, mpf("0.0401")), (0, mpf("0.0401")), 3, 7),
    "SIN": (lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, (0, q * q), (0, q * q), 3, 6),
    "COS": (lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, lambda z: z**2, (0, q * q), (0, q * q), 2, 5),
    "TAN": (lambda z: (tan(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, (0, q * q), (0, q * q), 5, 14),
    "TANH": (lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z, (0, mpf("0.3026")), (0, mpf("0.3026")), 4, 10),
    # erf(x) = x + x ERF(x^2)
    "ERF": (lambda z: erf(sqrt(z)) / sqrt(z) - 1, lambda z: mpf(1), (0, 1), (0, 1), 6, 12),
    "ERFCX32": (erfcx_scaled(EK32), lambda t: mpf(1), (tt(EK32, mpf("0.4")), tt(EK32, mpf("10.3"))), None, 9, None),
    "ERFCX64": (erfcx_scaled(EK64), lambda t: mpf(1), None, (tt(EK64, mpf("0.4")), tt(EK64, mpf("27.5"))), None, 21),
}


def main():
    for name in sys.argv[1:] or FITS:
        g, w, i32, i64, d32, d64 = FITS[name]
        for bits, interval, degree in ((32, i32, d32), (64, i64, d64)):
            if degree is None:
                continue
            fixed, ideal, worst = fit(g, w, interval[0], interval[1], degree, bits)
            worst, ideal = (nstr(log(error) / ln2, 5) for error in (worst, ideal))
            print(f"// {name} f{bits} degree {degree}: 2^{worst} (before rounding 2^{ideal})")
            print("[" + ", ".join(repr_float(c, bits) for c in fixed) + "]", flush=True)


def repr_float(c, bits):
    if bits == 64:
        return repr(c)
    for digits in range(6, 12):
        text = f"{c:.{digits}e}"
        if rounded(mpf(text), 32) == c:
            return text
    raise ValueError(c)


if __name__ == "__main__":
    main()
