//! Well-known litmus tests, in the form of *`Dat3M`*.

/// Well-known tests: name, threads, condition, whether the model allows it, whether there is a race, and whether it
/// ends.
pub(super) const KNOWN: &[(&str, &str, bool, bool, bool)] = &[
    (
        "message passing, release and acquire",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.weak x, 1          | LC10: ;
         st.release.gpu y, 1   | ld.acquire.gpu r0, y;
                               | beq r0, 0, LC10;
                               | ld.weak r1, x;
         exists (P1:r1 == 0)",
        false,
        false,
        true,
    ),
    (
        "message passing, release of the block's scope to another block",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.weak x, 1          | ld.acquire.gpu r0, y;
         st.release.cta y, 1   | ld.weak r1, x;
         exists (P1:r0 == 1 /\\ P1:r1 == 0)",
        true,
        true,
        true,
    ),
    (
        "message passing, relaxed with fences",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.weak x, 1          | LC10: ;
         fence.acq_rel.gpu     | ld.relaxed.gpu r0, y;
         st.relaxed.gpu y, 1   | beq r0, 0, LC10;
                               | fence.acq_rel.gpu;
                               | ld.weak r1, x;
         exists (P1:r1 == 0)",
        false,
        false,
        true,
    ),
    (
        "message passing, relaxed without the reader's fence",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.weak x, 1          | LC10: ;
         fence.acq_rel.gpu     | ld.relaxed.gpu r0, y;
         st.relaxed.gpu y, 1   | beq r0, 0, LC10;
                               | ld.weak r1, x;
         exists (P1:r1 == 0)",
        true,
        true,
        true,
    ),
    (
        "store buffering with fences",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.relaxed.gpu x, 1   | st.relaxed.gpu y, 1;
         fence.sc.gpu          | fence.sc.gpu;
         ld.relaxed.gpu r0, y  | ld.relaxed.gpu r1, x;
         exists (P0:r0 == 0 /\\ P1:r1 == 0)",
        false,
        false,
        true,
    ),
    (
        "coherence of two reads",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.relaxed.gpu x, 1   | ld.relaxed.gpu r0, x;
                               | ld.relaxed.gpu r1, x;
         exists (P1:r0 == 1 /\\ P1:r1 == 0)",
        false,
        false,
        true,
    ),
    (
        "two sums",
        "P0@cta 0,gpu 0                 | P1@cta 1,gpu 0;
         atom.relaxed.gpu.add r0, x, 1  | red.relaxed.gpu.add x, 2;
         forall (x == 3 /\\ (P0:r0 == 0 \\/ P0:r0 == 2))",
        true,
        false,
        true,
    ),
    (
        "lock by exchanges",
        "P0@cta 0,gpu 0                    | P1@cta 1,gpu 0;
         LC00:                             | LC10:;
         atom.acquire.gpu.exch r0, m, 1    | atom.acquire.gpu.exch r0, m, 1;
         bne r0, 0, LC00                   | bne r0, 0, LC10;
         ld.weak r1, x                     | ld.weak r1, x;
         add r1, r1, 1                     | add r1, r1, 1;
         st.weak x, r1                     | st.weak x, r1;
         st.release.gpu m, 0               | st.release.gpu m, 0;
         forall (x == 2)",
        true,
        false,
        true,
    ),
    (
        "flag that is never set",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.relaxed.gpu x, 1   | LC10:;
                               | ld.relaxed.gpu r0, y;
                               | beq r0, 0, LC10;
         exists (P1:r0 == 1)",
        false,
        false,
        false,
    ),
    (
        "store buffering with a barrier",
        "P0@cta 0,gpu 0        | P1@cta 0,gpu 0;
         st.weak x, 1          | st.weak y, 1;
         bar.cta.sync 1        | bar.cta.sync 1;
         ld.weak r0, y         | ld.weak r1, x;
         forall (P0:r0 == 1 /\\ P1:r1 == 1)",
        true,
        false,
        true,
    ),
    (
        "barriers of two blocks",
        "P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.weak x, 1          | bar.cta.sync 1;
         bar.cta.sync 1        | ld.weak r0, x;
         exists (P1:r0 == 0)",
        true,
        true,
        true,
    ),
    (
        "barriers whose numbers differ",
        "{ x=0; P0:r2=1; P1:r2=2; }
         P0@cta 0,gpu 0        | P1@cta 0,gpu 0;
         st.weak x, 1          | bar.cta.sync 1, r2;
         bar.cta.sync 1, r2    | ld.weak r0, x;
         exists (P1:r0 == 0)",
        true,
        true,
        true,
    ),
    (
        "a producer that arrives and a consumer that waits",
        "P0@cta 0,gpu 0        | P1@cta 0,gpu 0;
         st.weak x, 1          | bar.cta.sync 1;
         bar.cta.arrive 1      | ld.weak r0, x;
         exists (P1:r0 == 0)",
        false,
        false,
        true,
    ),
    (
        "a consumer that arrives and a producer that waits",
        "P0@cta 0,gpu 0        | P1@cta 0,gpu 0;
         st.weak x, 1          | bar.cta.arrive 1;
         bar.cta.sync 1        | ld.weak r0, x;
         exists (P1:r0 == 0)",
        true,
        true,
        true,
    ),
    (
        "two barriers in opposite orders",
        "P0@cta 0,gpu 0        | P1@cta 0,gpu 0;
         bar.cta.sync 1        | bar.cta.sync 2;
         bar.cta.sync 2        | bar.cta.sync 1;
         exists (x == 0)",
        true,
        false,
        false,
    ),
    (
        "a barrier of three that two reach",
        "P0@cta 0,gpu 0        | P1@cta 0,gpu 0        | P2@cta 0,gpu 0;
         st.weak x, 1          | bar.cta.sync 1, 1, 3  | st.weak y, 1;
         bar.cta.sync 1, 1, 3  | ld.weak r0, x         |;
         exists (P1:r0 == 0)",
        false,
        false,
        false,
    ),
    (
        "message passing through another name of the data",
        "{ x=0; y=0; z @ generic aliases x; }
         P0@cta 0,gpu 0        | P1@cta 1,gpu 0;
         st.weak x, 1          | ld.acquire.gpu r0, y;
         fence.proxy.alias     | ld.weak r1, z;
         st.release.gpu y, 1   |;
         exists (P1:r0 == 1 /\\ P1:r1 == 0)",
        false,
        true,
        true,
    ),
    (
        "Vulkan: message passing in a workgroup",
        "P0@sg 0,wg 0,qf 0               | P1@sg 1,wg 0,qf 0;
         st.av.dv.sc0 x, 1               | ld.atom.acq.wg.sc0.semsc0 r0, y;
         st.atom.rel.wg.sc0.semsc0 y, 1  | ld.vis.dv.sc0 r1, x;
         filter (P1:r0 == 1)",
        true,
        false,
        true,
    ),
    (
        "Vulkan: message passing to another workgroup with fences of the workgroup",
        "P0@sg 0,wg 0,qf 0               | P1@sg 0,wg 1,qf 0;
         st.av.dv.sc0 x, 1               | ld.atom.dv.sc0 r0, y;
         membar.rel.wg.semsc0            | membar.acq.wg.semsc0;
         st.atom.dv.sc0 y, 1             | ld.vis.dv.sc0 r1, x;
         filter (P1:r0 == 1)",
        true,
        true,
        true,
    ),
    (
        "Vulkan: a relaxed exchange in a release sequence",
        "P0@sg 0,wg 0,qf 0               | P1@sg 0,wg 1,qf 0      | P2@sg 0,wg 2,qf 0;
         st.av.dv.sc0 x, 1               | rmw.atom.dv.sc0 r0, y, 2 | ld.atom.acq.dv.sc0.semsc0 r1, y;
         st.atom.rel.dv.sc0.semsc0 y, 1  |                        | ld.vis.dv.sc0 r2, x;
         filter (P1:r0 == 1 /\\ P2:r1 == 2)",
        true,
        false,
        true,
    ),
    (
        "Vulkan: atomic and ordinary accesses",
        "P0@sg 0,wg 0,qf 0               | P1@sg 0,wg 1,qf 0;
         st.atom.dv.sc0 x, 1             | ld.vis.dv.sc0 r0, x;
         exists (P1:r0 == 0)",
        true,
        true,
        true,
    ),
    (
        "Vulkan: a barrier with a memory order",
        "P0@sg 0,wg 0,qf 0               | P1@sg 1,wg 0,qf 0;
         ld.vis.dv.sc0 r0, x             | cbar.acq_rel.wg.semsc0 0;
         cbar.acq_rel.wg.semsc0 0        | st.av.dv.sc0 x, 1;
         exists (P0:r0 == 1)",
        false,
        false,
        true,
    ),
];
