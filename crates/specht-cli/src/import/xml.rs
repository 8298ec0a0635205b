//! A small reader of XML: elements, attributes, the five named entities and numbers; comments, declarations and text are passed over. Enough for robot
//! descriptions; what is malformed is an error with its line.

/// An element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Element {
    /// Name.
    pub name: String,
    /// Attributes in their order.
    pub attributes: Vec<(String, String)>,
    /// Elements inside.
    pub children: Vec<Element>,
    /// Line where it begins, from 1.
    pub line: usize,
}

/// Depth of elements beyond which a file is refused.
const DEEP: usize = 500;

impl Element {
    /// An attribute.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The first element of this name inside.
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|c| c.name == name)
    }

    /// All elements of this name inside.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |c| c.name == name)
    }

    /// A number.
    pub fn number(&self, key: &str) -> Result<Option<f64>, String> {
        self.get(key).map(|text| number(text, self, key)).transpose()
    }

    /// A list of numbers, divided by blanks.
    pub fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, String> {
        self.get(key).map(|text| text.split_whitespace().map(|t| number(t, self, key)).collect()).transpose()
    }

    /// Three numbers.
    pub fn triple(&self, key: &str) -> Result<Option<[f64; 3]>, String> {
        let Some(list) = self.numbers(key)? else { return Ok(None) };
        <[f64; 3]>::try_from(list).map(Some).map_err(|list| {
            format!(
                "line {}: `{key}` of <{}> has {} numbers instead of three",
                self.line,
                self.name,
                list.len()
            )
        })
    }

    /// A name that must be there.
    pub fn need(&self, key: &str) -> Result<&str, String> {
        self.get(key).ok_or_else(|| format!("line {}: <{}> has no `{key}`", self.line, self.name))
    }
}

fn number(text: &str, at: &Element, key: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(format!("line {}: `{key}` of <{}> is `{text}`, not a number", at.line, at.name)),
    }
}

/// Read a document: its one outermost element.
pub fn read(text: &str) -> Result<Element, String> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut open: Vec<Element> = vec![Element::default()];
    while let Some(start) = reader.rest.find('<') {
        reader.skip(start);
        if reader.passes("<!--", "-->")? || reader.passes("<?", "?>")? || reader.passes("<![CDATA[", "]]>")? {
            continue;
        }
        if reader.passes("<!", ">")? {
            continue;
        }
        let line = reader.line;
        let tag = reader.tag()?;
        if let Some(name) = tag.strip_prefix('/') {
            let done = open.pop().filter(|e| !open.is_empty() && e.name == name.trim());
            let done = done.ok_or_else(|| format!("line {line}: </{}> closes nothing", name.trim()))?;
            if let Some(parent) = open.last_mut() {
                parent.children.push(done);
            }
            continue;
        }
        let (tag, closed) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let element = element(tag, line)?;
        if open.len() > DEEP {
            return Err(format!("line {line}: elements are nested more than {DEEP} deep"));
        }
        match (closed, open.last_mut()) {
            (true, Some(parent)) => parent.children.push(element),
            _ => open.push(element),
        }
    }
    if open.len() > 1 {
        let last = &open[open.len() - 1];
        return Err(format!("line {}: <{}> is never closed", last.line, last.name));
    }
    let mut root = open.pop().unwrap_or_default();
    match root.children.len() {
        1 => Ok(root.children.swap_remove(0)),
        0 => Err("there is no element in this file".into()),
        n => {
            Err(format!("line {}: the file has {n} outermost elements instead of one", root.children[1].line))
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, bytes: usize) {
        let (gone, rest) = self.rest.split_at(bytes);
        self.line += gone.matches('\n').count();
        self.rest = rest;
    }

    /// Pass over what stands between two marks.
    fn passes(&mut self, from: &str, to: &str) -> Result<bool, String> {
        if !self.rest.starts_with(from) {
            return Ok(false);
        }
        let end = self.rest.find(to).ok_or_else(|| format!("line {}: `{from}` has no `{to}`", self.line))?;
        self.skip(end + to.len());
        Ok(true)
    }

    /// What stands between < and >, marks in quotes left alone.
    fn tag(&mut self) -> Result<&'a str, String> {
        let mut quote = None;
        for (k, c) in self.rest.char_indices().skip(1) {
            match (quote, c) {
                (None, '>') => {
                    let tag = &self.rest[1..k];
                    self.skip(k + 1);
                    return Ok(tag);
                }
                (None, '"' | '\'') => quote = Some(c),
                (Some(q), c) if c == q => quote = None,
                _ => {}
            }
        }
        Err(format!("line {}: `<` has no `>`", self.line))
    }
}

fn element(tag: &str, line: usize) -> Result<Element, String> {
    let tag = tag.trim();
    let end = tag.find(char::is_whitespace).unwrap_or(tag.len());
    let (name, mut rest) = tag.split_at(end);
    if name.is_empty() {
        return Err(format!("line {line}: an element has no name"));
    }
    let mut out = Element { name: name.into(), line, ..Element::default() };
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(out);
        }
        let wrong =
            || format!("line {line}: the attributes of <{name}> cannot be read near `{}`", shorten(rest));
        let (key, value) = rest.split_once('=').ok_or_else(wrong)?;
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'')).ok_or_else(wrong)?;
        let end = value[1..].find(quote).ok_or_else(wrong)? + 1;
        out.attributes.push((key.trim().into(), plain(&value[1..end])));
        rest = &value[end + 1..];
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(20).collect()
}

/// Entities replaced.
fn plain(text: &str) -> String {
    if !text.contains('&') {
        return text.into();
    }
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_string(), |t, (mark, plain)| t.replace(mark, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_attributes_and_comments_are_read() {
        let text = "<?xml version=\"1.0\"?>\n<!-- a > b -->\n<robot name='a &amp; b'>\n  <link name=\"x\"/>\n  text\n  <joint a=\"1 2 3\">\n  </joint>\n</robot>\n";
        let e = read(text).unwrap();
        assert_eq!((e.name.as_str(), e.get("name")), ("robot", Some("a & b")));
        assert_eq!(e.children.len(), 2);
        assert_eq!(e.child("joint").unwrap().triple("a").unwrap(), Some([1.0, 2.0, 3.0]));
        assert_eq!(e.child("joint").unwrap().line, 6);
    }

    #[test]
    fn what_is_malformed_is_an_error_with_its_line() {
        for (text, said) in [
            ("<a>\n<b>\n</a>", "line 3: </a> closes nothing"),
            ("<a>\n<b/>", "line 1: <a> is never closed"),
            ("", "no element"),
            ("<a/><b/>", "2 outermost"),
            ("<a x=1/>", "cannot be read"),
            ("<a x='1", "no `>`"),
            ("<!-- ", "has no `-->`"),
            ("</a>", "closes nothing"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
