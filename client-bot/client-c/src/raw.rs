//! Checks the pointers of callers, as far as they can be checked.

use std::ffi::{CStr, c_char};
use std::slice;
use std::time::Duration;

use obsp_proto::Time;

use crate::failure::Failure;
use crate::handle::ObspClient;

/// A client's handle.
///
/// # Safety
/// Null, or from this library, not freed, and used by no other call at the same time.
pub(crate) unsafe fn client<'a>(client: *mut ObspClient) -> Result<&'a mut ObspClient, Failure> {
    // SAFETY: the caller's promise.
    unsafe { client.as_mut() }.ok_or_else(|| Failure::invalid("the client is null"))
}

/// The structure behind a pointer. Messages call it `name`.
///
/// # Safety
/// Null, or valid for reads while the call lasts.
pub(crate) unsafe fn structure<'a, T>(value: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's promise.
    unsafe { value.as_ref() }.ok_or_else(|| Failure::invalid(format!("{name} is null")))
}

/// Bytes; null stands for none if the length is 0.
///
/// # Safety
/// Null, or valid for reads of `length` bytes while the call lasts.
pub(crate) unsafe fn bytes<'a>(bytes: *const u8, length: usize) -> Result<&'a [u8], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    if bytes.is_null() || isize::try_from(length).is_err() {
        return Err(Failure::invalid(format!("there are no {length} bytes at {bytes:?}")));
    }
    // SAFETY: the caller's promise. The pointer is not null, and the length is no greater than an
    // object's can be.
    Ok(unsafe { slice::from_raw_parts(bytes, length) })
}

/// A text that ends with a zero byte. Messages call it `name`.
///
/// # Safety
/// Null, or valid for reads up to a zero byte while the call lasts.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::invalid(format!("{name} is null")));
    }
    // SAFETY: the caller's promise; not null.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|error| Failure::invalid(format!("{name} is not UTF-8: {error}")))
}

/// Writes one result.
///
/// # Safety
/// Null, or valid and aligned for a write.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Failure> {
    if place.is_null() {
        return Err(Failure::invalid("the place for the result is null"));
    }
    // SAFETY: the caller's promise. The pointer is not null. The old value is not dropped: C has no
    // drop.
    unsafe { place.write(value) };
    Ok(())
}

/// Writes as many of the results as there is room for, and returns the number of all results.
///
/// # Safety
/// Null if `capacity` is 0, or valid and aligned for writes of that many.
pub(crate) unsafe fn put_all<T>(
    places: *mut T,
    capacity: usize,
    values: impl Iterator<Item = T>,
) -> Result<usize, Failure> {
    if places.is_null() && capacity > 0 {
        return Err(Failure::invalid("the place for the results is null"));
    }
    let mut count = 0;
    for value in values {
        if count < capacity {
            // SAFETY: the caller's promise, for an index below the capacity.
            unsafe { places.add(count).write(value) };
        }
        count += 1;
    }
    Ok(count)
}

/// A moment in seconds. A negative number, NaN, and a number beyond all durations count as 0.
pub(crate) fn time(now: f64) -> Time {
    Time::since_start(Duration::try_from_secs_f64(now).unwrap_or_default())
}

/// A text in an array of fixed size, cut between two characters, with a zero byte at its end.
pub(crate) fn fixed<const SIZE: usize>(text: &str) -> [c_char; SIZE] {
    let mut end = text.len().min(SIZE - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut array = [0; SIZE];
    for (place, byte) in array.iter_mut().zip(&text.as_bytes()[..end]) {
        *place = *byte as c_char;
    }
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_is_cut_between_characters() {
        let read = |array: [c_char; 6]| array.map(|c| c as u8);
        assert_eq!(&read(fixed("héllo")), "héll\0".as_bytes());
        assert_eq!(&read(fixed("four\u{e9}")), b"four\0\0");
        assert_eq!(&read(fixed("")), &[0; 6]);
    }

    #[test]
    fn pointers_that_cannot_be_used_are_refused() {
        // SAFETY: null, or of length 0.
        unsafe {
            assert!(client(std::ptr::null_mut()).is_err());
            assert!(bytes(std::ptr::null(), 1).is_err());
            assert!(bytes(std::ptr::dangling(), usize::MAX).is_err());
            assert!(bytes(std::ptr::null(), 0).unwrap().is_empty());
            assert!(text(std::ptr::null(), "name").is_err());
            assert!(put(std::ptr::null_mut(), 1_u8).is_err());
            assert!(put_all(std::ptr::null_mut(), 1, [1_u8].into_iter()).is_err());
            assert_eq!(put_all(std::ptr::null_mut(), 0, [1_u8, 2].into_iter()).unwrap(), 2);
        }
    }

    #[test]
    fn no_time_is_out_of_range() {
        assert_eq!(time(1.5).elapsed(), Duration::from_millis(1500));
        for strange in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(time(strange), Time::ZERO);
        }
    }
}
