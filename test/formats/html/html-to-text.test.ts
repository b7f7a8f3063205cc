import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { compile } from 'html-to-text'
import { wrapDocument } from '../../../src/formats/html/document.ts'
import { decodeEntities } from '../../../src/formats/html/entities.ts'
import { htmlToText } from '../../../src/formats/html/html-to-text.ts'
import { withinCpuMs } from '../../cpu-time.ts'

const reference = compile({
  wordwrap: false,
  selectors: [
    { selector: 'a', options: { brackets: ['(', ')'], hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'altText' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
      selector,
      options: { uppercase: false },
    })),
  ],
  formatters: {
    altText: (element, _walk, builder) => builder.addInline(element.attribs.alt ?? ''),
  },
})

/** HTML and its text. */
type Row = [html: string, text: string]

const documents: Row[] = [
  ['', ''],
  ['Hello  \n you', 'Hello you'],
  ['<p>One</p><p>Two<br>three</p>', 'One\n\nTwo\nthree'],
  ['<h1>Title</h1>text<h2>More</h2>', 'Title\n\ntext\n\nMore'],
  ['a <b>b</b><i> c</i>d', 'a b cd'],
  ['<div>a</div><div>b</div>', 'a\nb'],
  ['<a href="https://x.y/?a=1&amp;b=2">text</a>.', 'text (https://x.y/?a=1&b=2).'],
  ['<a href="https://x.y/?a=1&copy=2">text</a>', 'text (https://x.y/?a=1&copy=2)'],
  ['<a href="https://x.y">https://x.y</a>', 'https://x.y'],
  ['<a href="mailto:a@b.c">a@b.c</a> <a href="mailto:a@b.c">write</a>', 'a@b.c write (a@b.c)'],
  ['<a href="#top">up</a> <a href="javascript:x()">no</a> <a>none</a>', 'up no none'],
  ['<a href="https://x.y"><img src="z" alt="Logo"></a>', 'Logo (https://x.y)'],
  ['<a href="https://x.y"><img src="z"></a>', 'https://x.y'],
  ['<a href="https://x.y"><p>text</p></a>after', 'text (https://x.y)\n\nafter'],
  ['<a href=https://x.y>one<a href=https://z>two</a>', 'one (https://x.y)two (https://z)'],
  ['<ul><li>one</li><li>two</li></ul>', '- one\n- two'],
  ['<ol><li>one<li>two<ul><li>three</ul></ol>end', '1. one\n2. two\n  - three\n\nend'],
  ['<ul><li><p>one</p><p>more</p></li></ul>', '- one\n  more'],
  [
    '<table><tr><th>Item</th><th>Price</th></tr><tr><td>Pen</td><td>&euro;2</td></tr></table>',
    'Item | Price\nPen | €2',
  ],
  ['<table><tr><td><p>left</p></td><td><p>right</p></td></tr></table>', 'left\n\nright'],
  ['<blockquote>one<br>two</blockquote>three', '> one\n> two\n\nthree'],
  ['<pre>  a\n    b</pre>c', '  a\n    b\n\nc'],
  ['a<hr>b', 'a\n\n---\n\nb'],
  ['<img src="x" alt="A &quot;picture&quot;"><img src="y">', 'A "picture"'],
  ['<title>t</title><style>a > b {}</style><script>if (a < b) "</p>"</script>x', 'x'],
  ['<!-- a > b --><!--[if mso]><p>no</p><![endif]-->yes<!doctype html>', 'yes'],
  [
    '1 < 2 &lt;b&gt; &amp;amp; R&D &copy; &#8364;&#x20ac; &nosuch; &',
    '1 < 2 <b> &amp; R&D © €€ &nosuch; &',
  ],
  ['a&nbsp;&nbsp;b&shy;c\u200b&zwnj;', 'a bc\u200c'],
  ['<p title="a > b" class=x>text</p>', 'text'],
  ["<p don't>it's</p>", "it's"],
  ['text <a href="unclosed', 'text'],
  ['a<script>never closed', 'a'],
]

for (const [html, text] of documents) {
  test(`reads ${JSON.stringify(html)}`, () => {
    assert.equal(htmlToText(html), text)
  })
}

test('the text of a wrapped document is the text of its body', () => {
  const body = '<h1>Hi</h1><p>text</p>'
  assert.equal(htmlToText(wrapDocument(body, 'en')), htmlToText(body))
})

