import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { Liquid } from 'liquidjs'
import { compileTemplate, renderTemplate } from '../../../src/formats/template/template.ts'
import type { Variables } from '../../../src/formats/template/variables.ts'

const at = Date.parse('2026-05-06T07:08:09Z')

function render(source: string, variables: Variables, format: 'html' | 'text' = 'html'): string {
  return renderTemplate(compileTemplate(source, format), variables, { at }).text
}

function html(source: string, stored: unknown, request: unknown = null): string {
  return render(source, { stored: { s: stored }, request: { r: request }, system: {} })
}

test('concatenated text keeps the taint of each of its parts', () => {
  const stored = `<x> 'y'`
  const escaped = '&lt;x&gt; &#39;y&#39;'
  assert.equal(html('{{ s | append: "<br>" | prepend: r }}', stored, '<r>'), `<r>${escaped}<br>`)
  assert.equal(
    html('{{ r | append: s | upcase }}', stored, '<r>'),
    `<R>${escaped.toUpperCase().replace(/&[A-Z]+/g, (name) => name.toLowerCase())}`,
  )
  assert.equal(html('{{ s | newline_to_br }}', '<\n>'), '&lt;<br />\n&gt;')
  assert.equal(html('{{ s | join: "<br>" }}', ['<', 'b']), '&lt;<br>b')
  assert.equal(html('{{ s | replace: "x", "<b>" }}', stored), '&lt;<b>&gt; &#39;y&#39;')
  assert.equal(html('{{ s | truncate: 4, "<i>" }}', stored), '&lt;<i>')
})

test('filters see plain values', () => {
  const stored = `<x> 'y'`
  assert.equal(html('{{ s | size }} {{ s | slice: 1 }} {{ s | slice: 0, 2 }}', stored), '7 x &lt;x')
  assert.equal(html(`{{ s | replace: "<", "[" | remove: "'" }}`, stored), '[x&gt; y')
  assert.equal(html('{{ s | split: ">" | last }}', stored), ' &#39;y&#39;')
  assert.equal(html('{{ s | url_encode }}', stored), '%3Cx%3E+&#39;y&#39;')
  assert.equal(html('{{ s | strip_html }}', stored), ' &#39;y&#39;')
  assert.equal(html('{{ s | sha256 }}', '<'), html('{{ "<" | sha256 }}', ''))
  assert.equal(html('{{ s | json }}', { '<a>': '"' }), '{&#34;&lt;a&gt;&#34;:&#34;\\&#34;&#34;}')
})

test('conditions see plain values', () => {
  const yes = (condition: string, stored: unknown, request: unknown = null) =>
    assert.equal(html(`{% if ${condition} %}yes{% endif %}`, stored, request), 'yes', condition)
  yes('s == "<b>"', '<b>')
  yes('s == r and r == s', '<b>', '<b>')
  yes('s == r', ['<b>', ['&']], ['<b>', ['&']])
  yes('s contains "<b"', 'a<b>')
  yes('s contains "<b>"', ['<b>'])
  yes('s.k contains "<b>"', { k: ['<b>'] })
  yes('s < "=" and s > ";"', '<')
  yes('s == empty', [])
  yes('s == blank', '  ')
  yes('s.size == 2', ['<', '>'])
  yes('r[s] == 1', '<k>', { '<k>': 1 })
  assert.equal(html('{% case s %}{% when "<b>" %}{{s}}{% endcase %}', '<b>'), '&lt;b&gt;')
  assert.equal(html('{{ s | sort | join }}', ['>', '<']), '&lt; &gt;')
  assert.equal(html('{{ s | where: "k", "<" | size }}', [{ k: '<' }, { k: '>' }]), '1')
  assert.equal(html('{{ s | uniq | size }}', ['<', '<']), '1')
})

test('raw removes the taint, and escape does not escape twice', () => {
  assert.equal(html('{{ s | raw }}', '<b>'), '<b>')
  assert.equal(html('{{ s | raw | append: s }}', '<'), '<&lt;')
  assert.equal(html('{{ s | raw }}', ['<b>']), '<li><b></li>')
  assert.equal(html('{{ s | escape }} {{ r | escape }}', '<', '<'), '&lt; &lt;')
  assert.equal(html('{{ s | escape_once }}', '&lt;<'), '&lt;&lt;')
  assert.equal(
    html('{% capture c %}<p>{{ s }}{{ r }}{% endcapture %}{{ c }}', '<', '<'),
    '<p>&lt;<',
  )
})

