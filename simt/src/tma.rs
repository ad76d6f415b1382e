//! Tensor Memory Accelerator: asynchronous copies of boxes of a tensor between global and shared memory (compute
//! capability 9.0).
//!
//! The host describes the tensor and the extents of a box in a [`TensorMap`] or [`TensorMapMut`], a parameter that a
//! kernel takes by reference: `a: &TensorMap<f16>`. One thread starts a copy and passes the coordinates of the box's
//! first element, which may be negative. Elements of the box outside the tensor are loaded as zeros and not stored.
//!
//! - **Loads** complete on an [`mbarrier`](crate::mbarrier), which expects the bytes of the whole box, those outside
//!   the tensor included. Threads that have waited for its phase may read them. A *multicast* load copies one box to
//!   several blocks of a [cluster](crate::cluster).
//! - **Stores** read shared memory through the async proxy: each thread that wrote the data calls
//!   [`fence_proxy_async`](crate::sync::fence_proxy_async) before the barrier that precedes the store. The thread that
//!   started the stores commits them to a group with [`store_commit`], and waits until the buffer may be reused
//!   ([`store_wait_read`]) or until the data are in global memory ([`store_wait`]). It must wait for the former before
//!   it exits.
//!
//! In shared memory the rows of a box are packed, the first dimension contiguous; the box starts at a multiple of 128
//! bytes. A [`Swizzle`] permutes the 16-byte segments of each row.
//!
//! The host determines the size of the box, the kernel that of the slot. Where the two differ the simulator reports; a
//! GPU writes past the slot, within the block's shared memory, for which any bytes are valid.

use core::{marker::PhantomData, ops::Deref};

use crate::{
    arch,
    arg_type::{ArgPart, ArgType},
    async_copy::TmaSlot,
    element::Element,
    mbarrier::MbarrierSlot,
};

/// How the 16-byte segments of a box are permuted in shared memory: some bits of the address are replaced by their
/// exclusive or with the bits that count 128-byte lines, so that the segments of a column lie in different banks.
///
/// The first dimension of the box has at most the number of bytes in the variant's name. The permutation depends on the
/// address: it starts at the box's start if the destination is aligned to 256, 512 or 1024 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Swizzle {
    /// In order.
    #[default]
    None = 0,
    /// Address bit 4 with bit 7: rows of 32 bytes.
    B32 = 1,
    /// Address bits 4 and 5 with bits 7 and 8: rows of 64 bytes.
    B64 = 2,
    /// Address bits 4 to 6 with bits 7 to 9: rows of 128 bytes. Segment c of row r of the box is at c ^ (r % 8).
    B128 = 3,
}

impl Swizzle {
    /// The maximum number of bytes of the first dimension of a box; unlimited for [`Swizzle::None`].
    #[must_use]
    pub const fn span(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::B32 => Some(32),
            Self::B64 => Some(64),
            Self::B128 => Some(128),
        }
    }

    /// The swizzled offset of the byte at `offset`, counted from an address that is a multiple of 1024.
    ///
    /// ```
    /// use simt::tma::Swizzle;
    /// // Row 3, segment 2 of 128-byte rows.
    /// assert_eq!(Swizzle::B128.place(3 * 128 + 2 * 16), 3 * 128 + (2 ^ 3) * 16);
    /// ```
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub const fn place(self, offset: u32) -> u32 {
        offset ^ (((offset >> 7) & ((1 << self as u32) - 1)) << 4)
    }
}

/// A tensor in global memory and the extents of a box, for loads: a kernel's parameter `map: &TensorMap<T>`. The host's
/// argument is `tma` of a view.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct TensorMap<'a, T> {
    /// 128 bytes, encoded by the driver for a GPU, and by the simulator for itself.
    raw: [u64; 16],
    element: PhantomData<fn() -> &'a T>,
}

/// A [`TensorMap`] for loads and stores. A kernel's parameter `map: &TensorMapMut<T>`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct TensorMapMut<'a, T>(TensorMap<'a, T>);

