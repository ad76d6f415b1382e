//! Vector accesses at addresses that are not a multiple of their size.

use crate::case::{Bench, Case, Group};
use simt::async_copy::{cp_async, cp_async_commit, cp_async_wait_all};
use simt::element::Vec4;
use simt::prelude::*;
use simt::shared::{SharedArray, SharedTile};
use simulator::Kind;
use warpwright_tests::sim::{Buffer, Grid};

pub(crate) const GROUP: Group = Group {
    file: file!(),
    text: include_str!("alignment.rs"),
    cases: &[
        Case::new("16-byte access to global memory, off by one element", Kind::Misaligned, shifted),
        Case::new("16-byte access to rows whose pitch is not a multiple of 4", Kind::Misaligned, pitch),
        Case::new("16-byte access to a padded shared tile", Kind::Misaligned, padded),
        Case::new("16-byte asynchronous copy, off by one element", Kind::Misaligned, copied),
        Case::new("4-byte access to text, off by one character", Kind::Misaligned, text),
    ],
};

fn ramp(n: u32) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

/// y = elements 1 to 128 of x, four at a time.
#[kernel(block = 32)]
fn shifted_faulty(x: VecRef<f32>, y: VecMut<f32>) {
    let i = 4 * index_1d();
    y.set_vec4(i, x.get_vec4(i + 1)); // FAULT
}

#[kernel(block = 32)]
fn shifted_fixed(x: VecRef<f32>, y: VecMut<f32>) {
    let i = 4 * index_1d();
    y.set_vec4(i, Vec4::new([1, 2, 3, 4].map(|k| x.get(i + k))));
}

fn shifted(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(132)), Buffer::unwritten(128));
    bench.launch((shifted_faulty, shifted_fixed), Grid::line(1, 32), (&x, &mut y));
    y.to_vec() == ramp(132)[1..129]
}

/// The first 12 columns of a matrix.
#[kernel(block = (3, 8))]
fn pitch_faulty(a: MatRef<f32>, b: MatMut<f32>) {
    let (row, col) = (thread_idx_y(), 4 * thread_idx_x());
    b.set_vec4(row, col, a.get_vec4(row, col)); // FAULT: rows are 13 elements apart
}

#[kernel(block = (3, 8))]
fn pitch_fixed(a: MatRef<f32>, b: MatMut<f32>) {
    let (row, col) = (thread_idx_y(), 4 * thread_idx_x());
    b.set_vec4(row, col, Vec4::new([0, 1, 2, 3].map(|k| a.get(row, col + k))));
}

fn pitch(bench: &mut Bench) -> bool {
    let (a, mut b) = (Buffer::new(&ramp(8 * 13)), Buffer::unwritten(8 * 12));
    let args = (a.matrix_ld(8, 12, 13), b.matrix_mut(8, 12));
    bench.launch((pitch_faulty, pitch_fixed), Grid::new([1; 3], [3, 8, 1]), args);
    b.to_vec() == (0..8 * 12).map(|i| ramp(8 * 13)[i / 12 * 13 + i % 12]).collect::<Vec<_>>()
}

#[repr(C)]
#[derive(Shared)]
struct Padded<const COLS: usize> {
    tile: SharedTile<f32, 8, COLS>,
}

/// Transposes 8 × 32 elements. Rows of 33 words avoid bank conflicts, but are misaligned.
#[kernel(block = (8, 8))]
fn padded_faulty(#[shared] shared: &Padded<33>, a: MatRef<f32>, b: MatMut<f32>) {
    let (row, quad) = (thread_idx_y(), thread_idx_x());
    shared.tile.set_vec4(row, 4 * quad, a.get_vec4(row, 4 * quad)); // FAULT
    sync_threads();
    (0..4).for_each(|k| b.set(4 * quad + k, row, shared.tile.get(row, 4 * quad + k)));
}

#[kernel(block = (8, 8))]
fn padded_fixed(#[shared] shared: &Padded<36>, a: MatRef<f32>, b: MatMut<f32>) {
    let (row, quad) = (thread_idx_y(), thread_idx_x());
    shared.tile.set_vec4(row, 4 * quad, a.get_vec4(row, 4 * quad));
    sync_threads();
    (0..4).for_each(|k| b.set(4 * quad + k, row, shared.tile.get(row, 4 * quad + k)));
}

fn padded(bench: &mut Bench) -> bool {
    let (a, mut b) = (Buffer::new(&ramp(256)), Buffer::unwritten(256));
    let args = (a.matrix(8, 32), b.matrix_mut(32, 8));
    bench.launch((padded_faulty, padded_fixed), Grid::new([1; 3], [8, 8, 1]), args);
    b.to_vec() == (0..256).map(|i| ramp(256)[i % 8 * 32 + i / 8]).collect::<Vec<_>>()
}

#[repr(C)]
#[derive(Shared)]
struct Line {
    words: SharedArray<f32, 128>,
}

/// y = elements 1 to 128 of x in reverse order, through shared memory.
#[kernel(block = 32)]
fn copied_faulty(#[shared] line: &Line, x: VecRef<f32>, y: VecMut<f32>) {
    let t = thread_idx_x();
    cp_async(line.words.slot::<4>(4 * t), x.slot(4 * t as usize + 1)); // FAULT
    cp_async_commit();
    cp_async_wait_all();
    sync_threads();
    (0..4).for_each(|k| y.set((4 * t + k) as usize, line.words.get(127 - 4 * t - k)));
}

#[kernel(block = 32)]
fn copied_fixed(#[shared] line: &Line, x: VecRef<f32>, y: VecMut<f32>) {
    let t = thread_idx_x();
    (0..4).for_each(|k| cp_async(line.words.slot::<1>(4 * t + k), x.slot((4 * t + k) as usize + 1)));
    cp_async_commit();
    cp_async_wait_all();
    sync_threads();
    (0..4).for_each(|k| y.set((4 * t + k) as usize, line.words.get(127 - 4 * t - k)));
}

fn copied(bench: &mut Bench) -> bool {
    let (x, mut y) = (Buffer::new(&ramp(132)), Buffer::unwritten(128));
    bench.launch((copied_faulty, copied_fixed), Grid::line(1, 32), (&x, &mut y));
    y.to_vec() == (1..=128).rev().map(|i| i as f32).collect::<Vec<_>>()
}

/// Counts the lines of a text: newlines after its first character.
#[kernel(block = 8)]
fn text_faulty(text: VecRef<u8>, lines: VecMut<u32>) {
    let four = text.get_vec::<4>(4 * index_1d() + 1); // FAULT
    let newlines = four.lanes.iter().map(|&byte| u32::from(byte == b'\n')).sum();
    lines.atomic(0).fetch_add(newlines, Order::Relaxed, Scope::Device);
}

#[kernel(block = 8)]
fn text_fixed(text: VecRef<u8>, lines: VecMut<u32>) {
    let first = 4 * index_1d() + 1;
    let newlines = (first..first + 4).map(|i| u32::from(text.get(i) == b'\n')).sum();
    lines.atomic(0).fetch_add(newlines, Order::Relaxed, Scope::Device);
}

fn text(bench: &mut Bench) -> bool {
    let (x, mut lines) = (Buffer::new(b"\none\ntwo\nthree\nfour\nfive\nsix\nseven\n"), Buffer::zeroed(1));
    bench.launch((text_faulty, text_fixed), Grid::line(1, 8), (&x, &mut lines));
    lines.to_vec() == [6]
}
