//! Memory that ticks use again.

/// Bytes of an allocation up to which glibc keeps memory for the next ones: more than any list of
/// a tick with thousands of bodies. On a system of 64 bits it can be taught up to 32 MiB.
#[cfg(not(target_family = "wasm"))]
const KEPT: usize = 8 << 20;

/// Lets glibc keep what one tick frees for the next. It maps large lists one by one, returns the
/// free end of its heap, and gets both anew in each tick of a heap that falls: a fifteenth of its
/// longest ticks was spent on fresh pages. An allocation that was mapped and is freed teaches it
/// to keep as much, and twice as much at the end of its heap (mallopt(3), `M_MMAP_THRESHOLD`),
/// although nobody has touched its pages. This holds for the whole process. With another allocator
/// it changes nothing.
pub(crate) fn keep_freed_memory() {
    // The memory of a WebAssembly module never shrinks: it would stay as large.
    #[cfg(not(target_family = "wasm"))]
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT)));
}