test('text that was escaped and is decoded again is tainted again', () => {
  assert.equal(html('{{ s | url_decode }}', '%3Cb%3E'), '&lt;b&gt;')
  assert.equal(html('{{ s | escape | url_decode }}', '%3Cb%3E'), '&lt;b&gt;')
  assert.equal(html('{% capture c %}{{ s }}{% endcapture %}{{ c | url_decode }}', '%3Cb'), '&lt;b')
  assert.equal(html('{{ r | url_decode }}', '', '%3Cb%3E'), '<b>')
})

test('keys, pairs, letters and dates of stored values are tainted', () => {
  assert.equal(
    html('{% for p in s %}{{p[0]}}{{p.last}}{% endfor %}', { '<k>': '<v>' }),
    '&lt;k&gt;&lt;v&gt;',
  )
  assert.equal(html('{% for p in data %}{{p[0]}}{{p[1]}}{% endfor %}', '<', '>'), 's&lt;r>')
  assert.equal(html('{{ s.0 }}{{ s[0] }}', '<b'), '&lt;&lt;')
  assert.equal(html('{% for c in s %}{{ c }}{% endfor %}', '<b'), '&lt;b')
  assert.equal(html('{{ s | date: "<b>%Y</b>" }}', '2026-01-02'), '<b>2026</b>')
  assert.equal(html('{{ s | date: "%Y" }}', '<b>'), '&lt;b&gt;')
  assert.equal(
    html('{% tablerow c in s %}{{ c }}{% endtablerow %}', ['<']),
    '<tr class="row1"><td class="col1">&lt;</td></tr>',
  )
})

test('a tainted expression of a filter is not evaluated', () => {
  const items = [{ a: 1 }, { a: 2 }]
  assert.equal(html('{{ r | where_exp: "i", "i.a == 2" | size }}', '', items), '1')
  assert.equal(html('{{ r | where_exp: "i", s | size }}', 'i.a == 2', items), '2')
})

// --- Properties -------------------------------------------------------------------------------

const storedText = fc
  .array(fc.constantFrom('<', '>', '&', '"', "'", 'q', 'Z', ' ', ',', '\n', '%3C', '1'), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''))
const cleanText = fc
  .array(fc.constantFrom('q', 'Z', ' ', ',', '\n', '%41', '1', 'é'), { maxLength: 8 })
  .map((parts) => parts.join(''))

function storedOf(texts: fc.Arbitrary<string>) {
  return fc.record({
    a: texts,
    b: fc.oneof(texts, fc.integer({ min: -9, max: 9 }), fc.boolean(), fc.constant(null)),
    list: fc.array(texts, { maxLength: 3 }),
    rows: fc.array(fc.record({ k: texts, n: fc.integer({ min: 0, max: 3 }) }), { maxLength: 3 }),
    object: fc.dictionary(texts, texts, { maxKeys: 2 }),
  })
}

const path = fc.constantFrom(
  ...['a', 'b', 'list', 'rows', 'object', 'list.0', 'rows[0].k', 'data.a', 'x', 'y', 'r', 'a.0'],
)
const argument = fc.constantFrom('a', 'b', '"q"', '","', '1', '2', 'list', 'r', '"k"', 'rows[0].k')
const TEXT_FILTERS = [
  ...['upcase', 'downcase', 'capitalize', 'strip', 'lstrip', 'rstrip', 'strip_newlines', 'squish'],
  ...['newline_to_br', 'normalize_whitespace', 'truncate: 4', 'truncatewords: 1', 'slice: 1, 3'],
  ...['append: $', 'prepend: $', 'remove: "q"', 'replace: "q", $', 'replace_last: $, "z"'],
]
const OTHER_FILTERS = [
  ...['split: $', 'join: $', 'size', 'first', 'last', 'reverse', 'sort', 'sort_natural', 'uniq'],
  ...['map: "k"', 'where: "k", $', 'reject: "n", $', 'find: "k", $', 'compact', 'concat: list'],
  ...['push: $', 'unshift: $', 'pop', 'shift', 'group_by: "n"', 'sum', 'default: $', 'times: 2'],
  ...['where_exp: "i", "i.n > 0"', 'group_by_exp: "i", "i.k"', 'date: "%Y"', 'url_encode'],
  ...['url_decode', 'slugify', 'escape', 'escape_once', 'strip_html', 'array_to_sentence_string'],
  ...['remove_first: $', 'replace_first: $, "q"', 'number_of_words', 'sha256', 'base64_encode'],
]
const WRITING_FILTERS = ['json', 'jsonify', 'inspect', 'json | split: "" | first']

