//! Callers that break the contract as far as a library can notice.

use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

use obsp_client_c::actions::{obsp_client_action_button, obsp_client_actions};
use obsp_client_c::effects::obsp_client_next_effect;
use obsp_client_c::event_fields::obsp_client_event_fields;
use obsp_client_c::events::{ObspEvent, ObspEventKind, ObspId, obsp_client_poll_event};
use obsp_client_c::handle::{ObspIdentity, obsp_client_free, obsp_client_new, obsp_client_ticket};
use obsp_client_c::level::{
    obsp_client_map, obsp_client_map_bytes, obsp_client_map_triangles, obsp_client_model_hull,
    obsp_client_model_triangles, obsp_client_models,
};
use obsp_client_c::play::{
    ObspCommand, obsp_client_leave, obsp_client_next_tick_at, obsp_client_say, obsp_client_tick,
};
use obsp_client_c::values::{obsp_client_match_value, obsp_client_own_value, obsp_client_value};
use obsp_client_c::view::{
    obsp_client_entities, obsp_client_own_player, obsp_client_own_vehicle, obsp_client_players,
};
use obsp_client_c::wire::{
    ObspTransmit, ObspTransmitKind, obsp_client_handle_closed, obsp_client_handle_datagram,
    obsp_client_handle_map_stream, obsp_client_handle_stream, obsp_client_poll_transmit,
    obsp_client_use_map,
};
use obsp_client_c::{ObspClient, ObspStatus, obsp_last_error};

