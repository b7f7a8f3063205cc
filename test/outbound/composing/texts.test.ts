/** Texts that are no part of a message, in a real thread. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { placeUrlValues } from '../../../src/formats/template/url-values.ts'
import { renderTextsInThread } from '../../../src/outbound/composing/texts.ts'
import { createThreadTasks } from '../../../src/outbound/composing/thread-tasks.ts'
import type { TextsSource } from '../../../src/outbound/protocol.ts'
import { testTracker } from '../../formats/tracker.ts'

const settings = {
  ...{ ehloName: 'mx.test', relay: null, tracker: testTracker(), timeouts: {}, idleMs: 1_000 },
}

const variables = {
  stored: { name: 'Ann & <Bo>' },
  request: { order: 7, event: { order: 7 } },
  system: { email: 'ann@people.test' },
}

const ofText = (source: string) => ({ source, format: 'text' as const })

const tasks = createThreadTasks({ settings, log: silentLog(), hangMs: 30_000, restMs: 1_000 })
after(() => tasks.stop())
const texts = { render: (source: TextsSource) => renderTextsInThread(tasks, source) }

test('templates are rendered as plain text, faulty ones by their placeholders', async () => {
  const templates = ['{{ name }}', '{{ event.order | plus: 1 }}', '{{ email ?? no }} {% if %}', 'x']
  const rendered = await texts.render({ templates: templates.map(ofText), variables, at: 0 })
  assert.deepEqual(rendered, ['Ann & <Bo>', '8', 'ann@people.test {% if %}', 'x'])
})

test('values of a url are marked for the place that they stand at', async () => {
  const templates = ['https://h.test/{{ name }}', '{{ name | upcase }}'].map((source, index) => ({
    ...{ source, format: index === 0 ? ('url' as const) : ('text' as const) },
  }))
  const [url = '', text] = await texts.render({ templates, variables, at: 0 })
  assert.deepEqual(placeUrlValues(url), { url: 'https://h.test/Ann%20%26%20%3CBo%3E' })
  assert.equal(text, 'ANN & <BO>')
})

test('texts that take long have no result, and the next ones are rendered as ever', async () => {
  const loop =
    '{% for a in (1..9999) %}{% for b in (1..9999) %}{{ a | times: b }}{% endfor %}{% endfor %}'
  assert.equal(
    await texts.render({ templates: ['x', loop].map(ofText), variables, at: 0 }),
    'too heavy',
  )
  assert.deepEqual(await texts.render({ templates: [ofText('{{ order }}')], variables, at: 0 }), [
    '7',
  ])
})

test('the texts of a request share one limit on their output', async () => {
  const long = '{% for a in (1..9000) %}{{ name }}{{ order }}0123456789{% endfor %}'
  const render = (count: number) =>
    texts.render({ templates: Array.from({ length: count }, () => ofText(long)), variables, at: 0 })
  assert.equal((await render(2)).length, 2)
  assert.equal(await render(20), 'too heavy')
  const plain = Array.from({ length: 20 }, () => `{{ name }}${'x'.repeat(100_000)}`)
  assert.equal(await texts.render({ templates: plain.map(ofText), variables, at: 0 }), 'too heavy')
})

test('the texts of a request share one limit on their time', async () => {
  const slow = '{% for a in (1..20000) %}{% assign b = a | times: a %}{% endfor %}'
  const one = await texts.render({ templates: [ofText(slow)], variables, at: 0 })
  assert.deepEqual(one, [''])
  const many = Array.from({ length: 400 }, () => slow)
  assert.equal(await texts.render({ templates: many.map(ofText), variables, at: 0 }), 'too heavy')
})
