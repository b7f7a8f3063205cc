import assert from 'node:assert/strict'
import test from 'node:test'
import {
  checkTemplate,
  compileTemplate,
  renderSubject,
  renderTemplate,
} from '../../../src/formats/template/template.ts'
import type { Variables } from '../../../src/formats/template/variables.ts'

const at = Date.parse('2026-05-06T07:08:09.500Z')

function variables(given: Partial<Variables> = {}): Variables {
  return { stored: {}, request: {}, system: {}, ...given }
}

function html(source: string, given: Partial<Variables> = {}): string {
  return renderTemplate(compileTemplate(source, 'html'), variables(given), { at }).text
}

function text(source: string, given: Partial<Variables> = {}): string {
  return renderTemplate(compileTemplate(source, 'text'), variables(given), { at }).text
}

/** Source and result. */
type Row = [source: string, expected: string]

const contact = {
  name: 'Ada',
  'first name': 'Ada',
  profile: { 'last name': 'Lovelace', city: null },
  items: ['one', 'two'],
  rows: [
    { name: 'Pro', price: 10 },
    { name: 'Team', price: 20 },
  ],
  zero: 0,
  no: false,
  hollow: '',
  none: null,
  day: '2026-02-03T12:00:00Z',
}

const language: Row[] = [
  ['{{name}} {{ name }} {{data.name}} {{ data["name"] }}', 'Ada Ada Ada Ada'],
  ['{{first name}} {{data["first name"]}} {{profile.last name}}', 'Ada Ada Lovelace'],
  ['{{ first name | upcase }}', 'ADA'],
  ['{{items.0}} {{items[1]}} {{rows.1.name}} {{items.size}}', 'one two Team 2'],
  ['[{{missing}}{{missing.deep.er}}{{items.9}}{{}}{{ }}]', '[]'],
  ['{{zero}} {{no}} [{{hollow}}{{none}}]', '0 false []'],
  ['{{nil ?? a}}{{empty ?? b}}{{true ?? c}}', 'abtrue'],
  ['{{x ?? text}} {{x??text}} {{x ?? "a text"}} {{x ?? \'it\'}}', 'text text a text it'],
  ['{{none ?? a}} {{no ?? b}} {{hollow ?? c}} {{zero ?? d}}', 'a b c 0'],
  ['{{a ?? b ?? c}} {{a ?? "" ?? c}} {{ a ?? "b ?? c" }}', 'b c b ?? c'],
  ["{{title ?? Dear customer}} {{x ?? don't}}", "Dear customer don't"],
  ['{{name ?? x}} {{x ?? name}}', 'Ada name'],
  ['{{ x ?? friend | upcase }} {{ name | downcase ?? friend }}', 'FRIEND ada'],
  ['{{x | default: name}} {{x | default: "<b>"}}', 'Ada <b>'],
  ['{% if hollow %}a{% elsif zero %}b{% else %}c{% endif %}', 'c'],
  ['{% unless no %}a{% endunless %}{% if items contains "two" %}b{% endif %}', 'ab'],
  ['{% case name %}{% when "Bob" %}1{% when "Eve", "Ada" %}2{% else %}3{% endcase %}', '2'],
  ['{% for r in rows reversed %}{{forloop.index}}{{r.name}} {% endfor %}', '1Team 2Pro '],
  ['{% for i in (1..9) limit: 2 offset: 3 %}{{i}}{% endfor %}', '45'],
  ['{% for i in items %}{{i}}{% break %}{% endfor %}', 'one'],
  ['{% for p in profile %}{{p[0]}}={{p[1]}};{% endfor %}', 'last name=Lovelace;city=;'],
  ['{% assign a = name | append: "!" %}{{a}}', 'Ada!'],
  ['{% capture a %}<b>{{name}}</b>{% endcapture %}{{a}}', '<b>Ada</b>'],
  [
    '{% raw %}{{ name &amp; }}{% endraw %}{% comment %}{{ name | }}{% endcomment %}',
    '{{ name &amp; }}',
  ],
  ['a{%- if true -%} b {%- endif -%} c[ {{- name -}} ]', 'abc[Ada]'],
  ['{% cycle "a", "b" %}{% cycle "a", "b" %}{% cycle "a", "b" %}', 'aba'],
  ['{% cycle "x": "a", "b" %}{% cycle "y": "a", "b" %}', 'aa'],
  ['{% increment n %}{% increment n %}{% decrement m %}', '01-1'],
  ['{% echo name | upcase %}{% liquid\n assign z = 1\n echo z %}{% # nothing %}', 'ADA1'],
  ['{{items}}', '<li>one</li>\n<li>two</li>'],
  ['{{items | join: ", "}} {{rows | map: "price" | sum}}', 'one, two 30'],
  ['{{rows | where: "price", 20 | map: "name"}}', '<li>Team</li>'],
  ['{{rows | where_exp: "r", "r.price < 20" | map: "name" | first}}', 'Pro'],
  ['{{day | date: "%Y-%m"}} {{"now" | date: "%Y-%m-%d %H:%M"}}', '2026-02 2026-05-06 07:08'],
  ['{% if zero &lt; 1 and name == &quot;Ada&quot; %}y{% endif %}{{&nbsp;name&nbsp;}}', 'yAda'],
  ['Tom &amp; {{name}}', 'Tom &amp; Ada'],
  ['<style>a { color: red }</style>', '<style>a { color: red }</style>'],
  ['{{size}}{{ first }}', ''],
]

