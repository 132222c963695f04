//! The encodings of certificate files.

/// The bytes in base64 (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let word = |chunk: &[u8]| {
        let bits = chunk.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
        let bits = bits << (8 * (3 - chunk.len()));
        let digit = |n: usize| DIGITS[(bits >> (18 - 6 * n) & 63) as usize].into();
        (0..4).map(move |n| if n > chunk.len() { '=' } else { digit(n) }).collect::<String>()
    };
    bytes.chunks(3).map(word).collect()
}

/// The bytes in PEM (RFC 7468).
pub fn pem(label: &str, bytes: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", base64(bytes))
}
