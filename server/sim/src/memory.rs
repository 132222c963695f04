//! Memory that ticks use again.

/// Bytes of an allocation up to which the allocator serves the next ones without asking the
/// system: more than any list of a tick of thousands of bodies. The most that glibc can be taught
/// are 32 MiB.
#[cfg(not(target_family = "wasm"))]
const KEPT: usize = 8 << 20;

/// Lets glibc keep what one tick frees for the next. It maps large lists one by one, returns the
/// free end of its heap, and gets both anew in each tick of a heap that falls: a fifteenth of its
/// longest ticks was spent on fresh pages. An allocation that was mapped and is freed teaches it
/// to keep as much (mallopt(3), `M_MMAP_THRESHOLD`), although nobody has touched its pages. Other
/// allocators keep what they have by themselves.
pub(crate) fn keep_freed_memory() {
    // There memory never shrinks: it would stay as large.
    #[cfg(not(target_family = "wasm"))]
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT)));
}
