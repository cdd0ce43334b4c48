//! The helper thread: it has empty chunks ready before they are asked for, and takes the full ones.
//!
//! Takes what the threads of a run hand on; gives it all at the end. Keeps chunks in memory as long as the budget lasts,
//! then writes the oldest to a file and uses them again. Knows no record.
//!
//! Nobody wakes it while a run goes on, since that would be a system call: it looks, and sleeps between looks, the longer
//! the fewer chunks were taken. While no thread records it waits without looking. A run that is said to be of moderate size has no
//! such thread (`Shared::prepare`): its threads take what was laid by, and bring the pages in themselves.

use super::Shared;
use super::pool::{Piece, Pool, touch};
use super::spill::{Place, SpillFile};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Between two looks.
const SHORTEST_SLEEP: Duration = Duration::from_micros(500);
const LONGEST_SLEEP: Duration = Duration::from_millis(4);

/// What the keeper has at the end.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// In memory, in the order in which they came.
    pub(crate) pieces: VecDeque<Piece>,
    /// In the file; all that any thread wrote before its pieces in memory.
    pub(crate) spilled: Vec<Spilled>,
    pub(crate) file: Option<SpillFile>,
    /// Why no more could be written to it.
    pub(crate) spill_error: Option<String>,
    /// The budget was used up, and there was no folder for a file.
    pub(crate) ran_out: bool,
}

/// A piece in the file, and when it was written, in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spilled {
    pub(crate) stream: u32,
    pub(crate) place: Place,
    pub(crate) bytes: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The body of the thread. `ahead` chunks are made ready at first.
pub(super) fn keep(shared: &Shared, ahead: usize) -> Kept {
    let mut keeper = Keeper::new(shared, ahead);
    loop {
        // Before the look: what was handed on before the stop is seen.
        let last = shared.stop.load(Ordering::Acquire);
        keeper.take();
        if last {
            return keeper.kept;
        }
        keeper.prepare();
        match shared.pool.attached.load(Ordering::Acquire) {
            0 => thread::park(),
            _ => thread::park_timeout(keeper.sleep),
        }
    }
}

pub(super) struct Keeper<'s> {
    shared: &'s Shared,
    pub(super) kept: Kept,
    /// How many chunks are to be ready.
    ahead: usize,
    /// Whether it has made chunks ready before.
    looked: bool,
    sleep: Duration,
}

impl<'s> Keeper<'s> {
    pub(super) fn new(shared: &'s Shared, ahead: usize) -> Self {
        Keeper {
            shared,
            kept: Kept::default(),
            ahead,
            looked: false,
            sleep: SHORTEST_SLEEP,
        }
    }

    fn pool(&self) -> &Pool {
        &self.shared.pool
    }

    fn ready(&self) -> usize {
        self.pool().open().ready.len()
    }

    /// Takes all full chunks.
    pub(super) fn take(&mut self) {
        let shared = self.shared;
        while let Some(piece) = shared.pool.open().full.pop() {
            self.kept.pieces.push_back(piece);
        }
    }

    /// Makes chunks ready, and more of them, sooner, the faster they go.
    pub(super) fn prepare(&mut self) {
        let shared = self.shared;
        let (pool, queues) = (&shared.pool, shared.pool.open());
        let lanes = pool.attached.load(Ordering::Relaxed).max(2);
        if std::mem::replace(&mut self.looked, true) {
            self.adapt(lanes);
        }
        while self.ready() < self.ahead {
            let laid_by = queues.reserve.pop();
            let fresh = laid_by.or_else(|| pool.allocate(pool.chunk_words));
            let Some(fresh) = fresh.map(touch).or_else(|| self.reuse()) else {
                break;
            };
            if queues.ready.push(fresh).is_err() {
                pool.give_back(pool.chunk_words);
            }
            self.take();
        }
        pool.lay_by(64 * lanes);
    }

    /// To how many were taken since the last look.
    fn adapt(&mut self, lanes: usize) {
        let left = self.ready();
        if left == 0 {
            let most = (32 * lanes).min(self.pool().open().ready.capacity());
            self.ahead = (2 * self.ahead).min(most.max(self.ahead));
        }
        if 2 * left < self.ahead {
            self.sleep = (self.sleep / 2).max(SHORTEST_SLEEP);
        } else if left >= self.ahead {
            self.sleep = (self.sleep * 2).min(LONGEST_SLEEP);
        }
    }

    /// A chunk whose words are now in the file; `None` where there is none or nothing can be written.
    fn reuse(&mut self) -> Option<Box<[u64]>> {
        let folder = self.shared.options.spill_dir.as_deref()?;
        while self.kept.spill_error.is_none()
            && let Some(piece) = self.kept.pieces.pop_front()
        {
            if let Err(error) = self.spill(&piece) {
                let message = format!("no records can be kept in {}: {error}", folder.display());
                self.kept.spill_error = Some(message);
                self.kept.pieces.push_front(piece);
                return None;
            }
            if piece.words.len() == self.pool().chunk_words {
                return Some(piece.words);
            }
            // The first chunk of a run that was expected to be small.
            self.pool().give_back(piece.words.len());
            if let Some(chunk) = self.pool().allocate(self.pool().chunk_words) {
                return Some(touch(chunk));
            }
        }
        None
    }

    fn spill(&mut self, piece: &Piece) -> io::Result<()> {
        let start = self.shared.clock.ticks();
        let file = match &mut self.kept.file {
            Some(file) => file,
            none => {
                let folder = self.shared.options.spill_dir.as_deref();
                let folder = folder.ok_or(io::ErrorKind::Unsupported)?;
                none.insert(SpillFile::create(folder)?)
            }
        };
        let words = &piece.words[..piece.used];
        let place = file.write(words)?;
        self.kept.spilled.push(Spilled {
            stream: piece.stream,
            place,
            bytes: size_of_val(words) as u64,
            start,
            end: self.shared.clock.ticks(),
        });
        Ok(())
    }
}

impl Shared {
    /// Starts the keeper, if there is none, with `ahead` chunks to be made ready at once.
    pub(super) fn start_keeper(self: &Arc<Self>, ahead: usize) {
        let mut keeper = self.keeper();
        if keeper.is_some() {
            return;
        }
        self.pool.open();
        let shared = self.clone();
        let thread = thread::Builder::new()
            .name("treeqr-recorder".to_owned())
            .stack_size(256 << 10)
            .spawn(move || keep(&shared, ahead.max(2)));
        // Without it there is what was laid by.
        *keeper = thread.ok();
    }

    /// A thread records where none did.
    pub(super) fn wake_keeper(&self) {
        if let Some(thread) = &*self.keeper() {
            thread.thread().unpark();
        }
    }

    /// Ends the keeper; what it has.
    pub(super) fn stop_keeper(&self) -> Kept {
        self.stop.store(true, Ordering::Release);
        let thread = self.keeper().take();
        let kept = thread.and_then(|thread| {
            thread.thread().unpark();
            thread.join().ok()
        });
        let mut kept = kept.unwrap_or_default();
        kept.ran_out = self.pool.is_used_up() && self.options.spill_dir.is_none();
        // Where the thread could not be started.
        if let Some(queues) = self.pool.queues() {
            kept.pieces.extend(std::iter::from_fn(|| queues.full.pop()));
        }
        kept
    }
}
