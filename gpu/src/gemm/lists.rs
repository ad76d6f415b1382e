//! Lists of kernels from tables of them.

/// The kernels of lists whose elements have a field `kernel`, and of lists of [`KernelInfo`](simt::KernelInfo)s after
/// `;`, as one list.
macro_rules! kernel_infos {
    ($($list:expr),* $(; $($infos:expr),+)?) => {{
        const COUNT: usize = 0 $(+ $list.len())* $($(+ $infos.len())+)?;
        const ALL: [Option<&simt::KernelInfo>; COUNT] = {
            let mut all = [None; COUNT];
            let mut next = 0;
            $(
                let mut i = 0;
                while i < $list.len() {
                    all[next] = Some($list[i].kernel.info());
                    (next, i) = (next + 1, i + 1);
                }
            )*
            $($(
                let mut i = 0;
                while i < $infos.len() {
                    all[next] = Some($infos[i]);
                    (next, i) = (next + 1, i + 1);
                }
            )+)?
            assert!(next == COUNT);
            all
        };
        const LIST: [&simt::KernelInfo; COUNT] = {
            let mut list = [ALL[0].unwrap(); COUNT];
            let mut i = 0;
            while i < COUNT {
                list[i] = ALL[i].unwrap();
                i += 1;
            }
            list
        };
        &LIST
    }};
}
pub(crate) use kernel_infos;