function expressionOf(filters: string[]): fc.Arbitrary<string> {
  const filter = fc
    .tuple(fc.constantFrom(...filters), argument)
    .map(([name, given]) => ` | ${name.replace('$', given)}`)
  return fc
    .tuple(path, fc.array(filter, { maxLength: 3 }))
    .map(([head, chain]) => `${head}${chain.join('')}`)
}

function templateOf(filters: string[]): fc.Arbitrary<string> {
  const expression = expressionOf(filters)
  const { template } = fc.letrec<{ template: string; piece: string }>((tie) => ({
    template: fc.array(tie('piece'), { maxLength: 4 }).map((pieces) => pieces.join(' ')),
    piece: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      expression.map((given) => `{{ ${given} }}`),
      expression.map((given) => `{% assign x = ${given} %}{{ x }}`),
      expression.map((given) => `{% echo ${given} %}`),
      path.map((given) => `{% cycle ${given}, "q" %}`),
      tie('template').map((body) => `{% capture y %}${body}{% endcapture %}{{ y }}`),
      fc.tuple(path, tie('template')).map(([c, b]) => `{% for x in ${c} %}${b}{{ x }}{% endfor %}`),
      fc
        .tuple(path, tie('template'))
        .map(([c, b]) => `{% for p in ${c} %}{{p[0]}}${b}{% endfor %}`),
      path.map((given) => `{% tablerow x in ${given} cols: 2 %}{{ x }}{% endtablerow %}`),
      fc
        .tuple(path, argument, tie('template'))
        .map(([l, r, b]) => `{% if ${l} == ${r} or ${l} contains "q" %}${b}{% else %}n{% endif %}`),
      fc
        .tuple(path, argument, tie('template'))
        .map(([l, r, b]) => `{% case ${l} %}{% when ${r}, 1 %}${b}{% else %}n{% endcase %}`),
    ),
  }))
  return template
}

/** The library alone, printing a list with one item per line. */
const plainEngine = new Liquid({
  jsTruthy: true,
  locale: 'en-US',
  timezoneOffset: 0,
  outputEscape: plainPrint,
})

function plainPrint(value: unknown): string {
  if (!Array.isArray(value)) return plainText(value)
  return value.map((item) => `<li>${plainText(item)}</li>`).join('\n')
}

function plainText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(plainText).join('')
  return typeof value === 'object' ? '[object Object]' : String(value)
}

/** The library's result, or undefined if it fails. */
function plainRender(source: string, scope: Record<string, unknown>): string | undefined {
  try {
    return plainEngine.parseAndRenderSync(source, { size: undefined, ...scope, data: scope })
  } catch (error) {
    assert.ok(error instanceof Error)
    return undefined
  }
}

/** Filters that do more than cut and join text also taint the markup of a capture or a line break. */
function changesMarkup(source: string, printed: string): boolean {
  return /capture|newline_to_br/.test(source) && /[<>]/.test(printed)
}

/** Whether a filter may cut the template's own markup, a list item or a line break, in two. */
function cutsMarkup(source: string): boolean {
  if (/newline_to_br \|/.test(source)) return true
  return /capture|newline_to_br/.test(source) && /\b[xy] \||in [xy]\b/.test(source)
}

