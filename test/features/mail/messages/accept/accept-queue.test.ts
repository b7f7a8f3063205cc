import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAcceptQueue } from '../../../../../src/features/mail/messages/accept/accept-queue.ts'
import type { EmailPlan } from '../../../../../src/features/mail/messages/accept/plan.ts'
import type { WriteOptions } from '../../../../../src/store/write/writer.ts'

/** The options of each write; nothing is written. */
function openQueue() {
  const written: WriteOptions[] = []
  const write = (_: unknown, options: WriteOptions = {}) => {
    written.push(options)
    return new Promise<never>(() => undefined)
  }
  const store = { write, recountCallers: () => undefined }
  const deps = { store } as unknown as Parameters<typeof createAcceptQueue>[0]
  return { queue: createAcceptQueue(deps), written }
}

function planOf(body: string, variables: object): EmailPlan {
  const content = { body, text: null, attachments: null, chunkBytes: 0 }
  const facts = { project: { id: 'p' }, request: { to: [{}] }, origin: {} }
  return { ...facts, content, data: { variables } } as unknown as EmailPlan
}

test('a plan is weighed once, and a heavy one has a transaction of its own', () => {
  const { queue, written } = openQueue()
  let texts = 0
  const name = {
    toJSON() {
      texts += 1
      return 'Ada'
    },
  }
  void queue(planOf('short', { name }), async () => undefined)
  assert.equal(texts, 1)
  void queue(planOf('long'.repeat(150_000), { name }), async () => undefined)
  assert.equal(texts, 2)
  assert.deepEqual(
    written.map(({ heavyFor }) => heavyFor),
    [undefined, 'p'],
  )
})
