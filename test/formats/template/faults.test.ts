import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QuickLimitError } from '../../../src/formats/compose/quick-limit-error.ts'
import { QUICK_LIMITS } from '../../../src/formats/template/limits.ts'
import {
  compileTemplate,
  countMarkers,
  renderSubject,
  renderTemplate,
  type TemplateFault,
} from '../../../src/formats/template/template.ts'

const at = 0

function render(source: string, request: Record<string, unknown> = {}, options = {}) {
  const variables = { stored: {}, request, system: {} }
  return renderTemplate(compileTemplate(source, 'html', options), variables, { at })
}

const faulty: [source: string, text: string, fault: TemplateFault][] = [
  [
    'Dear\n{{ name | shout }}',
    'Dear\nAda',
    { message: 'undefined filter: shout', line: 2, column: 1 },
  ],
  [
    '{{ name }}\n {% if name %}x',
    'Ada\n {% if name %}x',
    { message: 'tag {% if name %} not closed', line: 2, column: 2 },
  ],
  [
    '{{ name }} {{ order',
    'Ada {{ order',
    { message: 'output "{{ order" not closed', line: 1, column: 12 },
  ],
  [
    '{{ name }} {{ bad | url_decode }}',
    'Ada %zz',
    { message: 'URI malformed', line: 1, column: 12 },
  ],
  [
    '{{ name }}{{ (1..100000000) | join }}',
    'Ada',
    { message: 'it needs too much memory', line: 1, column: 11 },
  ],
  [
    `{{ name }}{{ name | date: '${'%Y'.repeat(200)}' }}`,
    'AdaAda',
    { message: 'a date format is too long', line: 1, column: 11 },
  ],
]

test('a fault is returned with its position, and the text is rendered anyway', () => {
  for (const [source, text, fault] of faulty) {
    const rendered = render(source, { name: 'Ada', bad: '%zz' })
    assert.equal(rendered.text, text, source)
    assert.deepEqual(rendered.fault, fault, source)
  }
  const subject = compileTemplate('{{ name | shout }}', 'text')
  const variables = { stored: {}, request: { name: 'Ada' }, system: {} }
  assert.equal(renderSubject(subject, variables).fault?.message, 'undefined filter: shout')
})

test('a correct template with any text has no fault', () => {
  const sources = [
    'Hello',
    '{{ name }}',
    '{{ a | upcase }}',
    '{ {{ name }} }} %}',
    '{% raw %}{{{% endraw %}',
  ]
  for (const source of sources)
    assert.equal(render(source, { name: '{{ x' }).fault, undefined, source)
  const many = render('{{ name }}'.repeat(20_000), { name: 'x' })
  assert.deepEqual([many.text.length, many.fault], [20_000, undefined])
})

test('a template rendered as plain has a fault if its rendering lost something', () => {
  const lost = render('{% if name %}{{ name }}{% endif %}', { name: 'Ada' }, { isPlain: true })
  assert.equal(lost.text, '{% if name %}Ada{% endif %}')
  assert.match(lost.fault?.message ?? '', /took longer than a second/)
  assert.equal(render('{{ name }}', { name: 'Ada' }, { isPlain: true }).fault, undefined)
})

test('placeholders up to the limit are filled in, the rest is unchanged', () => {
  const { text, fault } = render('{{ name }}'.repeat(20_001), { name: 'x' })
  assert.equal(text, `${'x'.repeat(20_000)}{{ name }}`)
  assert.equal(fault?.message, 'too many or too long placeholders and tags')
})

test('a text without placeholders is never cut', () => {
  const source = 'x'.repeat(10_000_001)
  assert.equal(render(source).text.length, source.length)
})

test('markers are counted by their beginnings, up to one beyond the limit', () => {
  assert.equal(countMarkers('{{ a }} {% if b %} { { %} }}'), 2)
  assert.equal(countMarkers('{{'.repeat(30_000)), 20_001)
})

const tooMuch: [why: string, source: string, request: Record<string, unknown>][] = [
  ['output', '{{ a }}'.repeat(10), { a: 'x'.repeat(60_000) }],
  ['output of tags', '{% for i in (1..10) %}{{ a }}{% endfor %}', { a: 'x'.repeat(60_000) }],
  ['a search', '{% if a contains b %}{% endif %}', { a: 'x'.repeat(60_000), b: 'x'.repeat(6_000) }],
]

test('a rendering beyond the quick limits throws, and succeeds with the full limits', () => {
  for (const [why, source, request] of tooMuch) {
    const variables = { stored: {}, request, system: {} }
    const compiled = compileTemplate(source, 'html')
    const quickly = () => renderTemplate(compiled, variables, { at, limits: QUICK_LIMITS })
    assert.throws(quickly, QuickLimitError, why)
    assert.equal(renderTemplate(compiled, variables, { at }).fault, undefined, why)
  }
})

test('a loop that takes long, or much memory, exceeds the quick limits', () => {
  const sources = [
    '{% for i in (1..900) %}{% for j in (1..900) %}{{ x }}{% endfor %}{% endfor %}',
    '{% for i in (1..20) %}{% assign b = b | append: a %}{% endfor %}',
  ]
  const variables = { stored: {}, request: { a: 'x'.repeat(60_000) }, system: {} }
  for (const source of sources) {
    const compiled = compileTemplate(source, 'html')
    assert.throws(
      () => renderTemplate(compiled, variables, { at, limits: QUICK_LIMITS }),
      QuickLimitError,
    )
  }
})

test('a fault of the template itself does not throw with the quick limits', () => {
  const variables = { stored: {}, request: { bad: '%zz' }, system: {} }
  const compiled = compileTemplate('{{ bad | url_decode }}', 'html')
  const { text, fault } = renderTemplate(compiled, variables, { at, limits: QUICK_LIMITS })
  assert.deepEqual([text, fault?.message], ['%zz', 'URI malformed'])
})
