import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeliverer } from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { startQueue } from '../../../../../src/features/mail/messages/queue/queue.ts'
import { address } from '../../../../core.ts'
import { pause } from '../../../../pause.ts'
import { openSender } from '../sender.ts'

test('mail to several domains that comes while the queue rests is claimed at once', async (t) => {
  const { core, tasks, send } = await openSender(t)
  const deliverer = createDeliverer(core)
  const claims: number[] = []
  const deliver: typeof deliverer.deliver = (claimed) => {
    claims.push(claimed.length)
    return deliverer.deliver(claimed)
  }
  const queue = startQueue(core, { ...deliverer, deliver })
  t.after(queue.stop)
  // Until the queue has been opened, and rests.
  for (let ms = 0; ms < 100; ms += 1) await pause()
  const to = ['a.test', 'b.test', 'c.test'].map((domain) => ({
    address: address(`ada@${domain}`),
    name: null,
  }))
  await send({ to })
  while (tasks.length < 3) await pause()
  assert.deepEqual(claims, [3])
})
