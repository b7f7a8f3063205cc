import assert from 'node:assert/strict'
import test from 'node:test'
import { createTemplateCache } from '../../../src/formats/precomposed/template-cache.ts'
import { LANGUAGES } from '../../../src/texts/languages.ts'
import { testTracker } from '../tracker.ts'

test('equal texts are compiled once for each format', () => {
  const cache = createTemplateCache(testTracker())
  const html = cache.prepare('Dear {{ name }}', { format: 'html' })
  assert.equal(cache.prepare(['Dear ', '{{ name }}'].join(''), { format: 'html' }), html)
  const text = cache.prepare('Dear {{ name }}', { format: 'text' })
  const plain = cache.prepare('Dear {{ name }}', { format: 'html', isPlain: true })
  assert.equal(text.template.format, 'text')
  assert.equal(new Set([html, text, plain]).size, 3)
  assert.equal(cache.prepare('Dear {{ name }}', { format: 'html' }), html)
})

test('a body is precomposed for the second message, of HTML with plain placeholders only', () => {
  const cache = createTemplateCache(testTracker())
  const asked = (source: string, format: 'html' | 'text') => {
    const prepared = cache.prepare(source, { format })
    const kind = { footer: undefined, isTracked: false }
    return [1, 2, 3].map(() => prepared.precomposed(kind) !== undefined)
  }
  assert.deepEqual(asked('<p>{{ name }}</p>', 'html'), [false, true, true])
  assert.deepEqual(asked('<p>{{ name | upcase }}</p>', 'html'), [false, false, false])
  assert.deepEqual(asked('{{ name }}', 'text'), [false, false, false])
})

test('a text sent in many kinds has as many precomposed bodies as fit its share of memory', () => {
  const cache = createTemplateCache(testTracker())
  const made = (source: string) => {
    const prepared = cache.prepare(source, { format: 'html' })
    const footers = LANGUAGES.map((language) => ({ language, hasPostalAddress: false }))
    const kinds = footers.flatMap((footer) => [
      { footer, isTracked: true },
      { footer, isTracked: false },
    ])
    return kinds.filter((kind) => {
      prepared.precomposed(kind)
      return prepared.precomposed(kind) !== undefined
    }).length
  }
  assert.equal(made('<p>{{ name }}</p>'), 2 * LANGUAGES.length)
  const large = made(`<p>{{ name }}</p>${'x'.repeat(100_000)}`)
  assert.ok(large > 1 && large < LANGUAGES.length, `${large}`)
  assert.equal(made(`<p>{{ name }}</p>${'x'.repeat(290_000)}`), 1)
  // Each slot of each body remembers a value.
  const slots = made(Array.from({ length: 100 }, (_, slot) => `{{ value${slot} }} `).join(''))
  assert.ok(slots > 1 && slots < LANGUAGES.length, `${slots}`)
})

test('unused templates are evicted, by number and by size', () => {
  const cache = createTemplateCache(testTracker())
  const small = cache.prepare('small', { format: 'text' })
  for (let n = 0; n < 200; n += 1) cache.prepare(`other ${n}`, { format: 'text' })
  assert.notEqual(cache.prepare('small', { format: 'text' }), small)
  const first = cache.prepare(`first ${'x'.repeat(1_000_000)}`, { format: 'text' })
  for (let n = 0; n < 4; n += 1) cache.prepare(`${n} ${'x'.repeat(1_000_000)}`, { format: 'text' })
  assert.notEqual(cache.prepare(`first ${'x'.repeat(1_000_000)}`, { format: 'text' }), first)
})