fn text(text: *const c_char) -> String {
    // SAFETY: the library ends all its texts with a zero byte.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

fn identity(name: &CStr) -> ObspIdentity {
    ObspIdentity {
        name: name.as_ptr(),
        token: null(),
        token_length: 0,
        ticket: null(),
        match_name: null(),
    }
}

fn client() -> *mut ObspClient {
    // SAFETY: the identity outlives the call.
    let client = unsafe { obsp_client_new(&identity(c"Ann"), 0.0) };
    assert!(!client.is_null(), "{}", text(obsp_last_error()));
    client
}

fn next_transmit(client: *mut ObspClient) -> Option<(ObspTransmitKind, u32, Vec<u8>)> {
    let mut transmit =
        ObspTransmit { kind: ObspTransmitKind::Finish, code: 0, bytes: null(), length: 0 };
    // SAFETY: a valid client and place; the bytes are valid until the next call.
    unsafe {
        obsp_client_poll_transmit(client, &mut transmit).then(|| {
            let bytes = match transmit.length {
                0 => Vec::new(),
                length => std::slice::from_raw_parts(transmit.bytes, length).to_owned(),
            };
            (transmit.kind, transmit.code, bytes)
        })
    }
}

fn next_event(client: *mut ObspClient) -> Option<ObspEvent> {
    let mut event = std::mem::MaybeUninit::uninit();
    // SAFETY: a valid client and place, which is written if the call returns true.
    unsafe { obsp_client_poll_event(client, event.as_mut_ptr()).then(|| event.assume_init()) }
}

#[test]
fn nulls_are_refused_everywhere() {
    let invalid = ObspStatus::InvalidArgument;
    let command = ObspCommand::default();
    // SAFETY: null is refused.
    unsafe {
        obsp_client_free(null_mut());
        assert!(obsp_client_new(null(), 0.0).is_null());
        assert!(obsp_client_new(&ObspIdentity { name: null(), ..identity(c"") }, 0.0).is_null());
        assert_eq!(obsp_client_handle_stream(null_mut(), null(), 0, 0.0), invalid);
        assert_eq!(obsp_client_leave(null_mut()), invalid);
        assert!(!obsp_client_tick(null_mut(), &command, 0.0));
        assert!(obsp_client_next_tick_at(null_mut()) < 0.0);
        assert_eq!(obsp_client_players(null_mut(), null_mut(), 0), 0);
        assert_eq!(text(obsp_last_error()), "the client is null");

        let client = client();
        assert_eq!(obsp_client_handle_stream(client, null(), 1, 0.0), invalid);
        assert_eq!(obsp_client_handle_datagram(client, null(), 1, 0.0), invalid);
        assert_eq!(obsp_client_handle_closed(client, null()), invalid);
        assert_eq!(obsp_client_say(client, null()), invalid);
        assert!(!obsp_client_tick(client, null(), 0.0));
        assert!(!obsp_client_poll_transmit(client, null_mut()));
        assert!(!obsp_client_own_player(client, 0.0, null_mut()));
        assert!(!obsp_client_own_vehicle(client, 0.0, null_mut()));
        assert_eq!(obsp_client_entities(client, f64::NAN, null_mut(), 0), 0);
        assert!(!obsp_client_ticket(client, null_mut()));
        let id = ObspId { slot: 65_535, generation: 1 };
        assert!(!obsp_client_value(client, 0.0, id, null(), null_mut()));
        assert_eq!(text(obsp_last_error()), "the name of the field is null");
        assert!(!obsp_client_match_value(client, c"holder".as_ptr(), null_mut()));
        assert!(!obsp_client_own_value(null_mut(), c"holder".as_ptr(), null_mut()));
        assert_eq!(obsp_client_actions(null_mut(), null_mut(), 0), 0);
        assert_eq!(obsp_client_action_button(client, null()), 0);
        assert_eq!(text(obsp_last_error()), "the name of the action is null");
        assert_eq!(obsp_client_event_fields(client, null(), null_mut(), 0), 0);
        assert_eq!(text(obsp_last_error()), "the event is null");
        assert!(!obsp_client_next_effect(null_mut(), null_mut()));
        obsp_client_free(client);
    }
}

/// Before the map is loaded, there is no level, and null is refused as everywhere.
#[test]
fn without_a_map_there_is_no_level() {
    // SAFETY: null is refused.
    unsafe {
        for client in [null_mut(), client()] {
            assert!(!obsp_client_map(client, null_mut()));
            assert_eq!(obsp_client_map_bytes(client, null_mut(), 0), 0);
            assert_eq!(obsp_client_map_triangles(client, null_mut(), 1), 0);
            assert_eq!(obsp_client_models(client, null_mut(), 1), 0);
            assert_eq!(obsp_client_model_hull(client, 0, 0, null_mut(), 0), 0);
            assert_eq!(obsp_client_model_triangles(client, 255, null_mut(), 0), 0);
            let expected =
                if client.is_null() { "the client is null" } else { "the map is not loaded" };
            assert!(text(obsp_last_error()).contains(expected), "{}", text(obsp_last_error()));
            obsp_client_free(client);
        }
    }
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    // SAFETY: all pointers are valid.
    unsafe {
        assert!(obsp_client_new(&identity(c"\x07"), 0.0).is_null());
        let strange = ObspIdentity { match_name: c"no match".as_ptr(), ..identity(c"Ann") };
        assert!(obsp_client_new(&strange, 0.0).is_null());
        assert!(text(obsp_last_error()).contains("name"), "{}", text(obsp_last_error()));
        let latin: Vec<c_char> = vec![0xe9_u8 as c_char, 0];
        let strange = ObspIdentity { name: latin.as_ptr(), ..identity(c"") };
        assert!(obsp_client_new(&strange, 0.0).is_null());
        assert!(text(obsp_last_error()).contains("UTF-8"), "{}", text(obsp_last_error()));

        let client = client();
        let command = ObspCommand { buttons: 1 << 20, ..ObspCommand::default() };
        assert!(!obsp_client_tick(client, &command, 0.0));
        assert!(text(obsp_last_error()).contains("0x100000"), "{}", text(obsp_last_error()));
        let long = CString::new("x".repeat(161)).unwrap();
        assert_eq!(obsp_client_say(client, long.as_ptr()), ObspStatus::InvalidArgument);
        for is_end in [true, false] {
            let map = [0xff; 8];
            let status = obsp_client_handle_map_stream(client, map.as_ptr(), 8, is_end, 0.0);
            assert_eq!(status, ObspStatus::WrongMap);
            assert_eq!(obsp_client_use_map(client, map.as_ptr(), 8, 0.0), ObspStatus::WrongMap);
        }
        obsp_client_free(client);
    }
}

#[test]
fn a_server_that_sends_garbage_is_left() {
    let client = client();
    let (kind, _, hello) = next_transmit(client).unwrap();
    assert_eq!(kind, ObspTransmitKind::Stream);
    assert!(hello.windows(3).any(|bytes| bytes == b"Ann"));
    assert_eq!(next_transmit(client), None);
    assert!(next_event(client).is_none());
    let garbage = [0xff; 40];
    // SAFETY: all pointers are valid.
    unsafe {
        obsp_client_handle_stream(client, garbage.as_ptr(), garbage.len(), 0.1);
    }
    let event = next_event(client).unwrap();
    assert_eq!(event.kind, ObspEventKind::Disconnected);
    assert!(event.is_final && text(event.text.as_ptr()).contains("protocol"));
    let (kind, code, reason) = next_transmit(client).unwrap();
    assert_eq!((kind, code), (ObspTransmitKind::Close, 2));
    assert!(!reason.is_empty());
    // SAFETY: freed once.
    unsafe { obsp_client_free(client) };
}

/// Nonsensical times in all functions that take one: nothing panics, and the results stay finite.
#[test]
fn odd_times_are_no_time_or_a_time() {
    let odd = [
        0.0,
        -0.0,
        5e-324,
        1e-308,
        1e-155,
        1e-30,
        -1.0,
        1e9,
        1e30,
        1e155,
        1e308,
        f64::MAX,
        -1e308,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    for first in odd {
        for then in odd {
            // SAFETY: all pointers are valid, and the places are large enough.
            unsafe {
                let client = obsp_client_new(&identity(c"Ann"), first);
                assert!(!client.is_null(), "{first}");
                let command = ObspCommand { forward: -128, pitch: i16::MIN, ..Default::default() };
                obsp_client_tick(client, &command, then);
                obsp_client_handle_stream(client, [7_u8; 3].as_ptr(), 3, then);
                obsp_client_handle_datagram(client, [7_u8; 3].as_ptr(), 3, first);
                obsp_client_use_map(client, [7_u8; 3].as_ptr(), 3, then);
                obsp_client_handle_map_stream(client, [7_u8; 3].as_ptr(), 3, true, first);
                let mut own = std::mem::MaybeUninit::uninit();
                assert!(!obsp_client_own_player(client, then, own.as_mut_ptr()));
                let mut vehicle = std::mem::MaybeUninit::uninit();
                assert!(!obsp_client_own_vehicle(client, then, vehicle.as_mut_ptr()));
                assert_eq!(obsp_client_entities(client, then, null_mut(), 0), 0);
                let id = ObspId { slot: u16::MAX, generation: u16::MAX };
                let mut value = 0;
                assert!(!obsp_client_value(client, then, id, c"x".as_ptr(), &mut value));
                assert!(obsp_client_next_tick_at(client).is_finite(), "{first}, {then}");
                while next_event(client).is_some() {}
                obsp_client_free(client);
            }
        }
    }
}
