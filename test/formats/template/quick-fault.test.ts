import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  checkTemplate,
  compileTemplate,
  findQuickFault,
} from '../../../src/formats/template/template.ts'

test('a quick look finds what the email would report, and odd names', () => {
  const piece = fc.constantFrom(
    ...[
      'a',
      '\n',
      '{{ name }}',
      '{{ a.b ?? c }}',
      '{{ x | upcase }}',
      '{{ x | nope }}',
      '{{',
      '}}',
    ],
    ...['{{ if a }}', '{{ end }}', '{{ a if b else c }}'],
    ...['{% if a %}', '{% endif %}', '{% raw %}', '{% endraw %}', '{%', '%}', '{', '{{- y -}}'],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const source = pieces.join('')
      const found = findQuickFault(source)
      const { fault } = compileTemplate(source, 'html')
      // A placeholder with an odd name prints nothing, and is no fault in mail that is on its way.
      if (found === undefined) assert.equal(fault, undefined)
      else assert.deepEqual(found, checkTemplate(source))
    }),
    { numRuns: 2_000 },
  )
})

test('blocks and names of another language are faults', () => {
  for (const source of [
    '{{#if a}}x{{/if}}',
    '{{/each}}',
    '{{^x}}',
    '{{ @a }}',
    '{{ $a }}',
    '{{ *a }}',
    '{{ if a }}x{{ end }}',
    '{{ range a }}x{{ else }}',
    '{{ a if b else c }}',
  ]) {
    const fault = findQuickFault(source)
    assert.ok(fault !== undefined && fault !== 'slow', source)
  }
  for (const source of [
    '{{ naïve }}',
    '{{ data.a }}',
    '{{ a ?? b }}',
    '{{ _a }}',
    '{{ end }}',
    '{{ if a }}',
  ]) {
    assert.equal(findQuickFault(source), undefined, source)
  }
})

test('a text of many markers is left to a thread, unless they are plain', () => {
  assert.equal(findQuickFault('{{ a | upcase }}'.repeat(201)), 'slow')
  assert.equal(findQuickFault('{{ a }}'.repeat(2_000)), undefined)
  assert.equal(findQuickFault('{{ a }}'.repeat(2_001)), 'slow')
  assert.equal(findQuickFault(`{{ a | upcase }}${' '.repeat(256 * 1024)}`), 'slow')
})
