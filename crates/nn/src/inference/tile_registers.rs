//! The tile registers of processors with AMX: whether they are here, their shapes, and the products of what they hold.
#![allow(unsafe_code)] // reason: inline assembly; each has its SAFETY note

use crate::cpu::simd::{BLOCK, Level, level};
use std::{arch::asm, arch::x86_64::__cpuid_count, ops::Range, sync::LazyLock};

/// Rows of a tile at the most.
pub(super) const ROWS: usize = 16;

/// Numbers of 16 bits, two in one: 16 rows of 32 inputs, or 16 pairs of inputs to 16 outputs.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Tile(pub(super) [[u32; 16]; 16]);

/// The high, middle and low parts of a tile's numbers.
pub(super) type Parts = [Tile; 3];

/// Sums of two tiles of rows by two of outputs: above left, above right, below left, below right.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Sums(pub(super) [[[f32; BLOCK]; ROWS]; 4]);

pub(super) const NOTHING: Parts = [Tile([[0; 16]; 16]); 3];

/// Whether processor and system have these instructions; the first call asks the system for them.
pub(super) fn are_here() -> bool {
    static HERE: LazyLock<bool> = LazyLock::new(|| {
        let (bf16, tile) = (1 << 22, 1 << 24);
        let has_tiles = || __cpuid_count(7, 0).edx & (bf16 | tile) == bf16 | tile;
        __cpuid_count(0, 0).eax >= 7 && has_tiles() && level() == Level::Avx512 && may_use()
    });
    *HERE
}

/// Asks Linux for the registers, for this process and its threads.
fn may_use() -> bool {
    let (arch_prctl, request_permission, tile_data) = (158_i64, 0x1023_u64, 18_u64);
    let answer: i64;
    // SAFETY: the call reads and writes no memory of the process, and says by its answer whether it did anything.
    unsafe {
        asm!("syscall", inlateout("rax") arch_prctl => answer, in("rdi") request_permission, in("rsi") tile_data,
            out("rcx") _, out("r11") _, options(nostack));
    }
    answer == 0
}

/// The shapes of the eight tile registers, as the processor reads them.
#[repr(C, align(64))]
struct Config {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes_of_row: [u16; 16],
    rows: [u8; 16],
}

/// Adds to sums the products of tiles, step by step. After the middle parts of weights come those `$then` bytes behind the
/// high ones; with `$last`, which uses them up, these are the low ones.
/// A tile is loaded as soon as its register is free and long before it is used.
macro_rules! add_products {
    ($rows:ident, $weights:ident, $sums:ident, $fresh:ident, $next:ident, $then:literal, $($last:literal,)*) => {{
        let steps = $rows.len() / 2;
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "test {fresh:e}, {fresh:e}",
            "jnz 3f",
            "tileloadd tmm0, [{sums} + {line}]",
            "tileloadd tmm1, [{sums} + {line} + 1024]",
            "tileloadd tmm2, [{sums} + {line} + 2048]",
            "tileloadd tmm3, [{sums} + {line} + 3072]",
            "3:",
            "tileloadd tmm4, [{rows} + {line} + 2048]",
            "tileloadd tmm6, [{weights} + {line}]",
            "tileloadd tmm5, [{more_rows} + {line} + 2048]",
            "tileloadd tmm7, [{more_weights} + {line}]",
            "2:",
            // low rows · high weights
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tileloadd tmm4, [{rows} + {line} + 1024]",
            "prefetcht1 [{next}]",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "tileloadd tmm5, [{more_rows} + {line} + 1024]",
            "prefetcht1 [{next} + 64]",
            // middle · high
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tileloadd tmm6, [{weights} + {line} + 1024]",
            "prefetcht1 [{next} + 128]",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "tileloadd tmm7, [{more_weights} + {line} + 1024]",
            "prefetcht1 [{next} + 192]",
            // middle · middle
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tileloadd tmm4, [{rows} + {line}]",
            "prefetcht1 [{next} + 256]",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "tileloadd tmm5, [{more_rows} + {line}]",
            "prefetcht1 [{next} + 320]",
            // high · middle
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tileloadd tmm6, [{weights} + {line} + {then}]",
            "prefetcht1 [{next} + 384]",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "tileloadd tmm7, [{more_weights} + {line} + {then}]",
            "prefetcht1 [{next} + 448]",
            $($last,)*
            // high · high; the tiles of the next step, or again of the last one
            "dec {steps}",
            "cmovz {step}, {steps}",
            "add {rows}, {step}",
            "add {more_rows}, {step}",
            "add {weights}, {step}",
            "add {more_weights}, {step}",
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tileloadd tmm6, [{weights} + {line}]",
            "prefetcht1 [{next} + 640]",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tileloadd tmm4, [{rows} + {line} + 2048]",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "tileloadd tmm5, [{more_rows} + {line} + 2048]",
            "tileloadd tmm7, [{more_weights} + {line}]",
            "prefetcht1 [{next} + 704]",
            "add {next}, {advance}",
            "test {steps}, {steps}",
            "jnz 2b",
            "tilestored [{sums} + {line}], tmm0",
            "tilestored [{sums} + {line} + 1024], tmm1",
            "tilestored [{sums} + {line} + 2048], tmm2",
            "tilestored [{sums} + {line} + 3072], tmm3",
            then = const $then,
            fresh = in(reg) u32::from($fresh),
            sums = in(reg) $sums,
            line = in(reg) 64_usize,
            rows = inout(reg) $rows.as_ptr() => _,
            more_rows = inout(reg) $rows[steps..].as_ptr() => _,
            weights = inout(reg) $weights.as_ptr() => _,
            more_weights = inout(reg) $weights[steps..].as_ptr() => _,
            next = inout(reg) $next.start => _,
            advance = in(reg) ($next.end.addr() - $next.start.addr()) / steps,
            step = inout(reg) size_of::<Parts>() => _,
            steps = inout(reg) steps => _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        )
    }};
}

