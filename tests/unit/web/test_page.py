"""HTML as Markdown: what a reader would see."""

import pytest

from odin_lsp.web.page import MAX_DEPTH, to_markdown


def text(html):
    return to_markdown(html, "https://docs.test/guide/").text


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>One <em>two</em></h2><p>three\n  four<br>five", "## One *two*\n\nthree four\nfive"),
        ("<ul><li>a<ul><li>b</ul><li><p>c<p>d</ul>", "- a\n  - b\n- c\n  d"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<table><tr><th>a<th>b<tr><td>1|2<td><b>3</b></table>", "| a | b |\n| --- | --- |\n| 1\\|2 | **3** |"),
        ("<table><tr><td><h1>layout</h1></table>", "# layout"),
        ("<pre>a\n  b `c`\n</pre>", "```\na\n  b `c`\n```"),
        ("<pre>```</pre>", "````\n```\n````"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n> \n> b"),
        ("<p>use <code>snake_case</code> &lt;b&gt;", "use `snake_case` <b>"),
        ("<a href='../api?x=1'>API</a>", "API (https://docs.test/api?x=1)"),
        ("<a href='https://a.test/'>https://a.test/</a>", "https://a.test/"),
        ("<a href='#top'>top</a> <a href='javascript:x()'>js</a> <a href='command:x'>c</a>", "top js c"),
        ("<a href='http://[broken'>x</a>", "x"),
        ("<img src=https://evil.test/p.png alt='a cat'><img src=x>", "(image: a cat)"),
        ("<a href=x><h3>card</h3></a>", "### card"),
        ("no tags", "no tags"),
        ("", ""),
    ],
)
def test_what_is_seen_becomes_markdown(html, markdown):
    assert text(html) == markdown


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "<!-- SECRET -->",
        "<template>SECRET</template>",
        "<noscript>SECRET</noscript>",
        "<svg><text>SECRET</text></svg>",
        "<input type=hidden value=SECRET>",
        "<p hidden>SECRET",
        "<p style='display: none'>SECRET",
        "<p style='DISPLAY:NONE !important'>SECRET",
        "<div style='visibility:hidden'><p>SECRET</div>",
        "<p style='font-size:0px'>SECRET",
        "<p style='opacity: 0'>SECRET",
        "<p style='position:absolute; left:-9999px'>SECRET",
        "<p style='text-indent:-5000px'>SECRET",
        "<p style='color:#fff'>SECRET",
        "<p style='color: red; background: red'>SECRET",
        "<p style='height:0;overflow:hidden'>SECRET",
        "<p style='color:transparent'>SECRET",
        "<title>SECRET</title>",
    ],
)
def test_what_is_not_seen_is_left_out(hidden):
    assert text(f"<body><p>before</p>{hidden}</p></div><p>after</p>") == "before\n\nafter"


def test_what_is_hidden_is_counted():
    page = to_markdown("<p hidden>a<p style='display:none'>b<p>c", "https://a.test/")
    assert page.notes == ("2 hidden elements left out",)


def test_ordinary_styles_hide_nothing():
    styles = (
        "opacity:0.5",
        "font-size:0.9em",
        "height:0.5em",
        "color:black;background:white",
        "left:-1px",
        "width:01px",
    )
    for style in styles:
        assert text(f"<p style='{style}'>seen") == "seen", style


def test_a_page_that_wants_to_be_left_is_not_left():
    page = to_markdown("<meta http-equiv=Refresh content='0; url=http://169.254.169.254/'><p>x", "https://a.test/")
    assert page.text == "x"
    assert "http://169.254.169.254/" in page.notes[0]


def test_the_title_is_kept_apart():
    assert to_markdown("<title> A\n title </title><p>x", "https://a.test/").title == "A title"


def test_depth_is_bounded():
    page = to_markdown("<div>" * 5000 + "deep" + "</div>" * 5000 + "<p>shallow", "https://a.test/")
    assert page.text == "shallow"
    assert str(MAX_DEPTH) in page.notes[0]
    assert text("<blockquote>" * 100 + "x").count(">") == 10
