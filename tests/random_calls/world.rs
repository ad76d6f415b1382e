//! What a program does to the devices, beside what it must do to a copy of their memory on the host.
//!
//! On devices that run no kernels, results of kernels are [`UNKNOWN`]; all else must be as on any device.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem;
use std::ops::AddAssign;
use std::rc::Rc;

use ndarray::Array2;
use warpwright::gemm::Op;
use warpwright::half::bf16;
use warpwright::{Buffer, Device, Event, PinnedBuffer, Result, Stream, Transfer};

use super::call::{Call, Groups, Kind, Made, Shape, Window};

/// Elements stay below, so that sums of products are exact in `f32`: a call that reads larger ones is left out.
const LARGEST: f32 = 1e4;

/// The element that a kernel has written, on a device that runs none.
const UNKNOWN: f32 = f32::NAN;

/// A buffer, the number of its device and its elements.
struct Owned {
    buffer: Buffer<f32>,
    device: usize,
    elements: Vec<f32>,
}

/// A copy under way, and what its host memory holds once it is done.
struct Copying {
    transfer: Transfer<f32>,
    elements: Vec<f32>,
}

/// The handles that a program has made; `None` once dropped, or if the call failed.
pub(crate) struct World<'d> {
    devices: [&'d Device; 2],
    /// Whether the devices run kernels; additions are run in any case.
    run_kernels: bool,
    buffers: Vec<Option<Owned>>,
    streams: Vec<Option<Rc<(Stream, usize)>>>,
    events: Vec<Option<(Event, usize)>>,
    transfers: Vec<Option<Copying>>,
    made: Made,
    tallies: BTreeMap<Kind, Tally>,
}

/// What became of calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) succeeded: usize,
    pub(crate) refused: usize,
    /// Without their handles, or with elements that are too large.
    pub(crate) left_out: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.succeeded += other.succeeded;
        self.refused += other.refused;
        self.left_out += other.left_out;
    }
}

thread_local! {
    /// Whether the call was refused.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// What became of the calls of many programs, by kind.
#[derive(Default)]
pub(crate) struct Tallies(BTreeMap<Kind, Tally>);

impl Tallies {
    /// Adds those of a program.
    pub(crate) fn add(&mut self, of_program: BTreeMap<Kind, Tally>) {
        for (kind, tally) in of_program {
            *self.0.entry(kind).or_default() += tally;
        }
    }

    /// Prints them; checks that the calls of each kind were made often, valid and invalid, if `must_be_many`.
    pub(crate) fn finish(self, must_be_many: bool) {
        for (kind, tally) in self.0 {
            println!("{kind:?}: {tally:?}");
            if must_be_many {
                assert!(tally.succeeded > 100, "{kind:?}: {tally:?}");
                assert!(tally.refused > 100 || !kind.can_be_refused, "{kind:?}: {tally:?}");
            }
        }
    }
}

/// What the documentation says of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Must {
    Succeed,
    Fail,
    /// Nothing to do: the arguments need not have been checked.
    Either,
}

fn must(is_valid: bool, is_empty: bool) -> Must {
    match (is_valid, is_empty) {
        (true, _) => Must::Succeed,
        (false, true) => Must::Either,
        (false, false) => Must::Fail,
    }
}

/// Compares a result with what is documented.
#[track_caller]
fn check<T>(result: Result<T>, must: Must) -> Option<T> {
    match (&result, must) {
        (Ok(_), Must::Fail) => panic!("an invalid call succeeded"),
        (Err(error), Must::Succeed) => panic!("a valid call failed: {error}"),
        (Err(error), _) => assert!(error.to_string().len() > 20, "a message says what is wrong: {error}"),
        (Ok(_), _) => {}
    }
    if result.is_err() {
        REFUSED.set(true);
    }
    result.ok()
}

impl Window {
    fn is_within(self, owned: &Owned) -> bool {
        self.start + self.len <= owned.elements.len()
    }
}

