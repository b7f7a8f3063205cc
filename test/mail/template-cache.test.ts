import assert from 'node:assert/strict'
import test from 'node:test'
import { createTemplateCache } from '../../src/mail/template-cache.ts'

test('equal texts are compiled once, for each use that is made of them', () => {
  const cache = createTemplateCache()
  const html = cache.prepare('Dear {{ name }}', { target: 'html' })
  assert.equal(cache.prepare(['Dear ', '{{ name }}'].join(''), { target: 'html' }), html)
  const text = cache.prepare('Dear {{ name }}', { target: 'text' })
  const plain = cache.prepare('Dear {{ name }}', { target: 'html', isPlain: true })
  assert.equal(text.template.target, 'text')
  assert.equal(new Set([html, text, plain]).size, 3)
  assert.equal(cache.prepare('Dear {{ name }}', { target: 'html' }), html)
})

test('a stencil is made for the second message, of HTML with placeholders only', () => {
  const cache = createTemplateCache()
  const asked = (source: string, target: 'html' | 'text') => {
    const prepared = cache.prepare(source, { target })
    return [1, 2, 3].map(() => prepared.stencil() !== undefined)
  }
  assert.deepEqual(asked('<p>{{ name }}</p>', 'html'), [false, true, true])
  assert.deepEqual(asked('<p>{{ name | upcase }}</p>', 'html'), [false, false, false])
  assert.deepEqual(asked('{{ name }}', 'text'), [false, false, false])
})

test('what is not used gives way, by number and by size', () => {
  const cache = createTemplateCache()
  const small = cache.prepare('small', { target: 'text' })
  for (let n = 0; n < 200; n += 1) cache.prepare(`other ${n}`, { target: 'text' })
  assert.notEqual(cache.prepare('small', { target: 'text' }), small)
  const first = cache.prepare(`first ${'x'.repeat(1_000_000)}`, { target: 'text' })
  for (let n = 0; n < 4; n += 1) cache.prepare(`${n} ${'x'.repeat(1_000_000)}`, { target: 'text' })
  assert.notEqual(cache.prepare(`first ${'x'.repeat(1_000_000)}`, { target: 'text' }), first)
})
