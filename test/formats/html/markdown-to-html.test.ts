import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { markdownToHtml } from '../../../src/formats/html/markdown-to-html.ts'
import { scanMarkers } from '../../../src/formats/template/markers.ts'

const cases: [markdown: string, html: string][] = [
  ['# Hi **bold**', '<h1>Hi <strong>bold</strong></h1>\n'],
  ['Hello {{ name }},', '<p>Hello {{ name }},</p>\n'],
  ['**{{ name | default: "a|b" }}**', '<p><strong>{{ name | default: "a|b" }}</strong></p>\n'],
  ['[go]({{ url | append: "?a=<b>" }})', '<p><a href="{{ url | append: "?a=<b>" }}">go</a></p>\n'],
  [
    '[go](https://a.test/{{ id }}/x_y_z)',
    '<p><a href="https://a.test/{{ id }}/x_y_z">go</a></p>\n',
  ],
  ['{{ a_b_c }} and {{ d*e*f }}', '<p>{{ a_b_c }} and {{ d*e*f }}</p>\n'],
  ['`{{ code }}`', '<p><code>{{ code }}</code></p>\n'],
  ['<b class="{{ c }}">kept</b> & <i>', '<p><b class="{{ c }}">kept</b> &amp; <i></p>\n'],
  ['a {% if vip %}b{% endif %} c', '<p>a {% if vip %}b{% endif %} c</p>\n'],
  ['{% if vip %}\nYou\n{% endif %}', '{% if vip %}\n<p>You</p>\n{% endif %}'],
  [
    'x\n  {% assign a = 1 %} {% if a %}\r\ny',
    '<p>x</p>\n  {% assign a = 1 %}{% if a %}\n<p>y</p>\n',
  ],
  [
    '{% for i in items %}\n- {{ i }}\n{% endfor %}\nend',
    '{% for i in items %}\n<ul>\n<li>{{ i }}</li>\n</ul>\n{% endfor %}\n<p>end</p>\n',
  ],
  ['```\n{% if a %}\n<b>\n```', '<pre><code>{% if a %}\n&lt;b&gt;\n</code></pre>\n'],
  [
    '| a | b |\n|---|---|\n| {{ x | y: "|" }} | c |',
    '<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody><tr>\n' +
      '<td>{{ x | y: "|" }}</td>\n<td>c</td>\n</tr>\n</tbody></table>\n',
  ],
  ['{{ open and "quote', '<p>{{ open and &quot;quote</p>\n'],
  ['{{\n multi\n}} line', '<p>{{\n multi\n}} line</p>\n'],
  ['pbx0123456789abcdefn00000z stays', '<p>pbx0123456789abcdefn00000z stays</p>\n'],
  ['a <!--{{ x }}--> b', '<p>a <!--{{ x }}--> b</p>\n'],
  ['', ''],
]

for (const [markdown, html] of cases) {
  test(`${JSON.stringify(markdown)} becomes HTML`, () => {
    assert.equal(markdownToHtml(markdown), html)
  })
}

test('every marker comes out once, as it was written, in order', () => {
  const piece = fc.constantFrom(
    ...['{{ a }}', '{{ b | c: "*_`|" }}', '{% if a %}', '{% endif %}', '{{- d -}}', 'word', ' '],
    ...['\n', '\n\n', '- ', '> ', '# ', '**', '_', '`', '```\n', '|', '[x](', ')', '<p>', '    '],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const source = pieces.join('')
      const html = markdownToHtml(source) ?? ''
      const written = (text: string) =>
        scanMarkers(text, 1_000).map(({ begin, end }) => text.slice(begin, end))
      assert.deepEqual(written(html), written(source))
      assert.doesNotMatch(html, /pbx[0-9a-f]{16}[nt]|!--/)
    }),
    { numRuns: 1_000 },
  )
})

test('what would take too much memory or stack is no HTML, or no table', () => {
  assert.equal(markdownToHtml('>'.repeat(20_000)), null)
  const wide = `${'|a'.repeat(1_000)}\n${'|-'.repeat(1_000)}\n${'a\n'.repeat(1_000)}`
  assert.doesNotMatch(markdownToHtml(wide) ?? '<table', /<table/)
  const fine = `${'|a'.repeat(10)}|\n${'|-'.repeat(10)}|\n${'|a'.repeat(10)}|\n`
  assert.match(markdownToHtml(fine) ?? '', /<table/)
})

const LENGTH = 256 * 1024
/** A small part of what each of the hostile texts takes without a limit. */
const SHORT = { maxCpuMs: 50 }
const stairs = Array.from({ length: 600 }, (_, n) => `${'  '.repeat(n)}- a\n`)
const hostile: [name: string, piece: string, tail?: string][] = [
  ['block quotes in each other', '>'],
  ['block quotes and lists in each other', '> - '],
  ['lists in each other', '- ', 'x'],
  ['numbered lists in each other', '1. '],
  ['open emphases', '*a ', 'a* '],
  ['strong emphases in each other', '**a ', 'b** '],
  ['emphases within words', 'a*'],
  ['underscores within words', 'a_'],
  ['letters before an at sign', 'a', '@'],
  ['dots before an at sign', 'a.', '@'],
  ['brackets', '['],
  ['images in brackets', '!['],
  ['deletions in each other', '~~a ', 'a~~ '],
  ['stars', '**', 'a**'],
  ['quotes that go on without their sign', '> a\nb\n'],
  ['quotes of code', '> ```\na\n'],
  ['tables without cells', 'a|b\n-|-\n'],
]