impl Shape {
    fn is_empty(self) -> bool {
        self.rows == 0 || self.cols == 0
    }

    fn is_within(self, owned: &Owned) -> bool {
        let end = if self.is_empty() { 0 } else { (self.rows - 1) * self.ld + self.cols };
        self.ld >= self.cols && self.offset + end <= owned.elements.len()
    }

    /// The element of the buffer at (row, column).
    fn at(self, row: usize, col: usize) -> usize {
        self.offset + row * self.ld + col
    }

    fn read(self, owned: &Owned) -> Array2<f32> {
        self.read_elements(&owned.elements)
    }

    fn read_elements(self, elements: &[f32]) -> Array2<f32> {
        Array2::from_shape_fn((self.rows, self.cols), |(row, col)| elements[self.at(row, col)])
    }

    fn write(self, owned: &mut Owned, values: &Array2<f32>) {
        for ((row, col), &value) in values.indexed_iter() {
            owned.elements[self.at(row, col)] = value;
        }
    }
}

/// The handle that a number means, with its place; `None` if there is none.
fn place<T>(handles: &[Option<T>], number: usize) -> Option<usize> {
    let place = number.checked_rem(handles.len())?;
    handles[place].as_ref().map(|_| place)
}

/// Compares memory of a device with the model.
#[track_caller]
fn compare(found: &[f32], expected: &[f32]) {
    let is_right = |(found, expected): (&f32, &f32)| expected.is_nan() || found == expected;
    let is_equal = found.len() == expected.len() && found.iter().zip(expected).all(is_right);
    assert!(is_equal, "found {found:?}, expected {expected:?} (NaN: anything)");
}

fn floats(data: &[i8]) -> Vec<f32> {
    data.iter().copied().map(f32::from).collect()
}

fn pinned(device: &Device, elements: &[f32]) -> PinnedBuffer<f32> {
    let mut pinned = device.pinned(elements.len()).expect("page-locked memory");
    pinned.copy_from_slice(elements);
    pinned
}

