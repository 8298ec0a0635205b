//! Bad input: always an answer, never a panic, never a long wait.

use std::time::{Duration, Instant};

use super::super::{Options, read};
use super::{ELLIPTIC, EVERYTHING, ROD, TOWER, WOODPECKER};

/// A small generator of pseudo-random numbers with a fixed seed (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

const VALUES: [&str; 34] = [
    "nan",
    "inf",
    "-inf",
    "1e999",
    "-1e308",
    "1e-320",
    "0",
    "-0.0",
    "true",
    "\"\"",
    "\"x\"",
    "[]",
    "[[]]",
    "{}",
    "\"1/0\"",
    "\"0/0\"",
    "\"t\"",
    "\"x'\"",
    "\"x''''''''\"",
    "\"2 m\"",
    "\"sum(i = 1..1e9, i)\"",
    "\"sum(i = 1..9999, sum(j = 1..9999, i*j))\"",
    "\"9^9^9^9^9\"",
    "\"mu[1e300]\"",
    "\"mu[-1]\"",
    "\"x[i]\"",
    "\"i = 1..1e9\"",
    "\"i = 5..1\"",
    "\"f(f(f(1)))\"",
    "1979-05-27",
    "\"ground\"",
    "\"\\u0041\"",
    "\"\"\"\nx\"\"\"",
    "[\"x\", [1, [2]], {}]",
];

fn mutate(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for _ in 0..1 + random.below(3) {
        let n = lines.len();
        if n == 0 {
            break;
        }
        let (a, b) = (random.below(n), random.below(n));
        match random.below(9) {
            0 => drop(lines.remove(a)),
            1 => lines.insert(b, lines[a].clone()),
            2 => lines.swap(a, b),
            3 | 4 => {
                // another value for the same key
                if let Some((key, _)) = lines[a].clone().split_once('=') {
                    lines[a] = format!("{key}= {}", random.pick(&VALUES));
                }
            }
            5 => {
                // the value of another line
                if let (Some((key, _)), Some((_, value))) =
                    (lines[a].clone().split_once('='), lines[b].clone().split_once('='))
                {
                    lines[a] = format!("{key}={value}");
                }
            }
            6 => {
                // one character changed
                let mut chars: Vec<char> = lines[a].chars().collect();
                if !chars.is_empty() {
                    let at = random.below(chars.len());
                    chars[at] = *random
                        .pick(&[&'(', &')', &'[', &'\'', &'"', &'.', &'9', &'e', &'x', &'ä', &'^', &'=']);
                }
                lines[a] = chars.into_iter().collect();
            }
            7 => {
                // deep nesting
                if let Some((key, _)) = lines[a].clone().split_once('=') {
                    let deep = 1 + random.below(3000);
                    let (open, close) = *random.pick(&[
                        &("(", ")"),
                        &("-(", ")"),
                        &("sin(", ")"),
                        &("x[", "]"),
                        &("if(1 > 0, ", ", 0)"),
                    ]);
                    lines[a] = format!("{key}= \"{}1{}\"", open.repeat(deep), close.repeat(deep));
                }
            }
            _ => {
                // a piece of the line twice
                let chars: Vec<char> = lines[a].chars().collect();
                let (i, j) = (random.below(chars.len() + 1), random.below(chars.len() + 1));
                let piece: String = chars[i.min(j)..i.max(j)].iter().collect();
                lines[a].push_str(&piece);
            }
        }
    }
    lines.join("\n")
}

#[test]
fn ten_thousand_mutations_of_valid_files_are_answered() {
    let mut random = Random(0x5EED);
    let texts = [ROD, ELLIPTIC, TOWER, WOODPECKER, EVERYTHING];
    let mut read_well = 0;
    for case in 0..10_000 {
        let text = mutate(texts[case % texts.len()], &mut random);
        let begin = Instant::now();
        match read(&text, &Options::default()) {
            Ok(_) => read_well += 1,
            Err(errors) => {
                assert!(!errors.is_empty());
                for d in errors {
                    assert!(
                        !d.message.is_empty() && !d.message.contains('\u{1}'),
                        "{}",
                        d.render("f", &text, &[])
                    );
                    assert!(d.render("f", &text, &[]).len() < 20_000);
                }
            }
        }
        let spent = begin.elapsed();
        assert!(spent < Duration::from_secs(20), "{spent:?} for\n{text}");
    }
    assert!(read_well > 500, "only {read_well} mutations were still models");
}

#[test]
fn hostile_files_are_refused_quickly() {
    let chain = |n: usize, back: bool| {
        let mut text = String::from("[parameters]\n");
        for k in 0..n {
            let other = if back { k + 1 } else { k.wrapping_sub(1) };
            let value = if other < n { format!("\"p{other} + 1\"") } else { "1".to_string() };
            text.push_str(&format!("p{k} = {value}\n"));
        }
        text + "[coordinates]\n"
    };
    // long chains of parameters in either order are fine
    for back in [false, true] {
        let text = chain(20_000, back);
        let model = read(&text, &Options::default()).unwrap_or_else(|e| panic!("{}", e[0].message)).model;
        assert!(model.parameters.iter().any(|p| p.value == 20_000.0));
    }
    let mut doubling = String::from("[coordinates]\nx = 0\n[define]\n\"f0(a)\" = \"a + x\"\n");
    for k in 1..60 {
        doubling.push_str(&format!("\"f{k}(a)\" = \"f{0}(a + 1) + f{0}(a - 1)\"\n", k - 1));
    }
    doubling.push_str("y = \"f59(1)\"\n");
    let mut definitions = String::from("[coordinates]\nx = 0\n[define]\n");
    for k in 0..5000 {
        definitions.push_str(&format!("d{k} = \"d{} + x'\"\n", k + 1));
    }
    definitions.push_str("d5000 = \"x\"\n");
    let junk = "[[body]]\n".repeat(100_000);
    let texts = [
        doubling,
        definitions,
        junk,
        "x".repeat(10 << 20),
        "a.".repeat(1 << 20),
        format!("a = {}", "[".repeat(1 << 20)),
        format!("[parameters]\na = \"{}\"", "1+".repeat(500_000)),
        "[define]\n\"f(x)\" = \"g(x)\"\n\"g(x)\" = \"f(x)\"\n".to_string(),
        "[parameters]\na = \"sum(i = 1..90000, sum(j = 1..90000, i + j))\"\n".to_string(),
        "[coordinates]\nx = { for = \"i = 1..10000\", start = \"sum(j = 1..10000, x[mod(i + j, 10000) + 1])\" }\n".to_string(),
        "[coordinates]\nx = { for = \"i = 1..9999\", start = \"if(i == 9999, 1, x[i+1])\" }\n".to_string(),
        "\u{0}\u{1}\u{2}".to_string(),
        String::new(),
    ];
    for text in &texts {
        let begin = Instant::now();
        let _ = read(text, &Options::default());
        let spent = begin.elapsed();
        assert!(spent < Duration::from_secs(20), "{spent:?} for {}", &text[..text.len().min(60)]);
    }
}

#[test]
fn functions_that_call_themselves_show_the_circle() {
    let text = "[coordinates]\nx = 0\n[define]\n\"f(x)\" = \"g(x) + 1\"\n\"g(x)\" = \"2*f(x)\"\n";
    let errors = read(text, &Options::default()).unwrap_err();
    assert_eq!(errors[0].message, "functions call each other in a circle: f → g → f");
}
