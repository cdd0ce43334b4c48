//! Words and numbers of a line, without copying the text.

use super::error::{Parsed, ReadErrorKind, fault};

/// A place in the text. Reads up to `end`, which lies behind a line end or at the end of the text.
pub(super) struct Cursor<'a> {
    pub text: &'a [u8],
    pub at: usize,
    pub end: usize,
}

/// Characters of a word that an error message quotes.
const QUOTED: usize = 40;

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a [u8], at: usize, end: usize) -> Self {
        Self { text, at, end }
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.text[..self.end].get(self.at).copied()
    }

    /// True when the word ends here: a blank, a line end or the end of the text.
    #[inline(always)]
    fn at_word_end(&self) -> bool {
        self.peek().is_none_or(|b| is_blank(b) || b == b'\n')
    }

    #[inline(always)]
    pub fn skip_blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    /// Goes to the first word of the next line that is neither blank nor a comment; false at the end.
    #[inline(always)]
    pub fn next_line(&mut self, is_comment: impl Fn(u8) -> bool) -> bool {
        loop {
            self.skip_blanks();
            match self.peek() {
                None => return false,
                Some(b'\n') => self.at += 1,
                Some(b) if is_comment(b) => self.skip_line(),
                Some(_) => return true,
            }
        }
    }

    /// Goes behind the next line end.
    pub fn skip_line(&mut self) {
        let rest = &self.text[self.at..self.end];
        let len = rest.iter().position(|&b| b == b'\n');
        self.at = len.map_or(self.end, |n| self.at + n + 1);
    }

    /// The next word of the line, empty at its end.
    pub fn word(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let start = self.at;
        while !self.at_word_end() {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// A non-negative integer below 2^63.
    #[inline(always)]
    pub fn index(&mut self, what: &'static str) -> Parsed<u64> {
        self.skip_blanks();
        let start = self.at;
        let mut value = 0u64;
        while let Some(digit) = self
            .peek()
            .map(|b| b.wrapping_sub(b'0'))
            .filter(|&d| d < 10)
        {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        // 18 digits can't overflow; longer words are looked at again.
        let digits = self.at - start;
        if digits == 0 || digits > 18 || !self.at_word_end() {
            return self.long_index(start, what);
        }
        Ok(value)
    }

    #[cold]
    fn long_index(&mut self, start: usize, what: &'static str) -> Parsed<u64> {
        self.at = start;
        let word = self.word();
        if word.is_empty() {
            return fault(start, ReadErrorKind::Missing { what });
        }
        // Only digits: `+1` is no index.
        let value = word.iter().try_fold(0u64, |v, b| {
            let digit = u64::from(b.is_ascii_digit().then(|| b - b'0')?);
            v.checked_mul(10)?.checked_add(digit)
        });
        match value.filter(|&v| v < 1 << 63) {
            Some(value) => Ok(value),
            None => fault(
                start,
                ReadErrorKind::NotAnIndex {
                    found: quote(word),
                    what,
                },
            ),
        }
    }

    /// A number, correctly rounded to a double; infinite or NaN where the text says so or where it is too large.
    #[inline(always)]
    pub fn number(&mut self) -> Parsed<f64> {
        self.skip_blanks();
        let start = self.at;
        if let Ok((value, len)) = fast_float2::parse_partial::<f64, _>(&self.text[start..self.end])
        {
            self.at += len;
            if self.at_word_end() {
                return Ok(value);
            }
        }
        self.fortran_number(start)
    }

    /// A number whose exponent is written with a D, as Fortran does; anything else is at fault.
    #[cold]
    fn fortran_number(&mut self, start: usize) -> Parsed<f64> {
        self.at = start;
        let word = self.word();
        if word.is_empty() {
            return fault(start, ReadErrorKind::Missing { what: "value" });
        }
        let is_d = |b: &u8| matches!(b, b'd' | b'D');
        if let Some(exponent) = word.iter().position(is_d) {
            let mut copy = word.to_vec();
            copy[exponent] = b'e';
            if let Ok(value) = fast_float2::parse::<f64, _>(&copy) {
                return Ok(value);
            }
        }
        fault(start, ReadErrorKind::NotANumber { found: quote(word) })
    }

    /// Goes behind the end of a line on which nothing more may stand.
    #[inline(always)]
    pub fn end_line(&mut self) -> Parsed<()> {
        self.skip_blanks();
        match self.peek() {
            None => Ok(()),
            Some(b'\n') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => {
                let at = self.at;
                let found = quote(self.word());
                fault(at, ReadErrorKind::TrailingText { found })
            }
        }
    }
}

/// A word as an error message shows it.
pub(super) fn quote(word: &[u8]) -> String {
    let shown = word[..word.len().min(QUOTED)].escape_ascii().to_string();
    if word.len() > QUOTED {
        shown + "..."
    } else {
        shown
    }
}