impl<T: Element> TensorMap<'_, T> {
    /// This type as that of a kernel's argument.
    pub(crate) const ARG_TYPE: ArgType = ArgType {
        name: "TensorMap",
        size: size_of::<Self>(),
        align: align_of::<Self>(),
        parts: &[ArgPart::element(T::TYPE)],
    };

    /// The map with these bytes.
    ///
    /// # Safety
    /// They describe a tensor of `T` that is allocated on the machine that runs the kernel, and that only kernels
    /// write, for as long as a kernel uses the map. They were encoded by the driver for a GPU, by the simulator for the
    /// simulator.
    #[must_use]
    pub const unsafe fn from_raw(raw: [u64; 16]) -> Self {
        Self { raw, element: PhantomData }
    }

    #[cfg_attr(optimised, inline(always))]
    fn raw(&self) -> *const [u64; 16] {
        &raw const self.raw
    }
}

impl<T: Element> TensorMapMut<'_, T> {
    /// This type as that of a kernel's argument.
    pub(crate) const ARG_TYPE: ArgType = ArgType { name: "TensorMapMut", ..TensorMap::<T>::ARG_TYPE };

    /// The map with these bytes.
    ///
    /// # Safety
    /// As for [`TensorMap::from_raw`], and only kernels access the tensor's elements.
    #[must_use]
    pub const unsafe fn from_raw(raw: [u64; 16]) -> Self {
        Self(TensorMap { raw, element: PhantomData })
    }
}

impl<'a, T> Deref for TensorMapMut<'a, T> {
    type Target = TensorMap<'a, T>;

    #[cfg_attr(optimised, inline(always))]
    fn deref(&self) -> &TensorMap<'a, T> {
        &self.0
    }
}

/// Which lines of the L2 cache give way first to others (`createpolicy.fractional.L2::…`). It changes no result.
#[derive(Clone, Copy, Debug)]
pub struct CachePolicy(u64);

impl CachePolicy {
    /// These lines before others: for data that is read once, of which the cache has no use.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn evict_first() -> Self {
        Self(arch::tma::evict_first())
    }

    /// No line before others. A load without a policy is not slower: for operands of GEMM it was up to 15 % faster.
    #[cfg_attr(optimised, inline(always))]
    #[must_use]
    pub fn evict_normal() -> Self {
        Self(arch::tma::evict_normal())
    }
}