impl<'d> World<'d> {
    pub(crate) fn new(devices: [&'d Device; 2], run_kernels: bool) -> Self {
        Self {
            devices,
            run_kernels,
            buffers: vec![],
            streams: vec![],
            events: vec![],
            transfers: vec![],
            made: Made::default(),
            tallies: BTreeMap::new(),
        }
    }

    /// Makes a call.
    pub(crate) fn call(&mut self, call: &Call) {
        REFUSED.set(false);
        let done = self.try_call(call);
        let tally = self.tallies.entry(call.kind()).or_default();
        match done {
            Some(()) => tally.succeeded += 1,
            None if REFUSED.get() => tally.refused += 1,
            None => tally.left_out += 1,
        }
        // Names in a printed program count the calls that make something, also those that fail.
        self.made.count(call);
        self.buffers.resize_with(self.made.buffers, || None);
        self.events.resize_with(self.made.events, || None);
        self.transfers.resize_with(self.made.transfers, || None);
    }

    fn buffer(&self, number: usize) -> Option<&Owned> {
        self.buffers[place(&self.buffers, number)?].as_ref()
    }

    fn buffer_mut(&mut self, number: usize) -> Option<&mut Owned> {
        let place = place(&self.buffers, number)?;
        self.buffers[place].as_mut()
    }

    fn stream(&self, number: usize) -> Option<Rc<(Stream, usize)>> {
        self.streams[place(&self.streams, number)?].clone()
    }

    /// A buffer that is written, and those that are read, which must be others: else the program would not compile.
    fn distinct<const N: usize>(&mut self, written: usize, read: [usize; N]) -> Option<(&mut Owned, [&Owned; N])> {
        let written = place(&self.buffers, written)?;
        let mut places = [0; N];
        for (number, to) in read.into_iter().zip(&mut places) {
            *to = place(&self.buffers, number)?;
        }
        let (before, rest) = self.buffers.split_at_mut(written);
        let (target, after) = rest.split_first_mut()?;
        let mut found = [None; N];
        for (place, to) in places.into_iter().zip(&mut found) {
            *to = match place.cmp(&written) {
                std::cmp::Ordering::Less => before[place].as_ref(),
                std::cmp::Ordering::Equal => None,
                std::cmp::Ordering::Greater => after[place - written - 1].as_ref(),
            };
        }
        if found.iter().any(Option::is_none) {
            return None;
        }
        Some((target.as_mut()?, found.map(|owned| owned.expect("checked above"))))
    }

    /// Makes the call; `None` if it was refused or left out.
    #[allow(clippy::too_many_lines)] // One arm for each call.
    fn try_call(&mut self, call: &Call) -> Option<()> {
        let devices = self.devices;
        match *call {
            Call::Upload { device, ref data } => {
                let elements = floats(data);
                let buffer = check(devices[device].upload(&elements), Must::Succeed)?;
                self.buffers.push(Some(Owned { buffer, device, elements }));
            }
            Call::Alloc { device, len } => {
                let buffer = check(devices[device].alloc_zeros(len), Must::Succeed)?;
                self.buffers.push(Some(Owned { buffer, device, elements: vec![0.0; len] }));
            }
            Call::Stream { device } => {
                let stream = check(devices[device].stream(), Must::Succeed)?;
                self.streams.push(Some(Rc::new((stream, device))));
            }
            Call::Write { to: (number, window), ref data } => {
                let owned = self.buffer_mut(number)?;
                let is_within = window.is_within(owned);
                let mut view = check(owned.buffer.slice_mut(window.range()), must(is_within, false))?;
                check(view.write(&floats(data)), must(data.len() == window.len, false))?;
                owned.elements[window.range()].copy_from_slice(&floats(data));
            }
            Call::Zero { to: (number, window) } => {
                let owned = self.buffer_mut(number)?;
                let is_within = window.is_within(owned);
                check(check(owned.buffer.slice_mut(window.range()), must(is_within, false))?.zero(), Must::Succeed)?;
                owned.elements[window.range()].fill(0.0);
            }
            Call::Copy { from: (from, of), to: (to, at) } => {
                let (to, [from]) = self.distinct(to, [from])?;
                let is_within = at.is_within(to);
                let mut target = check(to.buffer.slice_mut(at.range()), must(is_within, false))?;
                let source = check(from.buffer.slice(of.range()), must(of.is_within(from), false))?;
                let is_valid = of.len == at.len && from.device == to.device;
                check(target.copy_from(source), must(is_valid, of.len == 0 && at.len == 0))?;
                to.elements[at.range()].copy_from_slice(&from.elements[of.range()]);
            }
            Call::Download { from: (number, window) } => {
                let owned = self.buffer(number)?;
                let view = check(owned.buffer.slice(window.range()), must(window.is_within(owned), false))?;
                compare(&check(view.download(), Must::Succeed)?, &owned.elements[window.range()]);
            }
            Call::Add { device, x: (x, of_x), y: (y, of_y) } => {
                let (x, y) = (self.buffer(x)?, self.buffer(y)?);
                let left = check(x.buffer.slice(of_x.range()), must(of_x.is_within(x), false))?;
                let right = check(y.buffer.slice(of_y.range()), must(of_y.is_within(y), false))?;
                let elements: Vec<f32> =
                    x.elements[of_x.range()].iter().zip(&y.elements[of_y.range()]).map(|(x, y)| x + y).collect();
                if elements.iter().any(|element| element.abs() > LARGEST) {
                    return None;
                }
                let is_valid = of_x.len == of_y.len && x.device == device && y.device == device;
                let buffer = check(devices[device].add(left, right), must(is_valid, of_x.len == 0 && of_y.len == 0))?;
                self.buffers.push(Some(Owned { buffer, device, elements }));
            }
            Call::Sum { device, x: (x, of) } => {
                let x = self.buffer(x)?;
                let view = check(x.buffer.slice(of.range()), must(of.is_within(x), false))?;
                let sum = check(devices[device].sum(view), must(x.device == device, of.len == 0))?;
                if self.run_kernels || of.len == 0 {
                    compare(&[sum], &[x.elements[of.range()].iter().sum()]);
                }
            }
            Call::Transpose { device, stream, from, to } => {
                let stream = stream.map(|number| self.stream(number).ok_or(())).transpose().ok()?;
                self.transpose((device, stream.as_deref()), from, to)?;
            }
            Call::Gemm { stream, .. } => {
                let stream = stream.map(|number| self.stream(number).ok_or(())).transpose().ok()?;
                self.gemm(stream.as_deref(), call)?;
            }
            Call::Grouped { stream, .. } => {
                let stream = stream.map(|number| self.stream(number).ok_or(())).transpose().ok()?;
                self.grouped(stream.as_deref(), call)?;
            }
            Call::StartUpload { stream, ref data, to: (to, at) } => {
                let (on, elements) = (self.stream(stream)?, floats(data));
                let (stream, device) = &*on;
                let to = self.buffer_mut(to)?;
                let is_within = at.is_within(to);
                let view = check(to.buffer.slice_mut(at.range()), must(is_within, false))?;
                let is_valid = at.len == data.len() && to.device == *device;
                let host = pinned(devices[*device], &elements);
                let transfer = check(stream.upload(host, view), must(is_valid, at.len == 0 && data.is_empty()))?;
                to.elements[at.range()].copy_from_slice(&elements);
                self.transfers.push(Some(Copying { transfer, elements }));
            }
            Call::StartDownload { stream, from: (from, of), len } => {
                let (on, owned) = (self.stream(stream)?, self.buffer(from)?);
                let (stream, device) = &*on;
                let view = check(owned.buffer.slice(of.range()), must(of.is_within(owned), false))?;
                let is_valid = of.len == len && owned.device == *device;
                let host = pinned(devices[*device], &vec![-1.0; len]);
                let transfer = check(stream.download(view, host), must(is_valid, of.len == 0 && len == 0))?;
                let elements = owned.elements[of.range()].to_vec();
                self.transfers.push(Some(Copying { transfer, elements }));
            }
            Call::Wait { transfer } => {
                let place = place(&self.transfers, transfer)?;
                let Copying { transfer, elements } = self.transfers[place].take()?;
                compare(&check(transfer.wait(), Must::Succeed)?, &elements);
            }
            Call::DropTransfer { transfer } => {
                let place = place(&self.transfers, transfer)?;
                self.transfers[place] = None;
            }
            Call::ForgetTransfer { transfer } => {
                let place = place(&self.transfers, transfer)?;
                mem::forget(self.transfers[place].take());
            }
            Call::Record { stream } => {
                let on = self.stream(stream)?;
                let (stream, device) = &*on;
                let event = (check(stream.record(), Must::Succeed)?, *device);
                self.events.push(Some(event));
            }
            Call::WaitForEvent { stream, event } => {
                let on = self.stream(stream)?;
                let (stream, device) = &*on;
                let (event, of) = self.events[place(&self.events, event)?].as_ref()?;
                check(stream.wait(event), must(device == of, false))?;
            }
            Call::Synchronize { stream } => check(self.stream(stream)?.0.synchronize(), Must::Succeed)?,
            Call::DropBuffer { buffer } => {
                let place = place(&self.buffers, buffer)?;
                self.buffers[place] = None;
            }
            Call::DropStream { stream } => {
                let place = place(&self.streams, stream)?;
                self.streams[place] = None;
            }
        }
        Some(())
    }

    fn transpose(
        &mut self,
        (device, stream): (usize, Option<&(Stream, usize)>),
        (from, of): (usize, Shape),
        (to, at): (usize, Shape),
    ) -> Option<()> {
        let device = stream.map_or(device, |&(_, device)| device);
        let (handle, run_kernels) = (self.devices[device], self.run_kernels);
        let (to, [from]) = self.distinct(to, [from])?;
        let is_within = at.is_within(to);
        let target = check(to.buffer.view_mut().as_matrix(at.layout()), must(is_within, false))?;
        let source = check(from.buffer.view().as_matrix(of.layout()), must(of.is_within(from), false))?;
        let is_valid = (of.rows, of.cols) == (at.cols, at.rows) && from.device == device && to.device == device;
        let must = must(is_valid, of.is_empty() && at.is_empty());
        let result = match stream {
            Some((stream, _)) => stream.transpose_into(source, target),
            None => handle.transpose_into(source, target),
        };
        check(result, must)?;
        if !of.is_empty() {
            let values = of.read(from).reversed_axes();
            at.write(to, &if run_kernels { values } else { values.mapv(|_| UNKNOWN) });
        }
        Some(())
    }

    fn gemm(&mut self, stream: Option<&(Stream, usize)>, call: &Call) -> Option<()> {
        let &Call::Gemm { device, a: (a, of_a), b: (b, of_b), c: (c, of_c), transposed, scale, workspace, .. } = call
        else {
            return None;
        };
        let (handle, run_kernels) = (self.devices[device], self.run_kernels);
        let (c, [a, b]) = self.distinct(c, [a, b])?;
        let is_within = of_c.is_within(c);
        let old = if is_within { of_c.read(c) } else { Array2::default((0, 0)) };
        let target = check(c.buffer.view_mut().as_matrix(of_c.layout()), must(is_within, false))?;
        let left = check(a.buffer.view().as_matrix(of_a.layout()), must(of_a.is_within(a), false))?;
        let right = check(b.buffer.view().as_matrix(of_b.layout()), must(of_b.is_within(b), false))?;
        let [alpha, beta] = scale.map(f32::from);
        let turn = |matrix: Array2<f32>, turns: bool| if turns { matrix.reversed_axes() } else { matrix };
        let (x, y) = (turn(of_a.read(a), transposed[0]), turn(of_b.read(b), transposed[1]));
        if [&x, &y, &old].into_iter().flatten().any(|element| element.abs() > LARGEST) {
            return None;
        }
        let agree = x.ncols() == y.nrows() && (x.nrows(), y.ncols()) == (of_c.rows, of_c.cols);
        let one_device = [a.device, b.device, c.device].into_iter().all(|number| number == device)
            && stream.is_none_or(|&(_, number)| number == device);
        let ops = transposed.map(|transposed| if transposed { Op::T } else { Op::N });
        let mut space = check(handle.alloc::<f32>(workspace.unwrap_or(0)), Must::Succeed)?;
        let mut gemm = handle.gemm(left, right).op(ops[0], ops[1]).alpha(alpha).beta(beta);
        if let Some((stream, _)) = stream {
            gemm = gemm.stream(stream);
        }
        if workspace.is_some() {
            gemm = gemm.workspace(&mut space);
        }
        check(gemm.into(target), must(agree && one_device, agree && of_c.is_empty()))?;
        let result = x.dot(&y) * alpha + old * beta;
        of_c.write(c, &if run_kernels { result } else { result.mapv(|_| UNKNOWN) });
        Some(())
    }

    fn grouped(&mut self, stream: Option<&(Stream, usize)>, call: &Call) -> Option<()> {
        let &Call::Grouped { device, ref groups, factors, c: (c, of_c), scale, .. } = call else { return None };
        let (handle, run_kernels) = (self.devices[device], self.run_kernels);
        let &Groups { n, k, transposed, ref sizes, .. } = groups;
        let (c, factors) = match factors {
            Some((number, window)) => {
                let (c, [owned]) = self.distinct(c, [number])?;
                (c, Some((owned, window)))
            }
            None => (self.distinct(c, [])?.0, None),
        };
        let is_within = of_c.is_within(c);
        let target = check(c.buffer.view_mut().as_matrix(of_c.layout()), must(is_within, false))?;
        let factors = match factors {
            Some((owned, window)) => {
                let view = check(owned.buffer.slice(window.range()), must(window.is_within(owned), false))?;
                Some((view, owned.device, &owned.elements[window.range()]))
            }
            None => None,
        };
        let (m, count, old) = (groups.rows(), sizes.len(), of_c.read_elements(&c.elements));
        let given = factors.iter().flat_map(|(.., elements)| *elements);
        if old.iter().chain(given).any(|element| element.abs() > LARGEST) {
            return None;
        }
        let [of_a, of_b] = groups.elements();
        let upload = |elements: &[i8]| {
            let elements: Vec<_> = elements.iter().map(|&x| bf16::from_f32(f32::from(x))).collect();
            check(handle.upload(&elements), Must::Succeed)
        };
        let (a, b) = (upload(&of_a)?, upload(&of_b)?);
        let ends = check(handle.upload(&groups.ends()), Must::Succeed)?;
        let b_shape = if transposed { [count, n, k] } else { [count, k, n] };
        let left = check(a.view().as_tensor(&[m, k]), Must::Succeed)?;
        let right = check(b.view().as_tensor(&b_shape), Must::Succeed)?;
        let [alpha, beta] = scale.map(f32::from);
        let mut gemm = handle.grouped_gemm(left, right, &ends).alpha(alpha).beta(beta);
        if transposed {
            gemm = gemm.transpose_b();
        }
        if let Some((stream, _)) = stream {
            gemm = gemm.stream(stream);
        }
        if let Some((view, ..)) = factors {
            gemm = gemm.row_scales(view);
        }
        let agree = (of_c.rows, of_c.cols) == (m, n) && factors.is_none_or(|(.., elements)| elements.len() == m);
        let one_device = c.device == device
            && factors.is_none_or(|(_, number, _)| number == device)
            && stream.is_none_or(|&(_, number)| number == device);
        check(gemm.into(target), must(agree && one_device, of_c.is_empty() || m == 0 || n == 0))?;
        if !agree {
            return Some(());
        }
        let group_of: Vec<usize> = (0..count).flat_map(|g| vec![g; sizes[g] as usize]).collect();
        let product = Array2::from_shape_fn((m, n), |(row, col)| {
            let at = |step: usize| if transposed { col * k + step } else { step * n + col };
            let b = &of_b[group_of[row] * k * n..];
            let sum: i32 = (0..k).map(|step| i32::from(of_a[row * k + step]) * i32::from(b[at(step)])).sum();
            sum as f32 * factors.map_or(1.0, |(.., elements)| elements[row])
        });
        let result = product * alpha + old * beta;
        of_c.write(c, &if run_kernels { result } else { result.mapv(|_| UNKNOWN) });
        Some(())
    }

    /// Compares every buffer that is left; then drops everything in an order that `order` chooses.
    pub(crate) fn finish(mut self, mut order: u64) -> BTreeMap<Kind, Tally> {
        for owned in self.buffers.iter().flatten() {
            compare(&check(owned.buffer.download(), Must::Succeed).expect("it succeeded"), &owned.elements);
        }
        while order > 0 {
            let drawn = (order / 4) as usize;
            match order % 4 {
                0 => drop(self.buffers.get_mut(drawn % 16).map(Option::take)),
                1 => drop(self.streams.get_mut(drawn % 8).map(Option::take)),
                2 => drop(self.transfers.get_mut(drawn % 8).map(Option::take)),
                _ => drop(self.events.get_mut(drawn % 4).map(Option::take)),
            }
            order /= 64;
        }
        self.tallies
    }
}