/// The tile registers in use: sums in 0 to 3 and rows in 4 and 5, `height` of them; weights in 6 and 7.
pub(super) struct Tiles {
    /// Whether weights have low parts.
    low_weights: bool,
}

impl Tiles {
    pub(super) fn new(height: usize, low_weights: bool) -> Self {
        assert!(are_here() && (1..=ROWS).contains(&height));
        let rows = std::array::from_fn(|tile| match tile {
            0..6 => height as u8,
            6..8 => ROWS as u8,
            _ => 0,
        });
        let bytes_of_row = std::array::from_fn(|tile| if tile < 8 { 64 } else { 0 });
        let config = Config { palette: 1, start_row: 0, reserved: [0; 14], bytes_of_row, rows };
        // SAFETY: the instructions are there, as asserted, it reads the 64 bytes of `config`, and no other code uses these registers.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const config, options(nostack, readonly)) };
        Self { low_weights }
    }

    /// Adds to sums, or to zero where they are `fresh`, the products of two tiles of rows and two of weights, each step by
    /// step. What lies at `next` is fetched into the second cache meanwhile.
    pub(super) fn add_products(
        &self,
        rows: &[Parts],
        weights: &[Parts],
        sums: &mut Sums,
        fresh: bool,
        next: &Range<*const i8>,
    ) {
        let steps = rows.len() / 2;
        assert!(steps > 0 && rows.len() == 2 * steps && weights.len() == 2 * steps);
        // SAFETY: the registers have their shapes as long as `self` lives, and hold nothing from one call to the next. What is read and written lies
        // inside the slices and the sums: 3 KiB for each step of each tile, and 1 KiB for each of four tiles of sums, 64 bytes for each of 16 rows at the most.
        unsafe {
            if self.low_weights {
                add_products!(
                    rows,
                    weights,
                    sums,
                    fresh,
                    next,
                    2048,
                    // high · low
                    "tdpbf16ps tmm0, tmm4, tmm6",
                    "tdpbf16ps tmm2, tmm5, tmm6",
                    "tileloadd tmm6, [{weights} + {line}]",
                    "prefetcht1 [{next} + 512]",
                    "tdpbf16ps tmm1, tmm4, tmm7",
                    "tdpbf16ps tmm3, tmm5, tmm7",
                    "tileloadd tmm7, [{more_weights} + {line}]",
                    "prefetcht1 [{next} + 576]",
                );
            } else {
                add_products!(rows, weights, sums, fresh, next, 0,);
            }
        }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: the instructions are there, or there would be no `self`.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}