for (const [name, piece, tail = piece] of hostile) {
  test(`S8: Markdown of ${name} ends after its time`, () => {
    const half = LENGTH / 2
    const end = tail === '@' ? `${piece.repeat(half / piece.length)}@` : repeated(tail, half)
    assert.equal(markdownToHtml(repeated(piece, half) + end, SHORT), null)
  })
}

test('S8: stairs of lists, and lines that continue a deep quote, end after their time', () => {
  assert.equal(markdownToHtml(stairs.join('').slice(0, LENGTH), SHORT), null)
  const deep = `${'>'.repeat(500)}a\n${repeated('b\n', LENGTH / 4)}`
  assert.equal(markdownToHtml(deep, SHORT), null)
})

test('S8: a bare link of endless brackets is text', () => {
  const html = markdownToHtml(`http://a.test/${repeated(')', LENGTH / 2)}`) ?? '<a'
  assert.doesNotMatch(html, /<a/)
})

test('a newsletter of 250 KB, a long paragraph and an image in the text are far from the limit', () => {
  const sentence =
    'A *fine* day for [the shop](https://a.test/x?y=z), `code`, **you** and me@a.test. '
  const section = [
    ...[`## News {{ n }}`, sentence.repeat(8), `> ${sentence}`, '- a\n- b\n  - c\n    1. d'],
    ...[
      '| a | b |\n|---|---|\n| c | d |',
      '<div class="x">\n<p>y</p>\n</div>',
      '![i](a.png)',
      '---',
    ],
  ].join('\n\n')
  const newsletter = repeated(`${section}\n\n`, 250_000)
  const image = `![logo](data:image/png;base64,${repeated('iVBORw0KGgo/+', 200_000)})`
  for (const source of [newsletter, repeated(sentence, 250_000), image]) {
    assert.match(markdownToHtml(source) ?? '', /<(?:a|img) /)
  }
})

const ordinary: [name: string, line: string, last: RegExp][] = [
  ['lines of HTML', '<b>x</b> text<br>\n', /text<br><\/p>\n$/],
  ['rules without blank lines', '---\nText\n', /<\/h2>\n<p>Text<\/p>\n$/],
  ['headings without blank lines', '## Title\nText.\n', /<h2>Title<\/h2>\n<p>Text.<\/p>\n$/],
  ['underlined headings', 'Title\n=====\nText\n', /Title<\/h1>\n<p>Text<\/p>\n$/],
  ['a chat', '**Ann:** See *there*, [map](https://a.test/m)  \n', /map<\/a> *<\/p>\n$/],
  ['a log', '[10:31] <ann> see https://a.test/x?y=z_1 ok\n', /z_1<\/a> ok<\/p>\n$/],
  ['words with stars', '*a* ', /<em>a<\/em> *<\/p>\n$/],
  ['quoted lines with links', '> See [this](https://a.test/x), ok?\n', /ok\?<\/p>\n<\/blockquote>/],
  ['an answer', '> **quoted** words\n\nAn answer.\n\n', /<p>An answer.<\/p>\n$/],
  ['tight lists', '- An item with **bold** and `code`\n', /<code>code<\/code><\/li>\n<\/ul>\n$/],
  ['loose lists', '1. An item with [a link](https://a.test)\n\n', /<\/a><\/p>\n<\/li>\n<\/ol>\n$/],
  ['lists in lists', '- a *b*\n  - c\n    1. d\n', /<li>d<\/li>\n<\/ol>\n/],
  ['tasks', '- [x] done\n- [ ] open\n', /open<\/li>\n<\/ul>\n$/],
  [
    'a changelog',
    '## 1.2.3\n\n- fix a_b_c in `x`\n* other ([#1](https://a.test/1))\n',
    /<\/li>\n<\/ul>\n$/,
  ],
  [
    'a dense changelog',
    '## [1.2](https://a.test/v1...v2)\n### Fixes\n* **core:** fix\n',
    /fix<\/li>\n<\/ul>\n$/,
  ],
  ['code', '```js\nconst a = 1 * 2\n```\n', /1 \* 2\n<\/code><\/pre>\n$/],
  ['names and sums', 'snake_case_name is 2 * 3 * 4\n', /name is 2 \* 3 \* 4<\/p>\n$/],
  ['placeholders', '{{ item.name }}: **{{ item.price }}**  \n', /<strong>/],
]

for (const [name, line, last] of ordinary) {
  test(`200 KB of ${name} are far from the limit`, () => {
    assert.match(markdownToHtml(repeated(line, 200_000)) ?? '', last)
  })
}

test('a table of 5,000 rows is a table', () => {
  const rows = repeated('| c **d** | [e](https://a.test/f) |\n', 200_000)
  assert.match(markdownToHtml(`| a | b |\n|---|---|\n${rows}`) ?? '', /<\/td>\n<\/tr>\n<\/tbody>/)
})

/** Whole pieces, up to a length. */
function repeated(piece: string, length: number): string {
  return piece.repeat(Math.floor(length / piece.length))
}
