//! The HTML of a report: head, columns, script and style in one file that needs nothing else.
//!
//! Takes the head and the bytes; gives the text. Knows no run.

use super::format::Report;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

/// The page. `blocks` are the columns of each run, and of the comparison.
pub(super) fn html(report: &Report, blocks: &[Vec<u8>]) -> String {
    // Only maps with keys that are no texts, and foreign types, can fail.
    let head = serde_json::to_string(report).expect("plain structures");
    let blocks: Vec<String> = blocks.iter().map(|bytes| base64(&gzip(bytes))).collect();
    let length: usize = blocks.iter().map(String::len).sum();
    let mut out =
        String::with_capacity(length + 2 * head.len() + SCRIPT.len() + STYLE.len() + 4096);
    out += "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
    out += &escaped(&report.title);
    out += "</title>\n<style>\n";
    out += STYLE;
    out += "</style>\n</head>\n<body>\n<noscript>This report draws itself by a script that it contains: ";
    out += "allow scripts for this file.</noscript>\n";
    out += "<script type=\"application/json\" id=\"report\">";
    // No text of a user can end the script, or begin a comment in it.
    out += &head.replace('<', "\\u003c");
    out += "</script>\n";
    for (k, block) in blocks.iter().enumerate() {
        out += &format!("<script type=\"text/plain\" id=\"data-{k}\">{block}</script>\n");
    }
    out += "<script>\n";
    out += SCRIPT;
    out += "</script>\n</body>\n</html>\n";
    out
}

/// As text of an element.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::new(7));
    // Memory does not fail as a file would.
    out.write_all(bytes).expect("written to memory");
    out.finish().expect("written to memory")
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |k: usize| u32::from(three.get(k).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k)) as usize & 63];
            out.push(if k <= three.len() { letter.into() } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_rfc() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
