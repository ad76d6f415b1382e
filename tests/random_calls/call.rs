//! The calls, how they are drawn, and how a program of them is printed.

use std::fmt;
use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;

/// A range of a buffer: `start..start + len`, which may reach past the buffer's end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// A row-major matrix in a buffer, which may not fit into it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) ld: usize,
    pub(crate) offset: usize,
}

/// A buffer with a part of it. Numbers of buffers, streams, events and transfers count modulo those there are.
type Part = (usize, Window);
type MatrixPart = (usize, Shape);

/// The operands of a grouped product, in `bf16`: they are uploaded for the call and dropped behind it.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// Rows of each group.
    pub(crate) sizes: Vec<u32>,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) transposed: bool,
    /// What the elements follow from.
    pub(crate) seed: u32,
}

impl Groups {
    /// Rows of all groups.
    pub(crate) fn rows(&self) -> usize {
        self.sizes.iter().sum::<u32>() as usize
    }

    /// Where each group ends.
    pub(crate) fn ends(&self) -> Vec<u32> {
        let add = |end: &mut u32, &rows: &u32| {
            *end += rows;
            Some(*end)
        };
        self.sizes.iter().scan(0, add).collect()
    }

    /// The elements of A, and of B of all groups, as they lie in memory.
    pub(crate) fn elements(&self) -> [Vec<i8>; 2] {
        let lengths = [self.rows() * self.k, self.sizes.len() * self.k * self.n];
        [(lengths[0], self.seed), (lengths[1], !self.seed)].map(|(len, seed)| small(len, seed))
    }
}

/// Elements from -4 to 4 that follow from a seed.
fn small(len: usize, seed: u32) -> Vec<i8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(1_664_525);
        (state >> 20) as i8 % 5
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// A call of the safe interface.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Upload {
        device: usize,
        data: Vec<i8>,
    },
    Alloc {
        device: usize,
        len: usize,
    },
    Stream {
        device: usize,
    },
    Write {
        to: Part,
        data: Vec<i8>,
    },
    Zero {
        to: Part,
    },
    Copy {
        from: Part,
        to: Part,
    },
    Download {
        from: Part,
    },
    Add {
        device: usize,
        x: Part,
        y: Part,
    },
    Sum {
        device: usize,
        x: Part,
    },
    Transpose {
        device: usize,
        stream: Option<usize>,
        from: MatrixPart,
        to: MatrixPart,
    },
    Gemm {
        device: usize,
        stream: Option<usize>,
        a: MatrixPart,
        b: MatrixPart,
        c: MatrixPart,
        transposed: [bool; 2],
        scale: [i8; 2],
        workspace: Option<usize>,
    },
    Grouped {
        device: usize,
        stream: Option<usize>,
        groups: Groups,
        /// Factors of the rows.
        factors: Option<Part>,
        c: MatrixPart,
        scale: [i8; 2],
    },
    StartUpload {
        stream: usize,
        data: Vec<i8>,
        to: Part,
    },
    StartDownload {
        stream: usize,
        from: Part,
        len: usize,
    },
    Wait {
        transfer: usize,
    },
    DropTransfer {
        transfer: usize,
    },
    ForgetTransfer {
        transfer: usize,
    },
    Record {
        stream: usize,
    },
    WaitForEvent {
        stream: usize,
        event: usize,
    },
    Synchronize {
        stream: usize,
    },
    DropBuffer {
        buffer: usize,
    },
    DropStream {
        stream: usize,
    },
}

/// A sequence of calls. Printed as Rust, where a name that is used after its drop stands for a call that is left out.
#[derive(Clone)]
pub(crate) struct Program(pub(crate) Vec<Call>);

/// Up to `most` calls, after some that make buffers and streams.
pub(crate) fn program(most: usize) -> impl Strategy<Value = Program> {
    let first = vec(prop_oneof![3 => upload(), 1 => stream()], 0..=16);
    (first, vec(call(), 1..most)).prop_map(|(first, rest)| Program([first, rest].concat()))
}

/// One of the two devices, mostly the first.
fn device() -> impl Strategy<Value = usize> {
    prop_oneof![7 => Just(0_usize), 1 => Just(1)]
}

/// Elements from -4 to 4. A failing program has as few as possible, all 0: to change each by itself would take more
/// attempts than there are.
fn data(len: Range<usize>) -> impl Strategy<Value = Vec<i8>> {
    (len, any::<u32>()).prop_map(|(len, seed)| small(len, seed))
}

fn upload() -> impl Strategy<Value = Call> {
    (device(), data(0..800)).prop_map(|(device, data)| Call::Upload { device, data })
}

fn stream() -> impl Strategy<Value = Call> {
    device().prop_map(|device| Call::Stream { device })
}

