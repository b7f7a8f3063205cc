import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendToBody } from '../../../src/formats/html/document.ts'
import { footerHtml, footerText } from '../../../src/formats/html/footer.ts'
import { htmlToText } from '../../../src/formats/html/html-to-text.ts'
import { findHrefs } from '../../../src/formats/html/links.ts'
import { LANGUAGES } from '../../../src/texts/languages.ts'

const url = 'https://mail.example.test/unsubscribe/token'

test('the rule is as wide as the text, because the margins are outside', () => {
  const html = footerHtml({ language: 'en', projectName: 'Shop', url, postalAddress: null })
  const [box = '', text = ''] = [...html.matchAll(/style="([^"]*)"/g)].map(([, style]) => style)
  assert.match(box, /max-width: 600px; .*padding: 0 16px/)
  assert.doesNotMatch(box, /border-top/)
  assert.match(text, /border-top: 1px/)
  assert.match(text, /padding: 16px 0;/)
})

test('the footers in HTML and text have the same words', () => {
  for (const language of LANGUAGES) {
    for (const postalAddress of [null, '1 Main <St> & $& Co, Town']) {
      const footer = { language, projectName: 'Pots $& <Pans>', url, postalAddress }
      assert.equal(htmlToText(footerHtml(footer)), footerText(footer), language)
    }
  }
})

test("a project's name and postal address cannot become markup or a link", () => {
  const projectName = '"><a href="https://evil.example">x</a></body>'
  const html = footerHtml({ language: 'en', projectName, url, postalAddress: projectName })
  assert.deepEqual(
    findHrefs(html).map(({ value }) => value),
    [url],
  )
})

test('the footer is inserted before the closing body tag, else at the end', () => {
  const table: [html: string, expected: string][] = [
    ['<p>a</p>', '<p>a</p>!'],
    ['', '!'],
    ['<body><p>a</p></body></html>', '<body><p>a</p>!</body></html>'],
    ['<BODY>a</BODY >\n', '<BODY>a!</BODY >\n'],
    ['<body>a</body><p>b</body>', '<body>a</body><p>b!</body>'],
    ['<body>a<!-- </body> -->', '<body>a<!-- </body> -->!'],
    ['<body>a</body><!-- </body> -->', '<body>a!</body><!-- </body> -->'],
    ['<body title="</body>">a', '<body title="</body>">a!'],
    ['<style></body></style>a', '<style></body></style>a!'],
    ['</bodyguard>', '</bodyguard>!'],
    ['a<p title="b>c', 'a!<p title="b>c'],
    ['a<!-- b', 'a!<!-- b'],
    ['a<!-->', 'a<!-->!'],
    ['a<!--->', 'a<!--->!'],
    ['a<!-- b --!>', 'a<!-- b --!>!'],
    ['a<!--!>', 'a!<!--!>'],
    ['a<!-- b -->', 'a<!-- b -->!'],
    ['a<!doctype', 'a!<!doctype'],
    ['a<!doctype html>', 'a<!doctype html>!'],
    ['a</', 'a!</'],
    ['a<', 'a<!'],
    ['a<style>b', 'a!<style>b'],
    ['a<style>', 'a!<style>'],
    ['a<style></style>', 'a<style></style>!'],
    ['a<br>', 'a<br>!'],
  ]
  for (const [html, expected] of table) assert.equal(appendToBody(html, '!'), expected, html)
})
