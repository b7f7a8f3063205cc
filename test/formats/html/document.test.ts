import assert from 'node:assert/strict'
import test from 'node:test'
import { TABLES_OF_TEXT, wrapDocument } from '../../../src/formats/html/document.ts'
import { withinCpuMs } from '../../cpu-time.ts'

const SIMPLE_BODIES = [
  '',
  'Hello',
  '<p>Hello <b>you</b> and <a href="https://x.y/?id=1&class=2" style="color: red">them</a></p>',
  '<h1>Title</h1><ul><li>one</li></ul><ol><li>two</li></ol><blockquote>q</blockquote>',
  '<p title="a > b <div id=x>">x</p><img src="x" alt="<table>"><br/><hr />',
  '<p>1 < 2 and 3 > 2</p>',
]

const CUSTOM_BODIES = [
  '<table><tr><td>x</td></tr></table>',
  '<div>x</div>',
  '<DIV>x</DIV>',
  '<p>x</p><form action="y"></form>',
  '<style>p { color: red }</style><p>x</p>',
  '<p class="mine">x</p>',
  '<p id=x>x</p>',
  '<p data-id="1">x</p>',
  '<p\naria-label="y">x</p>',
  '<!DOCTYPE html><html><body>x</body></html>',
  '<!--[if mso]>x<![endif]--><p>x</p>',
  '<center>x</center>',
]

test('a body of text and simple markup is wrapped in a complete document', () => {
  for (const html of SIMPLE_BODIES) {
    const document = wrapDocument(html, 'nl')
    assert.match(document, /^<!DOCTYPE html>\n<html lang="nl">/)
    assert.match(document, /max-width: 600px/)
    assert.match(document, /<meta charset="utf-8">/)
    assert.ok(document.includes(`<body>\n<main>\n${html}\n</main>\n</body>\n</html>`), html)
  }
})

test('tables of text are wrapped, other elements beside them are not', () => {
  const table =
    '<table><thead><tr><th align="left">a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
  const html = `${TABLES_OF_TEXT}<h1>Hello</h1>${table}`
  const document = wrapDocument(html, 'nl')
  assert.ok(document.includes(`<body>\n<main>\n${html}\n</main>`))
  assert.match(document, /border-collapse: collapse/)
  for (const other of [
    '<div>x</div>',
    '<table class="x"></table>',
    '<table width="600"></table>',
  ]) {
    assert.equal(wrapDocument(html + other, 'nl'), html + other)
  }
  assert.doesNotMatch(wrapDocument('<p>x</p>', 'nl'), /border-collapse/)
})

test('a body with its own layout is sent unchanged', () => {
  for (const html of CUSTOM_BODIES) assert.equal(wrapDocument(html, 'en'), html)
})

test('a document is not wrapped twice', () => {
  const document = wrapDocument('<p>x</p>', 'en')
  assert.equal(wrapDocument(document, 'en'), document)
})

test('a language cannot break out of its attribute', () => {
  assert.match(wrapDocument('x', 'en"><script>'), /lang="en&#34;&gt;&lt;script&gt;"/)
})

test('hostile markup takes linear time', () => {
  const sources = ['<a b="', "<a b='", '<p ', '<', '<!', '<p a=', '</', '<p x/']
  for (const source of sources) {
    withinCpuMs(3_000, () => wrapDocument(source.repeat(1_000_000), 'en'), source)
  }
})
