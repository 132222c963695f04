//! Recordings: whatever comes is refused, or read up to where it is damaged. A file that is
//! read costs no more than it holds, and the body of a frame is safe to read even if its hash
//! was made by somebody who means harm.
#![no_main]

use libfuzzer_sys::fuzz_target;
use obsp_recording::Recording;

fuzz_target!(|bytes: &[u8]| {
    obsp_recording::read_as_bodies(bytes);
    let Ok(recording) = Recording::read("the recording".as_ref(), bytes) else { return };
    for number in 0..recording.keyframes().len() {
        let _ = recording.keyframe(number);
        if let Ok(ticks) = recording.ticks_after(number) {
            let read = ticks.filter(Result::is_ok).count() as u64;
            assert!(read <= recording.ticks(), "there are {} ticks", recording.ticks());
        }
    }
});