macro_rules! loads {
    ($($(#[$doc:meta])* $name:ident: $rank:literal, $load:ident($($more:ident: $type:ty $(= $inner:tt)?)?);)+) => {$(
        $(#[$doc])*
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn $name<T: Element>(
            dst: impl TmaSlot<T>,
            map: &TensorMap<T>,
            at: [i32; $rank],
            bar: MbarrierSlot<'_>,
            $($more: $type)?
        ) {
            // SAFETY: the map is as `from_raw` requires; destination and mbarrier are in the block's shared memory, or
            // null after a report. All blocks of a multicast have the same layout of shared memory. A box larger than
            // the destination stays in shared memory, for which any bytes are valid.
            unsafe {
                let bytes = dst.elements() * size_of::<T>();
                let (dst, bar) = (dst.address().cast(), bar.address());
                arch::tma::$load::<$rank>(dst, bytes, map.raw(), size_of::<T>(), at, bar $(, $more $(.$inner)?)?)
            }
        }
    )+};
}

loads! {
    /// Starts to load the box whose first element is at `at`, innermost dimension first, of a map of two dimensions
    /// (`cp.async.bulk.tensor.2d`). The slot has as many elements as the box. The bytes of the whole box count on
    /// `bar`.
    ///
    /// The destination must be aligned to 128 bytes, and no thread may access it until the phase of `bar` is complete.
    /// The address of the box along the innermost dimension must be a multiple of 16 bytes, outside the tensor as well.
    load_2d: 2, load();
    /// [`load_2d`] of a map of three dimensions (`cp.async.bulk.tensor.3d`).
    load_3d: 3, load();
    /// [`load_2d`] with a policy for the L2 cache (`cp.async.bulk.tensor.2d….L2::cache_hint`).
    load_2d_with_policy: 2, load_with_policy(policy: CachePolicy = 0);
    /// [`load_2d_with_policy`] of a map of three dimensions (`cp.async.bulk.tensor.3d….L2::cache_hint`).
    load_3d_with_policy: 3, load_with_policy(policy: CachePolicy = 0);
    /// [`load_2d`] to several blocks of the [cluster](crate::cluster): to the slot `dst` in each block whose bit is set
    /// in `mask`, bit r for rank r. The bytes of the whole box count on the mbarrier `bar` of each of them
    /// (`cp.async.bulk.tensor.2d….multicast::cluster`).
    ///
    /// Each of those blocks must have released the slot to this thread
    /// ([`arrive_at`](crate::mbarrier::Mbarriers::arrive_at)), and none may have exited. A bit beyond the cluster ends
    /// the launch with an error.
    load_2d_multicast: 2, load_multicast(mask: u16);
    /// [`load_2d_multicast`] of a map of three dimensions (`cp.async.bulk.tensor.3d….multicast::cluster`).
    load_3d_multicast: 3, load_multicast(mask: u16);
}

macro_rules! stores {
    ($($(#[$doc:meta])* $name:ident: $rank:literal;)+) => {$(
        $(#[$doc])*
        #[cfg_attr(optimised, inline(always))]
        #[track_caller]
        pub fn $name<T: Element>(map: &TensorMapMut<T>, at: [i32; $rank], src: impl TmaSlot<T>) {
            // SAFETY: the map is as `from_raw` requires; the source is in the block's shared memory, or null after a
            // report.
            unsafe {
                let bytes = src.elements() * size_of::<T>();
                arch::tma::store::<$rank>(map.raw(), size_of::<T>(), at, src.address().cast(), bytes)
            }
        }
    )+};
}

stores! {
    /// Starts to store a box to `at`, innermost dimension first, of a map of two dimensions
    /// (`cp.async.bulk.tensor.2d`). The slot has as many elements as the box.
    ///
    /// The source must be aligned to 128 bytes, and no thread may write it until a [`store_wait_read`] of this thread.
    store_2d: 2;
    /// [`store_2d`] to a map of three dimensions (`cp.async.bulk.tensor.3d`).
    store_3d: 3;
}

/// Commits the stores that this thread has started since the last commit to a group (`cp.async.bulk.commit_group`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn store_commit() {
    arch::tma::commit();
}

/// Waits until all but the `PENDING` latest groups of this thread have read their shared memory, which may then be
/// reused (`cp.async.bulk.wait_group.read`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn store_wait_read<const PENDING: u32>() {
    arch::tma::wait_group_read::<PENDING>();
}

/// Waits until all but the `PENDING` latest groups of this thread are complete, their data visible to this thread
/// (`cp.async.bulk.wait_group`).
#[cfg_attr(optimised, inline(always))]
#[track_caller]
pub fn store_wait<const PENDING: u32>() {
    arch::tma::wait_group::<PENDING>();
}

/// Prefetches the map to the cache from which TMA reads it (`prefetch.tensormap`).
#[cfg_attr(optimised, inline(always))]
pub fn prefetch<T: Element>(map: &TensorMap<T>) {
    arch::tma::prefetch(map.raw());
}

/// Prefetches to the L2 cache the box whose first element is at `at`, innermost dimension first, of a map of two
/// dimensions (`cp.async.bulk.prefetch.tensor.2d`). A load that follows reads what is in memory then: so a block may
/// prefetch what an earlier launch has still to write, before [`dependency_wait`](crate::grid::dependency_wait).
#[cfg_attr(optimised, inline(always))]
pub fn prefetch_2d<T: Element>(map: &TensorMap<T>, at: [i32; 2]) {
    arch::tma::prefetch_box(map.raw(), at);
}

/// [`prefetch_2d`] of a map of three dimensions (`cp.async.bulk.prefetch.tensor.3d`).
#[cfg_attr(optimised, inline(always))]
pub fn prefetch_3d<T: Element>(map: &TensorMap<T>, at: [i32; 3]) {
    arch::tma::prefetch_box(map.raw(), at);
}
