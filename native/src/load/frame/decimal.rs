//! Numbers in text, as lengths and counts come.

/// Digits alone, at most 18 of them: no length is longer.
pub fn unsigned(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + u64::from(digit - b'0')))
}

/// The same with a sign; up to what 64 bits hold.
#[inline]
pub fn signed(text: &[u8]) -> Option<i64> {
    let (digits, sign) = text.strip_prefix(b"-").map_or((text, 1), |digits| (digits, -1));
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    // Nineteen digits may be too many: then the last step overflows. What is below zero reaches one further.
    digits.iter().try_fold(0i64, |sum, digit| {
        let value = i64::from(digit.wrapping_sub(b'0'));
        if value > 9 { None } else { sum.checked_mul(10)?.checked_add(sign * value) }
    })
}

/// Hexadecimal digits alone, at most 8 of them.
pub fn hexadecimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 8 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
