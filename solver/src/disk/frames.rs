//! A stream in blocks, each followed by a checksum.
//!
//! Takes bytes; gives them back only after they were checked, so that nobody acts on a number from a damaged file. Knows not what
//! they mean.
//!
//! ```text
//!   block:  length (4 bytes, 1 to 1 MiB)   payload   xxHash64 of the stream up to here (8 bytes)
//!   end:    length 0                                 xxHash64 of the stream up to here
//! ```
//!
//! The hash runs on from block to block: one that is missing, doubled or in another place is found as a wrong bit is.

use super::error::FactorsFileError;
use std::hash::Hasher;
use std::io::{self, Read, Write};
use twox_hash::XxHash64;

/// The longest payload.
const BLOCK: usize = 1 << 20;

/// Cuts what is written into blocks.
pub(super) struct FrameWriter<'a> {
    out: &'a mut dyn Write,
    hash: XxHash64,
    block: Vec<u8>,
}

impl<'a> FrameWriter<'a> {
    pub fn new(out: &'a mut dyn Write) -> Self {
        FrameWriter {
            out,
            hash: XxHash64::with_seed(0),
            block: Vec::with_capacity(BLOCK),
        }
    }

    /// Written as it is, into the hash but into no block.
    pub fn plain(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.write(bytes);
        self.out.write_all(bytes)
    }

    pub fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let part = bytes.len().min(BLOCK - self.block.len());
            self.block.extend_from_slice(&bytes[..part]);
            bytes = &bytes[part..];
            if self.block.len() == BLOCK {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let block = std::mem::take(&mut self.block);
        self.plain(&(block.len() as u32).to_ne_bytes())?;
        self.plain(&block)?;
        self.block = block;
        self.block.clear();
        self.out.write_all(&self.hash.finish().to_ne_bytes())
    }

    /// The last block, and the end.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            self.flush()?;
        }
        self.flush()
    }
}

/// Puts the blocks together again.
pub(super) struct FrameReader<'a> {
    input: &'a mut dyn Read,
    hash: XxHash64,
    /// Bytes read.
    offset: u64,
    /// Checked.
    block: Vec<u8>,
    /// Of them, given out.
    taken: usize,
}

impl<'a> FrameReader<'a> {
    pub fn new(input: &'a mut dyn Read) -> Self {
        FrameReader {
            input,
            hash: XxHash64::with_seed(0),
            offset: 0,
            block: Vec::new(),
            taken: 0,
        }
    }

    /// What [`FrameWriter::plain`] wrote; not checked before the next block is.
    pub fn plain(&mut self, bytes: &mut [u8]) -> Result<(), FactorsFileError> {
        self.fill(bytes)?;
        self.hash.write(bytes);
        Ok(())
    }

    pub fn read(&mut self, mut to: &mut [u8]) -> Result<(), FactorsFileError> {
        while !to.is_empty() {
            if self.taken == self.block.len() && self.next_block()? == 0 {
                return Err(self.damaged("it ends before all is there"));
            }
            let part = to.len().min(self.block.len() - self.taken);
            let (now, later) = to.split_at_mut(part);
            now.copy_from_slice(&self.block[self.taken..][..part]);
            self.taken += part;
            to = later;
        }
        Ok(())
    }

    /// Whether all has been read: the end, and nothing behind it.
    pub fn finish(mut self) -> Result<(), FactorsFileError> {
        if self.taken < self.block.len() || self.next_block()? > 0 {
            return Err(self.damaged("there is more than there should be"));
        }
        match self.input.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.damaged("something follows the end")),
            Err(source) => Err(FactorsFileError::Read {
                offset: self.offset,
                source,
            }),
        }
    }

    pub fn damaged(&self, what: &'static str) -> FactorsFileError {
        FactorsFileError::Damaged {
            offset: self.offset,
            what,
        }
    }

    /// Reads a block and checks it; gives its length.
    fn next_block(&mut self) -> Result<usize, FactorsFileError> {
        let mut length = [0; 4];
        self.plain(&mut length)?;
        let length = u32::from_ne_bytes(length) as usize;
        if length > BLOCK {
            return Err(self.damaged("a block is too long"));
        }
        let mut block = std::mem::take(&mut self.block);
        block.resize(length, 0);
        self.plain(&mut block)?;
        (self.block, self.taken) = (block, 0);
        let mut sum = [0; 8];
        self.fill(&mut sum)?;
        if u64::from_ne_bytes(sum) != self.hash.finish() {
            return Err(self.damaged("a checksum is wrong"));
        }
        Ok(length)
    }

    fn fill(&mut self, to: &mut [u8]) -> Result<(), FactorsFileError> {
        let mut done = 0;
        while done < to.len() {
            match self.input.read(&mut to[done..]) {
                Ok(0) => {
                    return Err(FactorsFileError::Truncated {
                        offset: self.offset,
                    });
                }
                Ok(n) => {
                    done += n;
                    self.offset += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(FactorsFileError::Read {
                        offset: self.offset,
                        source,
                    });
                }
            }
        }
        Ok(())
    }
}
