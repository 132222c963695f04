//! Keeps freed memory for the next ticks.

/// Size in bytes of the allocations for which glibc keeps freed memory. No list of a tick with
/// thousands of bodies is larger. On 64-bit systems glibc accepts up to 32 MiB.
#[cfg(not(target_family = "wasm"))]
const KEPT: usize = 8 << 20;

/// Lets glibc keep the memory that one tick frees for the next one.
///
/// glibc maps large lists one by one, and returns the free end of its heap to the system. While
/// many bodies fall, each tick would get fresh pages for both. Getting them took a fifteenth of the
/// longest ticks. Freeing a mapped allocation raises glibc's limits: later allocations of up to its
/// size are kept, and twice that size at the end of the heap (mallopt(3), `M_MMAP_THRESHOLD`). Its
/// pages need not have been touched. The limits hold for the whole process. With another allocator
/// this changes nothing.
pub(crate) fn keep_freed_memory() {
    // The memory of a WebAssembly module never shrinks, so this allocation would enlarge it for
    // good.
    #[cfg(not(target_family = "wasm"))]
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT)));
}
