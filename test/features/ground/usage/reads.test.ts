import assert from 'node:assert/strict'
import { it } from 'node:test'
import { cancelEmails, retryEmails } from '../../../../src/features/mail/messages/queue/operate.ts'
import { retryFailed } from '../../../../src/features/outreach/campaigns/retry-failed.ts'
import { sendCampaign } from '../../../../src/features/outreach/campaigns/sending/send.ts'
import type { Store } from '../../../../src/store/store.ts'
import type { Tx } from '../../../../src/store/write/transaction.ts'
import type { TestCore } from '../../../core.ts'
import { setEmails } from '../../../set-emails.ts'
import {
  addCampaign,
  addContacts,
  loadProgress,
  people,
  runUntil,
} from '../../outreach/campaigns/sending/campaign.ts'
import { follow, openLimited, setColumns } from './usage.ts'

/** Counts the transactions, and how often each reads the use of a project. */
function countingReads(core: TestCore) {
  const reads: number[] = []
  const write: Store['write'] = (fn, options) =>
    core.store.write((tx) => {
      const index = reads.push(0) - 1
      const find: Tx['find'] = (statement, values) => {
        if (statement.compiled().text.includes('from usage_months')) reads[index]! += 1
        return tx.find(statement, values)
      }
      const get = (target: Tx, name: string | symbol) => {
        if (name === 'find') return find
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      }
      return fn(new Proxy(tx, { get }))
    }, options)
  return { reads, core: { ...core, store: { ...core.store, write } } }
}

it('a stretch of a campaign reads the use once', async (t) => {
  const opened = await openLimited(t, { limitCampaigns: 5 })
  const { reads, core } = countingReads(opened.core)
  await addContacts(core, opened.project.id, people(5))
  const id = await addCampaign(core, opened.project.id)
  await sendCampaign(core, { projectId: opened.project.id, id })
  await runUntil(core, async () => (await loadProgress(core, id)).expandedAt !== null)
  assert.equal(Math.max(...reads), 1)
})

it('a retry reads the use once for each email', async (t) => {
  const opened = await openLimited(t, { limitTransactional: 5 })
  const { reads, core } = countingReads(opened.core)
  const sent = (await opened.send(3)).map(({ id }) => id)
  await cancelEmails(core, sent)
  await follow(core)
  reads.length = 0
  await retryEmails(core, sent)
  assert.deepEqual(reads, [3])
})

it('a retry of a campaign writes nothing more once a month is full', async (t) => {
  const opened = await openLimited(t)
  const { reads, core } = countingReads(opened.core)
  const projectId = opened.project.id
  await addContacts(core, projectId, people(400))
  const id = await addCampaign(core, projectId)
  await sendCampaign(core, { projectId, id })
  await runUntil(core, async () => (await loadProgress(core, id)).expandedAt !== null)
  const end = { state: 'failed', error: 'the server was down', status: 'FAILED' } as const
  await core.store.write((tx) => setEmails(tx, { ...end, dueAt: null }))
  // They were not given back, so there is room for ten.
  await setColumns(core, projectId, { limitCampaigns: 410 })
  reads.length = 0
  assert.equal(await retryFailed(core, { projectId, id }), 10)
  assert.deepEqual(reads, [1])
  await assert.rejects(retryFailed(core, { projectId, id }), { code: 'BILLING_LIMIT_EXCEEDED' })
  assert.deepEqual(reads, [1, 1])
})
