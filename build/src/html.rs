//! The source text in a page of rustdoc's source view.

use anyhow::{Context as _, Result, bail, ensure};

/// Takes the text of `<pre class="rust"><code>`, without tags and line numbers.
///
/// rustdoc escapes what HTML reserves and changes nothing else, so the result is the file, byte for byte, but for the
/// line end at its end. The count of line numbers is checked against the lines.
pub fn source_text(page: &str) -> Result<String> {
    const OPEN: &str = "<pre class=\"rust\"><code>";
    let (_, body) = page.split_once(OPEN).with_context(|| format!("the page has no `{OPEN}`"))?;
    let (mut rest, _) = body.split_once("</code></pre>").context("the page's source does not end")?;
    let mut text = String::with_capacity(rest.len() / 2);
    let mut numbers = 0;
    while let Some(at) = rest.find(['<', '&']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('&') {
            let end = rest.find(';').context("an entity without `;`")? + 1;
            text.push(entity(&rest[..end])?);
            rest = &rest[end..];
        } else {
            let end = rest.find('>').context("a tag without `>`")? + 1;
            let (tag, after) = rest.split_at(end);
            // The number of a line: `<a href=#7 id=7 data-nosnippet>7</a>`.
            rest = if tag.contains("data-nosnippet") {
                numbers += 1;
                after.split_once("</a>").context("a line number without end")?.1
            } else {
                after
            };
        }
    }
    text.push_str(rest);
    let lines = text.lines().count();
    ensure!(numbers == lines, "the page numbers {numbers} lines, its text has {lines}");
    Ok(text)
}

fn entity(entity: &str) -> Result<char> {
    Ok(match entity {
        "&lt;" => '<',
        "&gt;" => '>',
        "&amp;" => '&',
        "&quot;" => '"',
        "&#39;" | "&#x27;" => '\'',
        other => bail!("unknown entity {other}"),
    })
}

#[cfg(test)]
mod tests {
    use super::source_text;

    #[test]
    fn tags_and_line_numbers_go_and_entities_are_characters() {
        let page = "<html><pre class=\"rust\"><code><a href=#1 id=1 data-nosnippet>1</a>\
            <span class=\"kw\">fn </span>f(a: &amp;<span>u8</span>)\n\
            <a href=#2 id=2 data-nosnippet>2</a>    -&gt; Vec&lt;&#39;a&gt; { &quot;&amp;lt;&quot; }\n\
            </code></pre></html>";
        assert_eq!(source_text(page).unwrap(), "fn f(a: &u8)\n    -> Vec<'a> { \"&lt;\" }\n");
    }

    #[test]
    fn a_page_of_another_form_is_refused() {
        let unnumbered = "<pre class=\"rust\"><code><a href=#1 id=1 data-nosnippet>1</a>a\nb\n</code></pre>";
        assert!(source_text(unnumbered).unwrap_err().to_string().contains("numbers 1 lines, its text has 2"));
        assert!(source_text("<pre>fn f() {}</pre>").is_err());
        assert!(
            source_text("<pre class=\"rust\"><code>&copy;</code></pre>").unwrap_err().to_string().contains("&copy;")
        );
    }
}