const GENERATED_MARKUP = /<\/?li>|<br \/>|<tr class="row\d+">|<td class="col\d+">|<\/t[rd]>/gi
const ENTITY = /&(?:amp|lt|gt|#34|#39);/gi

test('no template without raw prints stored markup', () => {
  const template = templateOf([...TEXT_FILTERS, ...OTHER_FILTERS, ...WRITING_FILTERS])
  fc.assert(
    fc.property(template, storedOf(storedText), (source, stored) => {
      const printed = render(source, { stored, request: { r: 'q' }, system: {} })
      const isFallback = printed.includes('{%') || printed.includes('{{')
      if (isFallback || cutsMarkup(source)) return
      const rest = printed.replace(GENERATED_MARKUP, '').replace(ENTITY, '')
      assert.doesNotMatch(rest, /[<>']/)
      // JSON of the template's own words has quotes.
      if (!/json|inspect/.test(source)) assert.doesNotMatch(rest, /"/)
      // Cutting an escaped text may cut an entity and leave its ampersand.
      if (!/escape|capture/.test(source)) assert.doesNotMatch(rest, /&/)
    }),
    { numRuns: 400 },
  )
})

test("values without markup give the library's own result", () => {
  fc.assert(
    fc.property(
      templateOf([...TEXT_FILTERS, ...OTHER_FILTERS]),
      storedOf(cleanText),
      (source, stored) => {
        const expected = plainRender(source, { ...stored, r: 'q' })
        if (expected === undefined || changesMarkup(source, expected)) return
        assert.equal(render(source, { stored, request: { r: 'q' }, system: {} }), expected)
      },
    ),
    { numRuns: 300 },
  )
})

test('text that the template adds is never escaped', () => {
  const additions = TEXT_FILTERS.flatMap((filter) => [filter, filter.replaceAll('"q"', '"<b>&"')])
  additions.push('append: "<br>"', 'prepend: "\'"', 'replace: "q", "<i>"', 'truncate: 2, "<s>"')
  const template = fc
    .array(expressionOf(additions), { maxLength: 3 })
    .map((expressions) => expressions.map((given) => `{{ ${given} }}`).join('<p title="x">'))
  const stored = fc.record({ a: cleanText, b: cleanText })
  fc.assert(
    fc.property(template, stored, (source, values) => {
      const expected = plainRender(source, { ...values, r: '<q>' })
      if (expected === undefined) return
      assert.equal(render(source, { stored: values, request: { r: '<q>' }, system: {} }), expected)
    }),
    { numRuns: 200 },
  )
})

test("in text format any values give the library's own result", () => {
  fc.assert(
    fc.property(
      templateOf([...TEXT_FILTERS, ...OTHER_FILTERS]),
      storedOf(storedText),
      (source, stored) => {
        const expected = plainRender(source, { ...stored, r: '<' })
        if (expected === undefined || expected.includes('<li>')) return
        assert.equal(render(source, { stored, request: { r: '<' }, system: {} }, 'text'), expected)
      },
    ),
    { numRuns: 200 },
  )
})

test('plain substitution gives the same result as the full language', () => {
  const value = fc.oneof(
    storedText,
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(null, '', 0, [], ['<', null, [1, ['>']]], { k: '<', size: 3 }, [{ k: '&' }]),
  )
  const values = fc.dictionary(
    fc.constantFrom('a', 'b', 'first name', 'data', 'size', 'constructor', '__proto__'),
    value,
  )
  const key = fc.constantFrom(
    ...['a', 'b', 'first name', 'k', '0', 'size', 'length', 'constructor', '__proto__', 'data'],
  )
  const placeholder = fc.oneof(
    fc.array(key, { minLength: 1, maxLength: 3 }).map((keys) => keys.join('.')),
    fc.tuple(key, fc.constantFrom('["k"]', '[0]', "['first name']")).map((parts) => parts.join('')),
    fc
      .tuple(key, fc.constantFrom('x', '"x y"', "it's", '', '"" ?? z'))
      .map((pair) => pair.join(' ?? ')),
  )
  const source = fc.array(placeholder).map((all) => all.map((one) => `{{ ${one} }}`).join('<br>'))
  fc.assert(
    fc.property(source, values, values, values, (template, stored, request, system) => {
      const variables = { stored, request, system }
      const whole = `${template}{% comment %}{% endcomment %}`
      assert.equal(render(template, variables), render(whole, variables))
      assert.equal(render(template, variables, 'text'), render(whole, variables, 'text'))
    }),
    { numRuns: 250 },
  )
})
