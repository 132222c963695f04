//! PEM as OpenSSL writes it, for tests.

/// Base64 in lines of 64 characters, between the lines of PEM.
pub(crate) fn pem(label: &str, bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = format!("-----BEGIN {label}-----\n");
    let mut digits = Vec::new();
    for chunk in bytes.chunks(3) {
        let mut three = [0; 3];
        three[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            digits.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    for line in digits.chunks(64) {
        text.extend(line);
        text.push('\n');
    }
    text + &format!("-----END {label}-----\n")
}
