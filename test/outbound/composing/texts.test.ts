/** Texts that are no part of a message, in a real thread. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/log.ts'
import { createTexts } from '../../../src/outbound/composing/texts.ts'
import { testTracker } from '../../mail/tracker.ts'

const settings = {
  ...{ ehloName: 'mx.test', relay: null, tracker: testTracker(), timeouts: {}, idleMs: 1_000 },
}

const variables = {
  stored: { name: 'Ann & <Bo>' },
  request: { order: 7, event: { order: 7 } },
  system: { email: 'ann@people.test' },
}

test('templates are rendered as plain text, faulty ones by their placeholders', async (t) => {
  const texts = createTexts({ settings, log: silentLog(), hangMs: 5_000, restMs: 1_000 })
  t.after(() => texts.stop())
  const templates = ['{{ name }}', '{{ event.order | plus: 1 }}', '{{ email ?? no }} {% if %}', 'x']
  const rendered = await texts.render({ templates, variables, at: 0 })
  assert.deepEqual(rendered, ['Ann & <Bo>', '8', 'ann@people.test {% if %}', 'x'])
})

test('a text that takes long is cut short, and the next one is rendered as ever', async (t) => {
  const texts = createTexts({ settings, log: silentLog(), hangMs: 5_000, restMs: 1_000 })
  t.after(() => texts.stop())
  const loop =
    '{% for a in (1..9999) %}{% for b in (1..9999) %}{{ a | times: b }}{% endfor %}{% endfor %}'
  const startedAt = performance.now()
  const [long] = (await texts.render({ templates: [loop], variables, at: 0 })) as string[]
  assert.ok((long?.length ?? 0) <= 1_000_000)
  assert.ok(performance.now() - startedAt < 4_000)
  assert.deepEqual(await texts.render({ templates: ['{{ order }}'], variables, at: 0 }), ['7'])
})
