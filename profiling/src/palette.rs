//! Which colour a codelet or a state has, in every export and every picture.
//!
//! Takes names; gives sRGB. The colours are Paul Tol's `muted` scheme (SRON/EPS/TN/09-002, issue 3.2), which people with
//! the common colour-vision deficiencies can tell apart; the four kernels have the pairs that differ most. The codelets of
//! solves, which never run beside the others, have his `light` scheme; those of the rank and the null space, which run
//! after the factorization, his `bright` and `medium-contrast` ones.

use crate::trace::schema::ThreadState;
use std::fmt;

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Colour {
    /// Red, 0 to 255.
    pub red: u8,
    /// Green.
    pub green: u8,
    /// Blue.
    pub blue: u8,
}

/// As `#rrggbb`.
impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

impl Colour {
    /// From 0xRRGGBB.
    pub const fn new(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Colour { red, green, blue }
    }

    /// Half way to white.
    pub fn lighter(self) -> Self {
        let half = |c: u8| c / 2 + 128;
        Colour {
            red: half(self.red),
            green: half(self.green),
            blue: half(self.blue),
        }
    }

    /// Whether white text can be read on it better than black: by its relative luminance (WCAG 2).
    pub fn is_dark(self) -> bool {
        let linear = |c: u8| (f64::from(c) / 255.0).powf(2.2);
        let (red, green, blue) = (linear(self.red), linear(self.green), linear(self.blue));
        0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179
    }
}

/// Colours of codelets by name.
pub const CODELETS: &[(&str, Colour)] = &[
    ("geqrt", Colour::new(0x88_22_55)),
    ("gemqrt", Colour::new(0x88_CC_EE)),
    ("tpqrt", Colour::new(0xCC_66_77)),
    ("tpmqrt", Colour::new(0x33_22_88)),
    ("do_subtree", Colour::new(0xDD_CC_77)),
    ("init_front", Colour::new(0x11_77_33)),
    ("init_block", Colour::new(0x44_AA_99)),
    ("block_copy", Colour::new(0x99_99_33)),
    ("clean_front", Colour::new(0xAA_44_99)),
    ("clean_block", Colour::new(0xAA_44_99)),
    ("solve_begin", Colour::new(0x77_AA_DD)),
    ("apply_q_adjoint", Colour::new(0xEE_88_66)),
    ("solve_r", Colour::new(0xEE_DD_88)),
    ("apply_q", Colour::new(0xFF_AA_BB)),
    ("solve_r_adjoint", Colour::new(0x99_DD_FF)),
    ("solve_end", Colour::new(0x44_BB_99)),
    ("deflate", Colour::new(0xEE_66_77)),
    ("deflate_begin", Colour::new(0xCC_BB_44)),
    ("deflate_fill", Colour::new(0x22_88_33)),
    ("deflate_panel", Colour::new(0xAA_33_77)),
    ("deflate_update", Colour::new(0x66_99_CC)),
    ("deflate_collect", Colour::new(0x66_CC_EE)),
    ("deflate_end", Colour::new(0x99_77_00)),
    ("null_space", Colour::new(0xEE_99_AA)),
    ("null_solve", Colour::new(0xEE_CC_66)),
    ("null_qr", Colour::new(0x99_44_55)),
    ("null_update", Colour::new(0x00_44_88)),
];

/// For codelets that nobody has chosen one for.
pub const OTHER: Colour = Colour::new(0xBB_BB_BB);

/// The colour of a codelet.
pub fn codelet(name: &str) -> Colour {
    let found = CODELETS.iter().find(|(known, _)| *known == name);
    found.map_or(OTHER, |(_, colour)| *colour)
}

/// Colours for things that have none of their own, such as tree nodes: neighbours in this order differ most.
const SERIES: [Colour; 9] = [
    Colour::new(0x33_22_88),
    Colour::new(0xDD_CC_77),
    Colour::new(0x11_77_33),
    Colour::new(0x88_CC_EE),
    Colour::new(0xCC_66_77),
    Colour::new(0x44_AA_99),
    Colour::new(0x88_22_55),
    Colour::new(0x99_99_33),
    Colour::new(0xAA_44_99),
];

/// The colour of the k-th of several; they repeat.
pub fn series(k: usize) -> Colour {
    SERIES[k % SERIES.len()]
}

/// A thread in a task, where tasks are not told apart.
pub const EXECUTING: Colour = Colour::new(0x44_77_AA);

/// A thread in parts of another's task.
pub const HELPING: Colour = Colour::new(0x99_BB_DD);

/// The colour of what a thread did without a task: greys for nothing, warm for what it had to wait for.
pub fn state(state: ThreadState) -> Colour {
    Colour::new(match state {
        ThreadState::Scheduling => 0x77_77_77,
        ThreadState::Idle => 0xDD_DD_DD,
        ThreadState::Sleeping => 0xEE_EE_EE,
        ThreadState::Transferring => 0xEE_77_33,
        ThreadState::WindowFull => 0xEE_CC_66,
        ThreadState::MemoryFull => 0xCC_33_11,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_written_as_hexadecimal_and_told_apart() {
        assert_eq!(codelet("geqrt").to_string(), "#882255");
        assert_eq!(codelet("something else"), OTHER);
        for (k, (name, colour)) in CODELETS.iter().enumerate() {
            let same = CODELETS[k + 1..].iter().filter(|(_, c)| c == colour);
            let same: Vec<_> = same.map(|(name, _)| *name).collect();
            // One does the work of the other where fronts are cleaned by blocks.
            let twin = if *name == "clean_front" {
                vec!["clean_block"]
            } else {
                vec![]
            };
            assert_eq!(same, twin, "as {name}");
        }
        for (name, colour) in CODELETS {
            let own = CODELETS.iter().any(|(_, c)| *c == colour.lighter());
            assert!(!own, "{name}, lighter, is another's");
        }
        assert_eq!(Colour::new(0xFF_00_80).lighter(), Colour::new(0xFF_80_C0));
        assert!(codelet("tpmqrt").is_dark() && !codelet("gemqrt").is_dark());
    }
}