test('all names of HTML 4 are decoded, and numeric references as browsers do', () => {
  const names = [
    'nbsp',
    'yuml',
    'Alpha',
    'omega',
    'sigmaf',
    'euro',
    'diams',
    'hellip',
    'apos',
    'rang',
  ]
  assert.equal(names.map((name) => decodeEntities(`&${name};`)).join(''), "\xa0ÿΑως€♦…'⟩")
  assert.equal(
    decodeEntities('&#150;&#x80;&#0;&#xd800;&#x110000;&#128512;'),
    '–€\ufffd\ufffd\ufffd😀',
  )
  assert.equal(
    decodeEntities('&copy 2026 &euro 2 &;&#;&#x;&copy=1'),
    '© 2026 &euro 2 &;&#;&#x;&copy=1',
  )
})

/** Words and signs in order, without the markers of lists and cells. */
function words(text: string): string[] {
  return text.match(/[\p{L}\p{N}@/:?=€"'<&©]+/gu) ?? []
}

const inline = fc.constantFrom(
  ...[
    'one',
    'two three',
    ' ',
    '&amp;',
    '&quot;q&quot;',
    '&eacute;t&eacute;',
    '&#8364;5',
    '1 &lt; 2',
  ],
  ...['<b>bold</b>', ' <i>it</i> ', '<a href="https://x.y/a?b=1&amp;c=2">link</a>', '<br>'],
  ...['<a href="https://x.y">https://x.y</a>', '<img src="i" alt="alt text">', '<!-- no -->'],
  ...['<span style="color: red">red</span>', '<a href="mailto:a@b.c">mail</a>', "it's", '&copy;'],
)
const phrase = fc.array(inline, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(' '))
const { block } = fc.letrec<{ block: string }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 3 },
    phrase.map((text) => `<p>${text}</p>\n`),
    phrase.map((text) => `<h2>${text}</h2>`),
    phrase.map((text) => `<div>${text}</div>`),
    fc.constantFrom('<style>p { color: red }</style>', '<script>no()</script>', '<br/>'),
    fc.array(fc.tuple(phrase, tie('block')), { minLength: 1, maxLength: 3 }).map((items) => {
      return `<ul>${items.map(([text, more]) => `<li>${text}${more}</li>`).join('\n')}</ul>`
    }),
    fc.array(fc.array(phrase, { minLength: 1, maxLength: 3 }), { maxLength: 3 }).map((rows) => {
      const cells = rows.map((row) => row.map((text) => `<td>${text}</td>`).join(' '))
      return `<table>${cells.map((row) => `<tr>${row}</tr>`).join('\n')}</table>`
    }),
    tie('block').map((inner) => `<blockquote>${inner}</blockquote>`),
    tie('block').map((inner) => `<div style="x">${inner}</div>`),
  ),
}))

test('words and their order match those of the package html-to-text', () => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
      const html = `<html><head><title>t</title></head><body>${blocks.join('')}</body></html>`
      assert.deepEqual(words(htmlToText(html)), words(reference(html)))
    }),
    { numRuns: 300 },
  )
})

test('any text gives lines that do not end in blanks, without added markup', () => {
  const fragment = fc.constantFrom(
    ...[
      '<',
      '>',
      '<p',
      '</p>',
      '<a href="',
      '">',
      "='",
      '<!--',
      '-->',
      '<li>',
      '</ul>',
      '<ol>',
      '<td>',
    ],
    ...[
      '<pre>',
      '</pre>',
      '<script',
      '</script>',
      '&',
      '&lt;',
      '&#',
      ';',
      ' ',
      '\n',
      'word',
      '<br>',
    ],
  )
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 20 }), (parts) => {
      const text = htmlToText(parts.join(''))
      assert.equal(text, text.trimEnd())
      assert.doesNotMatch(text, /\n{3}/)
    }),
    { numRuns: 300 },
  )
})

test('hostile markup takes linear time and memory', () => {
  const sources = [
    ...['<div>', '<ul><li>x', '<blockquote>x', '<a href="https://x">y</a>', '<', '<a b="', '<!--'],
    ...[
      "<a b='",
      '&',
      '&amp;',
      '<style>',
      '<!',
      '</',
      '<td>x',
      'x<br>',
      '<a b= ',
      '<style></styleX',
    ],
  ]
  for (const source of sources) {
    const html = source.repeat(Math.ceil(300_000 / source.length))
    const text = withinCpuMs(3_000, () => htmlToText(html), source)
    assert.ok(text.length < 4 * html.length, source)
  }
})
