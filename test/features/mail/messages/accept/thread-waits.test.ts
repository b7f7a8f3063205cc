/** Send requests whose texts are read in a composing thread: how they wait for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as othersTurn } from 'node:timers/promises'
import {
  createTemplateChecker,
  htmlOfMarkdown,
} from '../../../../../src/features/mail/messages/accept/template-check.ts'
import { runFor, type WorkOwner } from '../../../../../src/turns/owner.ts'
import { RENDERING_LIMITS } from '../../../../../src/turns/rendering.ts'
import { createTurns } from '../../../../../src/turns/turns.ts'
import { fakeClient } from '../../../../turns/fake-client.ts'

const LONG = '{{ name | upcase }}'.repeat(500)
const LEFT = { code: 'REQUEST_TIMEOUT' }

/** One thread; `answer` ends the work that runs. */
function open() {
  const turns = createTurns({ ...RENDERING_LIMITS, atOnce: 1 })
  const running: PromiseWithResolvers<void>[] = []
  const work = () => {
    const settled = Promise.withResolvers<void>()
    running.push(settled)
    return settled.promise
  }
  const outbound = {
    checkTemplate: () => turns.take(work).then(() => undefined),
    convertMarkdown: () => turns.take(work).then(() => '<p>x</p>'),
  }
  const find = createTemplateChecker(outbound)
  let checked = 0
  const acts: Record<string, () => Promise<unknown>> = {
    'a long template': () => find({ body: `${LONG}${checked++}` }, { isQuick: false }),
    Markdown: () => htmlOfMarkdown(outbound, '# x'),
  }
  const act = (name: string) => acts[name] ?? assert.fail(name)
  return { act, answer: () => running.shift()?.resolve(), running, turns }
}

function request(key = 'project') {
  const client = fakeClient()
  const owner: WorkOwner = { key, isJob: false, client }
  return { client, run: <T>(act: () => T): T => runFor(owner, act) }
}

for (const name of ['a long template', 'Markdown'] as const) {
  test(`${name} is read for a client that waits`, async () => {
    const { act, answer } = open()
    const read = request().run(act(name))
    answer()
    await read
  })

  test(`${name} leaves the line with its client`, async () => {
    const { act, turns, running } = open()
    const first = request().run(act(name))
    const { client, run } = request()
    const second = assert.rejects(run(act(name)), LEFT)
    assert.equal(turns.waiting(), 1)
    client.leave()
    await second
    assert.equal(turns.waiting(), 0)
    running[0]?.resolve()
    await first
  })

  test(`${name} whose client leaves while it is read is not accepted`, async () => {
    const { act, answer } = open()
    const { client, run } = request()
    const read = assert.rejects(run(act(name)), LEFT)
    client.leave()
    answer()
    await read
  })

  test(`${name} is refused when as many requests wait as may`, async () => {
    const { act, answer } = open()
    const all = Array.from({ length: 1 + RENDERING_LIMITS.waitingPerProject }, () =>
      request().run(act(name)),
    )
    await assert.rejects(request().run(act(name)), { code: 'RATE_LIMIT_EXCEEDED' })
    const other = request('another').run(act(name))
    for (const _ of [...all, other]) {
      answer()
      await othersTurn()
    }
    await Promise.all([...all, other])
  })
}

test('what ended a thread is checked again, because the load may have been the reason', async () => {
  const results = ['too heavy', undefined] as const
  let asked = 0
  const find = createTemplateChecker({ checkTemplate: async () => results[asked++] })
  const [fault] = await find({ body: LONG }, { isQuick: false })
  assert.match(fault?.message ?? '', /too much time or memory/)
  assert.deepEqual(await find({ body: LONG }, { isQuick: false }), [])
  assert.deepEqual(await find({ body: LONG }, { isQuick: false }), [])
  assert.equal(asked, 2)
})

test('a quick check uses no thread', async () => {
  const find = createTemplateChecker({ checkTemplate: () => assert.fail('a thread') })
  assert.deepEqual(await find({ body: `${LONG}{% if` }, { isQuick: true }), [])
  const [fault] = await find({ body: '{% if' }, { isQuick: true })
  assert.equal(fault?.field, 'body')
})

test('a text has its own faults, also beside one that differs from it in a few characters', async () => {
  const find = createTemplateChecker()
  const texts = Array.from({ length: 40 }, (_, at) => {
    const filler = 'x'.repeat(at * 10)
    return ['{{ a }}', '{{ a }x'].map((end) => `${filler}${end}${'y'.repeat(400 - filler.length)}`)
  })
  for (const [whole = '', broken = ''] of [...texts, ...texts]) {
    assert.deepEqual(await find({ body: whole }, { isQuick: false }), [])
    assert.equal((await find({ body: broken }, { isQuick: false })).length, 1)
    assert.deepEqual(await find({ body: whole }, { isQuick: false }), [])
  }
})
