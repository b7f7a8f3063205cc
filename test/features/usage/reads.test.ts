import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sendCampaign } from '../../../src/features/campaigns/sending/send.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import type { TestCore } from '../../core.ts'
import {
  addCampaign,
  addContacts,
  loadProgress,
  people,
  runUntil,
} from '../campaigns/sending/campaign.ts'
import { openLimited } from './usage.ts'

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
