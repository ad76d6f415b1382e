//! What one instruction does, read from its opcode.

/// Memory that an instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// `.global`
    Global,
    /// `.shared`, also of another block of the cluster
    Shared,
    /// `.local`: the thread's own memory, in DRAM
    Local,
    /// `.param` and `.const`
    Constant,
    /// None named: the hardware finds out at run time, which costs time and hides what the kernel does
    Generic,
}

/// What an instruction does, as far as the audit asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// A load of `bytes` per thread; an asynchronous copy is a load from global memory (`None`: its size is no
    /// constant).
    Load { space: Space, bytes: Option<u32> },
    /// A store of `bytes` per thread.
    Store { space: Space, bytes: Option<u32> },
    /// A read-modify-write.
    Atomic { space: Space },
    /// A barrier of the block, waited for or only arrived at; a barrier of the cluster, waited for.
    Barrier,
    /// Ends the kernel with an error.
    Trap,
    /// Calls a function that was not inlined.
    Call { callee: &'a str },
    /// Anything else.
    Other,
}

/// Reads a statement; a declaration (`.reg`, `.param`, `.local` …) gives `Other`.
pub fn decode(statement: &str) -> Action<'_> {
    let statement = statement.trim_start();
    // `@%p1 bra …`: the predicate says when, not what.
    let statement = match statement.strip_prefix('@') {
        Some(predicated) => predicated.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start()),
        None => statement,
    };
    let (opcode, operands) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
    let mut parts = opcode.split('.');
    let name = parts.next().unwrap_or_default();
    let modifiers: Vec<&str> = parts.collect();
    let space = space(&modifiers);
    match name {
        "ld" | "ldu" => Action::Load { space, bytes: width(&modifiers) },
        "st" => Action::Store { space, bytes: width(&modifiers) },
        "atom" | "red" => Action::Atomic { space },
        // cp.async.ca.shared.global [to], [from], 16;
        "cp" if modifiers.first() == Some(&"async")
            && modifiers.contains(&"global")
            && !modifiers.contains(&"bulk") =>
        {
            let bytes = operands.split(',').nth(2).and_then(|size| size.trim().parse().ok());
            Action::Load { space: Space::Global, bytes }
        }
        // bar.warp.sync is a barrier of a warp. A barrier of the cluster is two instructions: it counts once, as the
        // wait.
        "bar" | "barrier" if modifiers.first() == Some(&"cluster") && modifiers.get(1) != Some(&"wait") => {
            Action::Other
        }
        "bar" | "barrier" if modifiers.first() != Some(&"warp") => Action::Barrier,
        "trap" => Action::Trap,
        "call" => Action::Call { callee: callee(operands) },
        _ => Action::Other,
    }
}

fn space(modifiers: &[&str]) -> Space {
    let named = modifiers.iter().find_map(|modifier| match modifier.split("::").next() {
        Some("global") => Some(Space::Global),
        Some("shared") => Some(Space::Shared),
        Some("local") => Some(Space::Local),
        Some("param" | "const") => Some(Space::Constant),
        _ => None,
    });
    named.unwrap_or(Space::Generic)
}

/// Bytes one thread moves: `v4.f32` is 16.
fn width(modifiers: &[&str]) -> Option<u32> {
    let count = modifiers.iter().find_map(|modifier| match *modifier {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    });
    Some(element_bits(modifiers.last()?)? / 8 * count.unwrap_or(1))
}

/// `b32`, `u8`, `f64`, `bf16`, `f16x2` …
fn element_bits(kind: &str) -> Option<u32> {
    let digits = kind.trim_start_matches(|c: char| c.is_ascii_lowercase());
    match digits.split_once('x') {
        Some((bits, lanes)) => Some(bits.parse::<u32>().ok()? * lanes.parse::<u32>().ok()?),
        None => digits.parse().ok(),
    }
}

/// The function in `(results), name, (arguments)`.
fn callee(operands: &str) -> &str {
    let rest = operands.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(results) => results.split_once(')').map_or("", |(_, rest)| rest.trim_start_matches([',', ' '])),
        None => rest,
    };
    rest.split(',').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::{Action, Space, decode};

    #[test]
    fn opcodes_say_what_the_audit_asks() {
        let load = |space, bytes| Action::Load { space, bytes: Some(bytes) };
        let store = |space, bytes| Action::Store { space, bytes: Some(bytes) };
        let table = [
            ("ld.global.b32 %r1, [%rd1]", load(Space::Global, 4)),
            ("@!%p2 ld.global.nc.L1::no_allocate.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]", load(Space::Global, 16)),
            ("ld.relaxed.gpu.global.u64 %rd2, [%rd1]", load(Space::Global, 8)),
            ("ld.volatile.shared::cta.v2.b64 {%rd1, %rd2}, [tile+16]", load(Space::Shared, 16)),
            ("ld.shared.bf16x2 %r1, [%r2]", load(Space::Shared, 4)),
            ("ld.param.b64 %rd1, [p]", load(Space::Constant, 8)),
            ("ld.b8 %rs1, [%rd1]", load(Space::Generic, 1)),
            ("ld.local.f64 %fd1, [%rd1]", load(Space::Local, 8)),
            ("st.global.cs.v4.b32 [%rd1], {%r1, %r2, %r3, %r4}", store(Space::Global, 16)),
            ("st.v2.b32 [%rd1], {%r1, %r2}", store(Space::Generic, 8)),
            ("cp.async.ca.shared.global [%r1], [%rd1], 16, %r2", load(Space::Global, 16)),
            ("cp.async.commit_group", Action::Other),
            ("atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1", Action::Atomic { space: Space::Global }),
            ("red.add.f32 [%rd1], %f1", Action::Atomic { space: Space::Generic }),
            ("bar.sync 0", Action::Barrier),
            ("barrier.sync.aligned 1, 64", Action::Barrier),
            ("bar.red.popc.u32 %r1, 0, %p1", Action::Barrier),
            ("bar.warp.sync -1", Action::Other),
            ("barrier.cluster.arrive.aligned", Action::Other),
            ("barrier.cluster.wait.aligned", Action::Barrier),
            ("trap", Action::Trap),
            ("call.uni _ZN4core9panicking5panicE, (param0)", Action::Call { callee: "_ZN4core9panicking5panicE" }),
            ("call (retval0), helper, (param0)", Action::Call { callee: "helper" }),
            (".reg .b32 %r<4>", Action::Other),
        ];
        for (text, expected) in table {
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
