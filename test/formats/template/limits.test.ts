import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  checkTemplate,
  compileTemplate,
  renderSubject,
  renderTemplate,
} from '../../../src/formats/template/template.ts'
import { withinCpuMs } from '../../cpu-time.ts'

const MAX_CPU_MS = 3_000

/** Renders with stored values or values of the request, and asserts bounded time and length. */
function attack(source: string, values: Record<string, unknown> = {}, isStored = true): string {
  const variables = {
    stored: isStored ? values : {},
    request: isStored ? {} : values,
    system: {},
  }
  const render = () => renderTemplate(compileTemplate(source, 'html'), variables, { at: 0 })
  const { text: printed } = withinCpuMs(MAX_CPU_MS, render, source.slice(0, 60))
  assert.ok(printed.length <= 10_000_000)
  return printed
}

test('S19: an endless loop is stopped after a second, and placeholders are still filled in', () => {
  const source = '{% for i in (1..9000) %}{% for j in (1..9000) %}{% endfor %}{% endfor %}{{ a }}'
  assert.equal(attack(source, { a: 'x' }), source.replace('{{ a }}', 'x'))
})

test('S19: a template that needs too much memory is stopped', () => {
  const grow =
    '{% assign a = "xxxxxxxx" %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}{{ a }}'
  assert.equal(attack(grow).slice(0, 10), '{% assign ')
  assert.equal(attack('{{ (1..100000000) }}x'), 'x')
  assert.equal(
    attack('{{ a | split: "" | sort | size }}', { a: 'x'.repeat(9_000_000) }).length,
    9_000_000,
  )
})

test('S19: printed and captured text is cut at 10,000,000 characters', () => {
  const a = 'x'.repeat(4_000_000)
  assert.equal(attack('{{ a }}{{ a }}{{ a }}', { a }).length, 10_000_000)
  const loop = '{% for i in (1..9000) %}{{ a }}{% endfor %}'
  assert.equal(attack(loop, { a }).length, 4_000_000 + loop.length - 7)
  const capture = '{% for i in (1..99) %}{% capture c %}{{ c }}{{ a }}{% endcapture %}{% endfor %}'
  assert.ok(attack(`${capture}{{ c | upcase }}`, { a }).startsWith('{% for'))
})