fn call() -> impl Strategy<Value = Call> {
    // As many handles as there may be.
    let handle = || 0..64_usize;
    let data = || data(0..200);
    let window = || {
        let (short, long) = ((0..40_usize, 0..160_usize), (0..400_usize, 0..400_usize));
        prop_oneof![7 => short, 1 => long].prop_map(|(start, len)| Window { start, len })
    };
    let part = || (handle(), window());
    let edge = || prop_oneof![0..12_usize, 0..12_usize, 30..36_usize];
    let shape = move || {
        (edge(), edge(), 0..4_usize, 0..3_usize, any::<bool>()).prop_map(|(rows, cols, gap, offset, is_wrong)| {
            let ld = if is_wrong && gap == 3 { cols.saturating_sub(1) } else { cols + gap };
            Shape { rows, cols, ld, offset }
        })
    };
    // Mostly of shapes that agree.
    let product = (edge(), edge(), edge(), vec(0..2_usize, 6), any::<[bool; 2]>(), 0..16_u8).prop_map(
        |(m, n, k, gaps, transposed, wrong)| {
            let of = |rows: usize, cols: usize, i: usize| Shape { rows, cols, ld: cols + gaps[i], offset: gaps[i + 1] };
            let [a, b] = transposed;
            let inner = if wrong == 0 { k + 1 } else { k };
            let a = if a { of(k, m, 0) } else { of(m, k, 0) };
            let b = if b { of(n, inner, 2) } else { of(inner, n, 2) };
            (a, b, of(m, n, 4), transposed)
        },
    );
    // With a C and factors that mostly agree.
    let grouped = (vec(0..9_u32, 0..4), edge(), edge(), any::<bool>(), any::<u32>(), 0..16_u8, vec(0..2_usize, 2))
        .prop_map(|(sizes, n, k, transposed, seed, wrong, gaps)| {
            let groups = Groups { sizes, n, k, transposed, seed };
            let rows = groups.rows() + usize::from(wrong == 0);
            let c = Shape { rows, cols: n, ld: n + gaps[0], offset: gaps[1] };
            let factors = Window { start: gaps[1], len: groups.rows() + usize::from(wrong == 1) };
            (groups, factors, c)
        });
    let on = || proptest::option::of(handle());
    prop_oneof![
        2 => upload(),
        1 => (device(), 0..2000_usize).prop_map(|(device, len)| Call::Alloc { device, len }),
        1 => stream(),
        3 => (part(), data(), any::<bool>()).prop_map(|((buffer, window), data, fits)| {
            let len = if fits { data.len() } else { window.len };
            Call::Write { to: (buffer, Window { len, ..window }), data }
        }),
        2 => part().prop_map(|to| Call::Zero { to }),
        4 => (part(), part(), any::<bool>()).prop_map(|(from, (buffer, window), fits)| {
            let len = if fits { from.1.len } else { window.len };
            Call::Copy { from, to: (buffer, Window { len, ..window }) }
        }),
        4 => part().prop_map(|from| Call::Download { from }),
        6 => (device(), part(), part(), any::<bool>()).prop_map(|(device, x, (buffer, window), fits)| {
            let len = if fits { x.1.len } else { window.len };
            Call::Add { device, x, y: (buffer, Window { len, ..window }) }
        }),
        4 => (device(), part()).prop_map(|(device, x)| Call::Sum { device, x }),
        5 => (device(), on(), (handle(), shape()), (handle(), shape()), 0..8_u8).prop_map(
            |(device, stream, from, (buffer, to), wrong)| {
                let Shape { rows, cols, .. } = from.1;
                let to = if wrong == 0 { to } else { Shape { rows: cols, cols: rows, ld: rows + to.offset, ..to } };
                Call::Transpose { device, stream, from, to: (buffer, to) }
            }),
        8 => (device(), on(), [handle(), handle(), handle()], product, [-2..=2_i8, -1..=1_i8],
              proptest::option::of(0..5000_usize)).prop_map(
            |(device, stream, [a_in, b_in, c_in], (a, b, c, transposed), scale, workspace)| Call::Gemm {
                device, stream, a: (a_in, a), b: (b_in, b), c: (c_in, c), transposed, scale, workspace,
            }),
        4 => (device(), on(), grouped, (on(), handle()), [-2..=2_i8, -1..=1_i8]).prop_map(
            |(device, stream, (groups, window, shape), (factors, c), scale)| Call::Grouped {
                device, stream, groups, factors: factors.map(|factors| (factors, window)), c: (c, shape), scale,
            }),
        3 => (handle(), data(), part(), 0..8_u8).prop_map(|(stream, data, (buffer, window), wrong)| {
            let len = if wrong == 0 { window.len } else { data.len() };
            Call::StartUpload { stream, data, to: (buffer, Window { len, ..window }) }
        }),
        3 => (handle(), part(), 0..8_u8).prop_map(|(stream, from, wrong)| {
            Call::StartDownload { stream, from, len: if wrong == 0 { 7 } else { from.1.len } }
        }),
        3 => handle().prop_map(|transfer| Call::Wait { transfer }),
        1 => handle().prop_map(|transfer| Call::DropTransfer { transfer }),
        1 => handle().prop_map(|transfer| Call::ForgetTransfer { transfer }),
        2 => handle().prop_map(|stream| Call::Record { stream }),
        2 => (handle(), handle()).prop_map(|(stream, event)| Call::WaitForEvent { stream, event }),
        1 => handle().prop_map(|stream| Call::Synchronize { stream }),
        2 => handle().prop_map(|buffer| Call::DropBuffer { buffer }),
        1 => handle().prop_map(|stream| Call::DropStream { stream }),
    ]
}

