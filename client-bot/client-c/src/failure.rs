use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The outcome of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObspStatus {
    /// The call succeeded.
    Ok,
    /// A pointer is null, a text is not UTF-8, or a value is out of range.
    InvalidArgument,
    /// The bytes are not the map or the game's data of the match, or the client has not joined.
    WrongMap,
    /// A defect of the library. Free the client.
    Panicked,
}

/// Why a call failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    status: ObspStatus,
    message: String,
}

impl Failure {
    pub(crate) fn invalid(message: impl ToString) -> Self {
        Self { status: ObspStatus::InvalidArgument, message: message.to_string() }
    }

    pub(crate) fn wrong_map(message: impl ToString) -> Self {
        Self { status: ObspStatus::WrongMap, message: message.to_string() }
    }
}

thread_local! {
    /// The text that [`obsp_last_error`] returns in this thread.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// The reason of the latest failed call in this thread; empty if no call has failed. The text is
/// valid until the next call in this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn obsp_last_error() -> *const c_char {
    LAST_ERROR.with_borrow(|text| text.as_ptr())
}

/// Runs `body`. Neither an error nor a panic reaches C. After either of them the result is
/// `otherwise`.
pub(crate) fn guard<T>(otherwise: T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    attempt(body).unwrap_or(otherwise)
}

/// Runs `body` as [`guard`] does, for functions that return a status.
pub(crate) fn guard_status(body: impl FnOnce() -> Result<(), Failure>) -> ObspStatus {
    attempt(body).err().unwrap_or(ObspStatus::Ok)
}

fn attempt<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, ObspStatus> {
    // A panic may leave a client half changed. Such a client is only safe to free, and the caller
    // is told so.
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(failure)) => failure,
        Err(_) => Failure {
            status: ObspStatus::Panicked,
            message: "a defect of the library: free this client, and please report it".to_owned(),
        },
    };
    let message = failure.message.replace('\0', " ");
    LAST_ERROR.set(CString::new(message).unwrap_or_default());
    Err(failure.status)
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    fn last_error() -> String {
        // SAFETY: the text is valid until the next failure in this thread.
        unsafe { CStr::from_ptr(obsp_last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn neither_errors_nor_panics_leave_a_call() {
        assert_eq!(last_error(), "");
        let refused = guard_status(|| Err(Failure::invalid("a \0 is in it")));
        assert_eq!((refused, last_error().as_str()), (ObspStatus::InvalidArgument, "a   is in it"));
        assert_eq!(guard(7, || panic!("deliberately")), 7);
        assert!(last_error().contains("defect"), "{}", last_error());
        assert_eq!(guard_status(|| Ok(())), ObspStatus::Ok);
    }
}
