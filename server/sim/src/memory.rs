//! Keeps freed memory for the next ticks.

/// Size in bytes of the allocations for which glibc keeps freed memory: more than any list of a
/// tick with thousands of bodies. On 64-bit systems glibc accepts up to 32 MiB.
#[cfg(not(target_family = "wasm"))]
const KEPT: usize = 8 << 20;

/// Lets glibc keep the memory that one tick frees for the next one.
///
/// glibc maps large lists one by one, and returns the free end of its heap to the system. While
/// many bodies fall, each tick then gets fresh pages for both. Getting them took a fifteenth of the
/// longest ticks. Freeing a mapped allocation raises the limits: glibc keeps later allocations of
/// up to its size, and twice as much at the end of its heap (mallopt(3), `M_MMAP_THRESHOLD`), even
/// if nobody has touched its pages. The limits hold for the whole process. With another allocator
/// this changes nothing.
pub(crate) fn keep_freed_memory() {
    // The memory of a WebAssembly module never shrinks: this allocation would enlarge it for good.
    #[cfg(not(target_family = "wasm"))]
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT)));
}
