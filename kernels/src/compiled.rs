//! The heavy inner loops, compiled once.
//!
//! A generic function is compiled anew in every crate that calls it, and these are compiled for every instruction set too. As
//! methods of a trait that has an implementation per scalar they are compiled here, and all others only call them. It knows no
//! kernel: each names its own loop.

use crate::block::{self, Factor, Op};
use crate::deflate::{self, bands};
use crate::front::small;
use crate::packed;
use crate::panel::{Heads, Panel};
use crate::stair::Stair;
use crate::view::{MatMut, MatRef};
use num_complex::Complex;

macro_rules! compiled {
    ($(fn $name:ident($($arg:ident: $type:ty),*) = $of:path;)*) => {
        /// What [`KernelScalar`](crate::KernelScalar) has compiled for it.
        pub trait Compiled: Sized {
            $(
                #[doc(hidden)]
                #[allow(clippy::too_many_arguments)] // as its loop
                fn $name($($arg: $type),*);
            )*
        }

        compiled!(@all $(fn $name($($arg: $type),*) = $of;)*);
    };
    (@all $($functions:tt)*) => {
        compiled!(@one f32, $($functions)*);
        compiled!(@one f64, $($functions)*);
        compiled!(@one Complex<f32>, $($functions)*);
        compiled!(@one Complex<f64>, $($functions)*);
    };
    (@one $t:ty, $(fn $name:ident($($arg:ident: $type:ty),*) = $of:path;)*) => {
        impl Compiled for $t {
            $(
                fn $name($($arg: $type),*) {
                    $of($($arg),*);
                }
            )*
        }
    };
}

compiled! {
    fn factor_panel(panel: &mut Panel<Self>, mode: Heads, h: usize, w: usize, t: MatMut<Self>) = Panel::factor_here;
    fn apply_block(op: Op, place: Factor, v: MatRef<Self>, rows: usize, t: MatRef<Self>, c1: Option<MatMut<Self>>, c2: MatMut<Self>, scratch: &mut [Self]) = block::apply_here;
    fn small_front(a: MatMut<Self>, n: usize, stair: Stair, tau: &mut [Self], scratch: &mut [Self]) = small::small_here;
    fn apply_bands(panel: &deflate::panel::Panel<Self>, left: MatRef<Self>, r0: usize, factors: &[Self], right: MatMut<Self>, scratch: &mut [Self]) = bands::apply_here;
    fn apply_one(v: &[Self], tau: Self, c: MatMut<Self>) = packed::apply_one_here;
}