for (const [source, expected] of language) {
  test(`renders ${JSON.stringify(source)}`, () => {
    assert.equal(html(source, { stored: contact }), expected)
    assert.equal(checkTemplate(source), undefined)
  })
}

test('an unknown filter is ignored', () => {
  const source = '{{name | nosuch}} {{name | nosuch: 1 | upcase}}'
  assert.equal(html(source, { stored: contact }), 'Ada ADA')
})

test('system values override the request, and the request overrides stored values', () => {
  const given = {
    stored: { a: 1, b: 1, c: 1, data: 'x' },
    request: { b: 2, c: 2 },
    system: { c: 3 },
  }
  assert.equal(html('{{a}}{{b}}{{c}} {{data.a}}{{data.b}}{{data.c}}', given), '123 122')
  assert.equal(html('{{a | plus: 0}}{{b}}{{c}} {{data.a}}{{data.b}}{{data.c}}', given), '123 122')
})

test('S19: a value is never parsed as a template', () => {
  const stored = { a: '{{ b }}{% if b %}x{% endif %}', b: 'secret' }
  assert.equal(html('{{a}}', { stored }), stored.a)
  assert.equal(html('{% assign c = a %}{{c | append: ""}}', { stored }), stored.a)
})

test('in HTML stored and system values are escaped, values of the request are not', () => {
  const given = {
    stored: { a: `<b>&"'` },
    request: { r: '<i>&' },
    system: { email: '"<x>"@y.z' },
  }
  const expected = '&lt;b&gt;&amp;&#34;&#39; <i>& &#34;&lt;x&gt;&#34;@y.z'
  assert.equal(html('{{a}} {{r}} {{email}}', given), expected)
  assert.equal(html('{% if true %}{{a}} {{r}} {{email}}{% endif %}', given), expected)
  assert.equal(html('{{data.a}} {{data.r}}', given), '&lt;b&gt;&amp;&#34;&#39; <i>&')
})

test('in text nothing is escaped, and a list has one item per line', () => {
  const given = { stored: { a: `<b>&"'`, list: ['<1>', '<2>'] } }
  assert.equal(text('{{a}} {{list}}', given), `<b>&"' <1>\n<2>`)
  assert.equal(text('{{ a | upcase }} {{ list }}{% echo a %}', given), `<B>&"' <1>\n<2><b>&"'`)
  assert.equal(text('{{ a | escape }}', given), '&lt;b&gt;&amp;&#34;&#39;')
})

