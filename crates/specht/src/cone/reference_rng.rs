//! Random numbers of the reference prototype: the same seed gives the same test problems
//!
//! The measured numbers of the prototype of this solver belong to problems drawn with numpy's `default_rng(seed)`. To compare
//! with them line by line, this file follows the same published algorithms:
//!
//! * seed → 256 bits: the hash of numpy's `SeedSequence` (multiply, xor, shift on a pool of four 32-bit words; numpy
//!   documentation, *Parallel random number generation* and *SeedSequence*), for one non-negative integer;
//! * 64 random bits: PCG XSL-RR 128/64, `s ← a s + c (mod 2¹²⁸)`, output `rot(hi ⊕ lo, s ≫ 122)` [ONeill2014, 6.3.3];
//! * uniform: the upper 53 bits times 2⁻⁵³;
//! * standard normal: ziggurat of 256 layers of equal area [MarsagliaTsang2000].
//!
//! With `f(x) = exp(-x²/2)`, tail start `r` and layer area `A` the layers are, from the tail up,
//!
//! ```text
//! x₂₅₅ = r,   f(xᵢ) = f(xᵢ₊₁) + A / xᵢ₊₁,   x₀ = A / f(r)  (width of the rectangle that carries the tail)
//! ```
//!
//! Guarantee: bits and uniform numbers are exact on every machine. Normal numbers are exact where `exp` and `ln` of the
//! platform are rounded correctly for the arguments of the table; elsewhere they differ by less than 1e-14.

use std::sync::OnceLock;

/// The generator: PCG XSL-RR 128/64.
#[derive(Clone, Debug)]
pub(super) struct ReferenceRng {
    state: u128,
    increment: u128,
}

/// Multiplier of the 128-bit congruential generator [ONeill2014].
const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl ReferenceRng {
    /// Seeded as `default_rng(seed)`.
    pub(super) fn new(seed: u64) -> Self {
        let [state, sequence] = spread(seed);
        let mut rng = ReferenceRng { state: 0, increment: (sequence << 1) | 1 };
        rng.advance();
        rng.state = rng.state.wrapping_add(state);
        rng.advance();
        rng
    }

    fn advance(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.advance();
        let folded = ((self.state >> 64) as u64) ^ (self.state as u64);
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub(super) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Standard normal.
    pub(super) fn normal(&mut self) -> f64 {
        let layers = layers();
        loop {
            // one draw: 8 bits layer, 1 bit sign, 52 bits position
            let bits = self.bits();
            let i = (bits & 0xff) as usize;
            let position = (bits >> 9) & (GRID as u64 - 1);
            let signed = |x: f64, negative: bool| if negative { -x } else { x };
            let x = position as f64 * layers.width[i];

            // inside the part of the layer that lies wholly under the curve: 99 % of all draws
            if position < layers.inner[i] {
                return signed(x, (bits >> 8) & 1 == 1);
            }
            if i == 0 {
                return signed(self.tail(), (position >> 8) & 1 == 1);
            }
            // the rest of the layer: under the curve or not
            let (low, high) = (layers.height[i], layers.height[i - 1]);
            if (high - low) * self.unit() + low < (-0.5 * x * x).exp() {
                return signed(x, (bits >> 8) & 1 == 1);
            }
        }
    }

    /// Beyond `r`: exponential draws, accepted with the ratio of the densities (Marsaglia 1964).
    fn tail(&mut self) -> f64 {
        loop {
            let x = -TAIL_INVERSE * (-self.unit()).ln_1p();
            let y = -(-self.unit()).ln_1p();
            if y + y > x * x {
                return TAIL + x;
            }
        }
    }
}

/// Start `r` of the tail.
const TAIL: f64 = 3.654_152_885_361_009;
/// `1 / r`.
const TAIL_INVERSE: f64 = 0.273_661_237_329_758_3;
/// Area `A` of a layer, `r f(r) + ∫ᵣ f`, as rounded in the reference (four units below the nearest number).
const AREA: f64 = 0.004_928_673_233_974_652;
/// Positions in a layer.
const GRID: f64 = (1u64 << 52) as f64;

/// The 256 layers.
struct Layers {
    /// Distance of two positions, `xᵢ / GRID`.
    width: [f64; 256],
    /// Height `f(xᵢ)` of the lower edge; 1 at the top.
    height: [f64; 256],
    /// Positions below this lie under the curve for every height of the layer.
    inner: [u64; 256],
}

fn layers() -> &'static Layers {
    static LAYERS: OnceLock<Layers> = OnceLock::new();
    LAYERS.get_or_init(|| {
        let f = |x: f64| (-0.5 * x * x).exp();
        let mut l = Layers { width: [0.0; 256], height: [1.0; 256], inner: [0; 256] };
        l.width[255] = TAIL / GRID;
        l.height[255] = f(TAIL);
        l.width[0] = AREA / f(TAIL) / GRID;
        l.inner[0] = (TAIL * f(TAIL) / AREA * GRID).round_ties_even() as u64;
        let mut below = TAIL;
        for i in (1..255).rev() {
            let x = (-2.0 * (AREA / below + l.height[i + 1]).ln()).sqrt();
            l.inner[i + 1] = (x / below * GRID).round_ties_even() as u64;
            l.width[i] = x / GRID;
            l.height[i] = f(x);
            if i == ROUNDED_UP {
                l.height[i] = l.height[i].next_up();
            }
            below = x;
        }
        l
    })
}

/// The layer whose height, 0.498 units above the nearest number, the reference rounds up; all others are nearest numbers.
const ROUNDED_UP: usize = 38;

/// Seed → start and sequence of the generator: the hash of `SeedSequence`, 32-bit words.
fn spread(seed: u64) -> [u128; 2] {
    const POOL: usize = 4;
    fn fold(x: u32) -> u32 {
        x ^ (x >> 16)
    }
    // a hash whose constant changes with every use
    fn hash(x: u32, constant: &mut u32, factor: u32) -> u32 {
        let x = x ^ *constant;
        *constant = constant.wrapping_mul(factor);
        fold(x.wrapping_mul(*constant))
    }

    // the seed enters the pool, then every word of the pool every other one
    let (mut constant, factor) = (0x43b0_d7e5, 0x931e_8875);
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(|x| hash(x, &mut constant, factor));
    for from in 0..POOL {
        for to in (0..POOL).filter(|&to| to != from) {
            let x = hash(pool[from], &mut constant, factor);
            pool[to] = fold(pool[to].wrapping_mul(0xca01_f9dd).wrapping_sub(x.wrapping_mul(0x4973_f715)));
        }
    }

    // eight words out of the pool: 64-bit numbers with the lower word first, 128-bit numbers with the upper half first
    let (mut constant, factor) = (0x8b51_f9dd, 0x58f3_8ded);
    let words: [u32; 8] = std::array::from_fn(|i| hash(pool[i % POOL], &mut constant, factor));
    let long = |i: usize| u128::from(words[i]) | (u128::from(words[i + 1]) << 32);
    [(long(0) << 64) | long(2), (long(4) << 64) | long(6)]
}
