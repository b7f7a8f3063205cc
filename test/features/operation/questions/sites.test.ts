import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Core } from '../../../../src/core/core.ts'
import { liftSite } from '../../../../src/features/operation/questions/answer.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { address, START } from '../../../core.ts'
import { openSender } from '../../mail/messages/sender.ts'

test('the result of a lift counts all waiting emails, including those that were due before', async (t) => {
  const { core, send } = await openSender(t)
  const sent = async (to: string, dueAt: number) => {
    const { emails: accepted } = await send({ to: [{ address: address(to), name: null }] })
    const id = accepted[0]?.email as string
    await core.store.write((tx) => tx.update(emails).set({ dueAt }).where(eq(emails.id, id)))
  }
  await sent('due@x.test', START)
  await sent('later@y.test', START + 60_000)
  await sent('elsewhere@z.test', START)
  const outbound = {
    sites: () => [{ site: 'mx.test' }],
    siteOf: (domain: string) => (domain === 'z.test' ? 'z.test' : 'mx.test'),
    liftSite: () => true,
  } as unknown as Core['outbound']
  const question = { site: 'x.test', domains: ['x.test', 'y.test', 'z.test'] }
  const answer = await liftSite({ ...core, outbound }, question)
  assert.deepEqual(answer, {
    ...{ site: 'mx.test', isKnown: true, isLifted: true },
    ...{ domains: ['x.test', 'y.test'], waiting: 2 },
  })
})