test('a template that cannot be parsed still has its placeholders filled in', () => {
  const given = { stored: { name: '<Ada>' } }
  assert.equal(html('{% if %}{{name}} {{x ?? y}}', given), '{% if %}&lt;Ada&gt; y')
  assert.equal(html('{{name}} and {{ unclosed', given), '&lt;Ada&gt; and {{ unclosed')
  assert.equal(
    html('{% include "/etc/passwd" %}{{name}}', given),
    '{% include "/etc/passwd" %}&lt;Ada&gt;',
  )
  assert.equal(html('{% if true %}{{ name | upcase }}', given), '{% if true %}&lt;Ada&gt;')
  assert.equal(html('a{{color:red}} {{name}}', given), 'a &lt;Ada&gt;')
})

test('a template compiled as plain only fills in its placeholders', () => {
  const source = '{% if name %}{{ name | upcase }}{% endif %}'
  const compiled = compileTemplate(source, 'html', { isPlain: true })
  const rendered = renderTemplate(compiled, variables({ stored: { name: '<a>' } }))
  assert.equal(rendered.text, '{% if name %}&lt;a&gt;{% endif %}')
})

test('a template that fails while rendering falls back as well', () => {
  const source = '{{ name }} {{ bad | url_decode }}'
  assert.equal(html(source, { request: { name: 'Ada', bad: '%zz' } }), 'Ada %zz')
})

test('rendering again gives the same text, with any assignment or sample', () => {
  const compiled = compileTemplate(
    '{% increment n %}{% assign a = a | append: "x" %}{{a}}{{ list | sample }}{{ "now" | date: "%s" }}',
    'html',
  )
  const given = variables({ stored: { list: [1, 2, 3, 4, 5, 6, 7, 8] }, system: { id: 'e' } })
  assert.deepEqual(renderTemplate(compiled, given, { at }), renderTemplate(compiled, given, { at }))
  const others = ['a', 'b', 'c', 'd', 'f', 'g'].map(
    (id) => renderTemplate(compiled, { ...given, system: { id } }, { at }).text,
  )
  assert.ok(new Set(others).size > 1, 'a draw depends on the email')
})

test('a subject is one line of at most 998 characters', () => {
  const subject = (source: string, stored: Record<string, unknown> = {}) =>
    renderSubject(compileTemplate(source, 'text'), variables({ stored })).text
  assert.equal(
    subject(' Hi {{a}} & co\r\n', { a: 'x\r\nBcc: y\u0000\u0085\u2028z' }),
    'Hi x Bcc: y z & co',
  )
  assert.equal(subject('{{a}}', { a: 'é'.repeat(2000) }).length, 998)
  const cut = subject('{{a}}', { a: `${'x'.repeat(997)}\u{1f600}` })
  assert.ok(cut.isWellFormed() && cut.length <= 998)
})

test('S9: tags that read files are refused on saving, and never read on sending', () => {
  for (const name of ['include', 'render', 'layout', 'block']) {
    const source = `a\n{% ${name} "package.json" %}`
    const fault = { message: `the tag "${name}" is not available`, line: 2, column: 1 }
    assert.deepEqual(checkTemplate(source), fault)
    assert.equal(html(source), source)
  }
})

test('a fault is found with its line and column', () => {
  const faults: [string, number, number, RegExp][] = [
    ['line one\n{% if plan == "pro" %}Pro', 2, 1, /not closed/],
    ['{{ a | nosuch }}', 1, 1, /undefined filter: nosuch/],
    ['{% cycle a | nosuch %}', 1, 1, /undefined filter: nosuch/],
    ['a\n\n  {{ a &gt; b }} {{ first name }} {% nosuch %}', 3, 35, /tag "nosuch" not found/],
    ['{{ x ?? y }}\n{{ x ?? y | nosuch }}', 2, 1, /undefined filter/],
    ['{% endif %}', 1, 1, /"endif" not found/],
    ['{{ unclosed', 1, 1, /not closed/],
    ['{% raw %}{{ a }}', 1, 10, /not closed/],
    ['x'.repeat(2_000_001), 1, 1, /longer than 2000000 characters/],
  ]
  for (const [source, line, column, message] of faults) {
    const fault = checkTemplate(source)
    assert.deepEqual([fault?.line, fault?.column], [line, column], source.slice(0, 60))
    assert.match(fault?.message ?? '', message)
    assert.ok((fault?.message.length ?? 0) <= 201)
  }
})