/// An array as Rust.
fn floats(data: &[i8]) -> String {
    if data.len() > 4 && data.iter().all(|&element| element == 0) {
        format!("[0.0; {}]", data.len())
    } else {
        format!("{data:?}.map(f32::from)")
    }
}

/// The variant of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Whether there are invalid calls of this kind.
    pub(crate) can_be_refused: bool,
}

/// How many handles of each kind a program has made: a number modulo this is the handle it means.
#[derive(Clone, Copy, Default)]
pub(crate) struct Made {
    pub(crate) buffers: usize,
    pub(crate) streams: usize,
    pub(crate) events: usize,
    pub(crate) transfers: usize,
}

impl Made {
    /// Counts what a call makes, also if it fails.
    pub(crate) fn count(&mut self, call: &Call) {
        match call {
            Call::Upload { .. } | Call::Alloc { .. } | Call::Add { .. } => self.buffers += 1,
            Call::Stream { .. } => self.streams += 1,
            Call::Record { .. } => self.events += 1,
            Call::StartUpload { .. } | Call::StartDownload { .. } => self.transfers += 1,
            _ => {}
        }
    }
}

impl Window {
    pub(crate) fn range(self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

impl Shape {
    pub(crate) fn layout(self) -> warpwright::Layout {
        warpwright::Layout::contiguous(self.rows, self.cols).ld(self.ld).offset(self.offset)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        let mut made = Made::default();
        for call in &self.0 {
            call.print(f, made)?;
            made.count(call);
        }
        Ok(())
    }
}

impl Call {
    /// The variant.
    pub(crate) fn kind(&self) -> Kind {
        let (name, can_be_refused) = match self {
            Self::Upload { .. } => ("Upload", false),
            Self::Alloc { .. } => ("Alloc", false),
            Self::Stream { .. } => ("Stream", false),
            Self::Write { .. } => ("Write", true),
            Self::Zero { .. } => ("Zero", true),
            Self::Copy { .. } => ("Copy", true),
            Self::Download { .. } => ("Download", true),
            Self::Add { .. } => ("Add", true),
            Self::Sum { .. } => ("Sum", true),
            Self::Transpose { .. } => ("Transpose", true),
            Self::Gemm { .. } => ("Gemm", true),
            Self::Grouped { .. } => ("Grouped", true),
            Self::StartUpload { .. } => ("StartUpload", true),
            Self::StartDownload { .. } => ("StartDownload", true),
            Self::Wait { .. } => ("Wait", false),
            Self::DropTransfer { .. } => ("DropTransfer", false),
            Self::ForgetTransfer { .. } => ("ForgetTransfer", false),
            Self::Record { .. } => ("Record", false),
            Self::WaitForEvent { .. } => ("WaitForEvent", true),
            Self::Synchronize { .. } => ("Synchronize", false),
            Self::DropBuffer { .. } => ("DropBuffer", false),
            Self::DropStream { .. } => ("DropStream", false),
        };
        Kind { name, can_be_refused }
    }

    fn print(&self, f: &mut fmt::Formatter<'_>, made: Made) -> fmt::Result {
        let name = |kind: char, number: usize, count: usize| match count {
            0 => format!("/* no {kind} */"),
            _ => format!("{kind}{}", number % count),
        };
        let buffer = |number: usize| name('b', number, made.buffers);
        let stream = |number: usize| name('s', number, made.streams);
        let transfer = |number: usize| name('t', number, made.transfers);
        let part = |(number, window): Part| format!("{}.slice({:?})?", buffer(number), window.range());
        let part_mut = |(number, window): Part| format!("{}.slice_mut({:?})?", buffer(number), window.range());
        let matrix = |(number, Shape { rows, cols, ld, offset }): MatrixPart, view: &str| {
            let layout = format!("Layout::contiguous({rows}, {cols}).ld({ld}).offset({offset})");
            format!("{}.{view}().as_matrix({layout})?", buffer(number))
        };
        write!(f, "    ")?;
        match self {
            Self::Upload { device, data } => {
                writeln!(f, "let mut b{} = d{device}.upload(&{})?;", made.buffers, floats(data))
            }
            Self::Alloc { device, len } => {
                writeln!(f, "let mut b{} = d{device}.alloc_zeros::<f32>({len})?;", made.buffers)
            }
            Self::Stream { device } => {
                writeln!(f, "let s{} = d{device}.stream()?;", made.streams)
            }
            Self::Write { to, data } => writeln!(f, "{}.write(&{})?;", part_mut(*to), floats(data)),
            Self::Zero { to } => writeln!(f, "{}.zero()?;", part_mut(*to)),
            Self::Copy { from, to } => writeln!(f, "{}.copy_from({})?;", part_mut(*to), part(*from)),
            Self::Download { from } => writeln!(f, "{}.download()?;", part(*from)),
            Self::Add { device, x, y } => {
                writeln!(f, "let mut b{} = d{device}.add({}, {})?;", made.buffers, part(*x), part(*y))
            }
            Self::Sum { device, x } => writeln!(f, "d{device}.sum({})?;", part(*x)),
            Self::Transpose { device, stream: on, from, to } => {
                let on = on.map_or_else(|| format!("d{device}"), stream);
                writeln!(f, "{on}.transpose_into({}, {})?;", matrix(*from, "view"), matrix(*to, "view_mut"))
            }
            Self::Gemm { device, stream: on, a, b, c, transposed, scale: [alpha, beta], workspace } => {
                let ops = transposed.map(|transposed| if transposed { "Op::T" } else { "Op::N" });
                let on = on.map_or_else(String::new, |on| format!(".stream(&{})", stream(on)));
                let space =
                    workspace.map_or_else(String::new, |len| format!(".workspace(&mut d{device}.alloc({len})?)"));
                writeln!(
                    f,
                    "d{device}.gemm({}, {}).op({}, {}).alpha({alpha}.0).beta({beta}.0){on}{space}.into({})?;",
                    matrix(*a, "view"),
                    matrix(*b, "view"),
                    ops[0],
                    ops[1],
                    matrix(*c, "view_mut")
                )
            }
            Self::Grouped { device, stream: on, groups, factors, c, scale: [alpha, beta] } => {
                let Groups { sizes, n, k, transposed, seed } = groups;
                let on = on.map_or_else(String::new, |on| format!(".stream(&{})", stream(on)));
                let factors = factors.map_or_else(String::new, |of| format!(".row_scales({})", part(of)));
                let transposed = if *transposed { ".transpose_b()" } else { "" };
                writeln!(
                    f,
                    "d{device}.grouped_gemm(/* a and b: {sizes:?} rows, n = {n}, k = {k}, seed {seed} */, \
                     &{:?}){transposed}.alpha({alpha}.0).beta({beta}.0){factors}{on}.into({})?;",
                    groups.ends(),
                    matrix(*c, "view_mut")
                )
            }
            Self::StartUpload { stream: on, data, to } => {
                let (t, on, to) = (made.transfers, stream(*on), part_mut(*to));
                writeln!(f, "let t{t} = {on}.upload(/* page-locked {data:?} */, {to})?;")
            }
            Self::StartDownload { stream: on, from, len } => {
                let (t, on, from) = (made.transfers, stream(*on), part(*from));
                writeln!(f, "let t{t} = {on}.download({from}, {on}.device().pinned({len})?)?;")
            }
            Self::Wait { transfer: t } => writeln!(f, "{}.wait()?;", transfer(*t)),
            Self::DropTransfer { transfer: t } => writeln!(f, "drop({});", transfer(*t)),
            Self::ForgetTransfer { transfer: t } => writeln!(f, "std::mem::forget({});", transfer(*t)),
            Self::Record { stream: on } => {
                writeln!(f, "let e{} = {}.record()?;", made.events, stream(*on))
            }
            Self::WaitForEvent { stream: on, event } => {
                writeln!(f, "{}.wait(&{})?;", stream(*on), name('e', *event, made.events))
            }
            Self::Synchronize { stream: on } => writeln!(f, "{}.synchronize()?;", stream(*on)),
            Self::DropBuffer { buffer: b } => writeln!(f, "drop({});", buffer(*b)),
            Self::DropStream { stream: s } => writeln!(f, "drop({});", stream(*s)),
        }
    }
}