test('lists that share their parts cannot grow without limit', () => {
  const grow = '{% for i in (1..60) %}{% assign l = l | push: l %}{% endfor %}'
  for (const use of ['{{ l }}', '{{ l | join }}', '{{ l | json }}', '{% if l == l %}{% endif %}']) {
    assert.match(attack(`{% assign l = "x,y" | split: "," %}${grow}${use}`), /^\{% assign/)
  }
})

test('deep nesting, in values and in templates, overflows nothing', () => {
  const deep = (count: number) => {
    let value: unknown = 'x'
    for (let index = 0; index < count; index += 1) value = index % 2 === 0 ? [value] : { k: value }
    return value
  }
  const lists = (count: number) => JSON.parse(`${'['.repeat(count)}"x"${']'.repeat(count)}`)
  for (const isStored of [true, false]) {
    for (const value of [deep(5000), lists(5000)]) {
      attack('{{ d }}{{ d.0 }}{{ d | json }}', { d: value }, isStored)
      attack('{{ d | join }}', { d: value }, isStored)
      attack(
        '{{ d | upcase | append: d }}{% if d == d or d < d %}{% endif %}',
        { d: value },
        isStored,
      )
    }
  }
  const tags = '{% if true %}'.repeat(10_000)
  assert.equal(attack(tags), tags)
  assert.match(checkTemplate(tags)?.message ?? '', /nested too deeply|not closed/)
})

test('S19: no filter takes quadratic time', () => {
  const long = 'a'.repeat(8_000_000)
  const needle = `${'a'.repeat(3000)}b${'a'.repeat(3000)}`
  for (const filter of ['replace: n, "x"', 'remove_last: n', 'replace_first: n', 'split: n']) {
    attack(`{{ a | ${filter} | size }}`, { a: long, n: needle })
  }
  attack('{% if a contains n %}{% endif %}', { a: long, n: needle })
  attack('{{ 0 | date: f }}', { f: '%A'.repeat(1_000_000) })
  attack('{{ 0 | date: f }}', { f: `%${'0'.repeat(1_000_000)}\n` })
  attack('{{ 0 | date: "%999999999d" }}')
  attack('{{ a | date: "%Y" | size }}', { a: '1'.repeat(8_000_000) })
  attack('{{ a | escape | size }}', { a: '<'.repeat(1_000_000) })
  attack(`{{ a ${'| slice: -1, 9000000 '.repeat(5_000)} }}`, { a: long })
  attack('{{ a | where_exp: "i", "i > 1" | size }}', {
    a: Array.from({ length: 100_000 }, () => 1),
  })
})

test('S19: no source takes quadratic time to parse', () => {
  const sources = [
    '{{a}}'.repeat(60_000),
    '{% if a %}{% endif %}'.repeat(5_000),
    '{{'.repeat(400_000),
    '{%'.repeat(400_000),
    "{{'}}".repeat(60_000),
    `{% # ${'\n'.repeat(190_000)}#x %}`,
    `{% # ${'\n'.repeat(1_900_000)}#x %}`,
    `{% liquid\n${'echo a\n'.repeat(8_000)}%}`,
    '{% comment %}'.repeat(30_000),
    `{% raw %}${'{% endraw '.repeat(80_000)}`,
    `{{ a ${'?? '.repeat(80_000)}}}`,
    `{{ a${' '.repeat(1_900_000)}b }}`,
    `{{ ${'a.'.repeat(100_000)}}}`,
    `{{ ${'a '.repeat(100_000)}}}`,
    'x'.repeat(2_000_001),
  ]
  for (const source of sources) {
    withinCpuMs(MAX_CPU_MS, () => checkTemplate(source), source.slice(0, 20))
    attack(source)
  }
})

test('S19: no property of a prototype can be read', () => {
  const paths = ['constructor', '__proto__', 'toString', 'o.constructor', 'o.__proto__.toString']
  paths.push('o["constructor"]["prototype"]', 'l.constructor', 'l.push', 's.at', 's.length.toFixed')
  const values = { o: {}, l: [1], s: '<' }
  for (const path of paths) {
    for (const isStored of [true, false]) {
      assert.equal(attack(`[{{ ${path} }}]`, values, isStored), '[]')
      assert.equal(attack(`[{% if true %}{{ ${path} }}{% endif %}]`, values, isStored), '[]')
      assert.equal(attack(`[{{ l | map: '${path}' | join }}]`, values, isStored), '[]')
    }
  }
  const own = JSON.parse('{"__proto__": {"a": 1}, "toString": 1, "valueOf": 2, "then": 3}')
  attack('{{ o }}{{ o | json }}{{ o | append: "x" }}{% for p in o %}{{ p }}{% endfor %}', {
    o: own,
  })
  assert.equal(({} as Record<string, unknown>).a, undefined)
})

test('S19: no filter or variable reaches the environment, files or the network', () => {
  for (const name of ['env', 'expandenv', 'getHostByName', 'file', 'read', 'fetch', 'import']) {
    assert.match(checkTemplate(`{{ "x" | ${name} }}`)?.message ?? '', /undefined filter/)
    assert.equal(attack(`{{ "x" | ${name} }}{{ ${name} }}{{ process.env }}{{ global }}`), 'x')
  }
})

test('compiling, rendering and checking never throw, for any template', () => {
  const fragment = fc.constantFrom(
    ...[
      '{{',
      '}}',
      '{%',
      '%}',
      '{{-',
      '-%}',
      ' a ',
      'a.b',
      '["',
      '"]',
      "'",
      '"',
      '??',
      '|',
      ':',
      ',',
    ],
    ...[
      'if',
      'endif',
      'for',
      ' in ',
      'endfor',
      'raw',
      'endraw',
      'comment',
      'capture x',
      'case',
      'when',
    ],
    ...[
      'assign x = ',
      'cycle',
      'liquid\n',
      '#',
      '&quot;',
      '&#0;',
      '&nbsp;',
      '(1..3)',
      '==',
      'contains',
    ],
    ...[
      'upcase',
      'date',
      'sort',
      'json',
      'where',
      'first name',
      '-',
      '\\',
      '\n',
      '<b>',
      '\ufdd0',
      '\ud800',
    ],
  )
  const value = fc.jsonValue()
  const source = fc.array(fragment, { maxLength: 14 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(source, value, value, (template, a, b) => {
      const variables = { stored: { a, 'first name': b }, request: { x: b }, system: { id: a } }
      for (const format of ['html', 'text'] as const) {
        const compiled = compileTemplate(template, format)
        assert.equal(typeof renderTemplate(compiled, variables).text, 'string')
        assert.doesNotMatch(renderSubject(compiled, variables).text, /[\r\n\0]/)
      }
      const fault = checkTemplate(template)
      assert.ok(fault === undefined || (Number(fault.line) >= 1 && Number(fault.column) >= 1))
    }),
    { numRuns: 300 },
  )
})
