//! The encoding of protocol buffers: as much of it as one writer needs.
//!
//! Takes field numbers and values; gives bytes (protobuf.dev/programming-guides/encoding). Knows no message.

/// A message under construction.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// `uint64`, `uint32`, `bool`, enums; `int64` as its two's complement.
    pub fn varint(&mut self, field: u32, value: u64) {
        self.key(field, 0);
        self.raw(value);
    }

    pub fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
    }

    pub fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    /// `bytes`, `string`.
    pub fn block(&mut self, field: u32, value: &[u8]) {
        self.key(field, 2);
        self.raw(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    pub fn text(&mut self, field: u32, value: &str) {
        self.block(field, value.as_bytes());
    }

    /// A message inside this one.
    pub fn message(&mut self, field: u32, fill: impl FnOnce(&mut Message)) {
        self.key(field, 2);
        // Most are shorter than 128 bytes: their length is one byte, already in place.
        let length_at = self.0.len();
        self.0.push(0);
        fill(self);
        let length = self.0.len() - length_at - 1;
        if length < 128 {
            self.0[length_at] = length as u8;
            return;
        }
        let mut prefix = Message::default();
        prefix.raw(length as u64);
        self.0.splice(length_at..=length_at, prefix.0);
    }

    fn key(&mut self, field: u32, wire_type: u64) {
        self.raw(u64::from(field) << 3 | wire_type);
    }

    fn raw(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding's own description.
    #[test]
    fn published_examples() {
        let mut message = Message::default();
        message.varint(1, 150);
        assert_eq!(message.bytes(), [0x08, 0x96, 0x01]);
        message.clear();
        message.text(2, "testing");
        assert_eq!(message.bytes(), b"\x12\x07testing");
        message.clear();
        message.message(3, |inner| inner.varint(1, 150));
        assert_eq!(message.bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }

    #[test]
    fn long_messages_have_long_lengths() {
        let mut message = Message::default();
        message.message(1, |inner| inner.text(2, &"x".repeat(300)));
        let head = [0x0a, 0xaf, 0x02, 0x12, 0xac, 0x02, b'x'];
        assert_eq!(message.bytes()[..7], head);
        assert_eq!(message.bytes().len(), 306);
    }
}
