//! How values look in JSON: numbers that may be infinite, tables that keep their order, words.
//!
//! Numbers are written in the shortest form that reads back to the same bits. JSON knows no infinity: NaN becomes `null`, infinities
//! the texts `"inf"` and `"-inf"`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::analysis::fast::Character;
use crate::analysis::{Verdict, border};
use crate::sim::{KINDS, Kind, Status};
use crate::system::Mode;

/// A number that may be infinite or missing (NaN).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Num(pub f64);

impl Serialize for Num {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => out.serialize_f64(x),
            x if x.is_nan() => out.serialize_unit(),
            x => out.serialize_str(if x > 0.0 { "inf" } else { "-inf" }),
        }
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Num, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f64),
            Word(String),
            Nothing(()),
        }
        match Written::deserialize(input)? {
            Written::Number(x) => Ok(Num(x)),
            Written::Nothing(()) => Ok(Num(f64::NAN)),
            Written::Word(w) if w == "inf" => Ok(Num(f64::INFINITY)),
            Written::Word(w) if w == "-inf" => Ok(Num(f64::NEG_INFINITY)),
            Written::Word(w) => Err(D::Error::custom(format!("`{w}` is not a number"))),
        }
    }
}

impl From<f64> for Num {
    fn from(x: f64) -> Num {
        Num(x)
    }
}

/// A table: names and values in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Named<T> {
    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names with values.
    pub(crate) fn of<V: Clone + Into<T>>(names: &[String], values: &[V]) -> Named<T> {
        names.iter().cloned().zip(values.iter().cloned().map(Into::into)).collect()
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// One more entry.
    pub(crate) fn push(&mut self, name: impl Into<String>, value: T) {
        self.0.push((name.into(), value));
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T> FromIterator<(String, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(list: I) -> Self {
        Named(list.into_iter().collect())
    }
}

impl<T> Extend<(String, T)> for Named<T> {
    fn extend<I: IntoIterator<Item = (String, T)>>(&mut self, list: I) {
        self.0.extend(list);
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Table<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Table<T> {
            type Value = Named<T>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    list.push(entry);
                }
                Ok(Named(list))
            }
        }
        input.deserialize_map(Table(PhantomData))
    }
}

/// A type that is written as one of its words.
macro_rules! by_word {
    ($type:ty, $all:expr) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(self.word())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                let word = String::deserialize(input)?;
                let found = $all.into_iter().find(|x: &$type| x.word() == word);
                found.ok_or_else(|| D::Error::custom(format!("`{word}` is not known here")))
            }
        }
    };
}

/// A type that is written as its word and never read.
macro_rules! written {
    ($($type:ty),+) => {
        $(impl Serialize for $type {
            fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(self.word())
            }
        })+
    };
}

written!(Verdict, border::Kind, Character);

by_word!(Mode, [Mode::Open, Mode::Stick, Mode::SlipPlus, Mode::SlipMinus, Mode::Closed, Mode::Slip]);
by_word!(Kind, KINDS);
by_word!(Status, Status::ALL);
