/** What looks for work each minute starts no scan threads while nothing is written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MINUTE_MS } from '../../../src/base/clock.ts'
import { createDeliverer } from '../../../src/features/mail/messages/delivery/deliverer.ts'
import { startSettlingDisabled } from '../../../src/features/mail/messages/disabled/settle.ts'
import { startQueue } from '../../../src/features/mail/messages/queue/queue.ts'
import { startSettling } from '../../../src/features/outreach/campaigns/settle-stopped.ts'
import { startWebhookSender } from '../../../src/features/outreach/webhooks/sending/sender.ts'
import { startSettlingCancelled } from '../../../src/features/outreach/workflows/executions/cancel-all.ts'
import { startRequester } from '../../../src/features/outreach/workflows/requests/requester.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { addProject, openTestCore } from '../../core.ts'
import { countScans, moveClock } from '../../store/read/counted-scans.ts'

test('the loops of a server at rest scan nothing, until something is written', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const { scans, counting } = countScans()
  const passMs = moveClock(t)
  const core = await openTestCore(t, { watch: true, threads: counting })
  const dispatchers = [startWebhookSender(core), startRequester(core)]
  const settlers = [startSettling(core), startSettlingDisabled(core), startSettlingCancelled(core)]
  const queue = startQueue(core, createDeliverer(core))
  t.after(async () => {
    await Promise.all([...settlers, queue].map(({ stop }) => stop()))
    for (const { stop } of dispatchers) await stop(0)
  })

  /** Returns the number of scans of a minute. */
  async function minute(): Promise<number> {
    await rest()
    const before = scans.length
    passMs(MINUTE_MS)
    t.mock.timers.tick(MINUTE_MS)
    await rest()
    return scans.length - before
  }

  async function rest(): Promise<void> {
    for (let before = -1; before < scans.length; ) {
      before = scans.length
      for (let turn = 0; turn < 100; turn += 1) await nextTurn()
    }
  }

  await minute()
  assert.equal(await minute(), 0)
  await addProject(core)
  assert.equal(await minute(), 11)
  assert.equal(await minute(), 0)
})

test('rows that change with others, which count, are the only ones that triggers and references change', async (t) => {
  const { store } = await openTestCore(t)
  const triggers = await store.read.all<{ table: string; text: string }>(
    sql`select tbl_name as "table", sql as text from sqlite_schema where type = 'trigger'`,
  )
  assert.ok(triggers.length > 0)
  for (const { table, text } of triggers) {
    // Such a trigger runs also if the row conflicts and is left as it is.
    assert.doesNotMatch(text, /\b(?:before\s+(?:insert|update)|instead\s+of)\b/i)
    assert.doesNotMatch(table, /^job/)
  }
  const referring = await store.read.all<{ name: string }>(
    sql`select distinct tables.name from sqlite_schema as tables,
      pragma_foreign_key_list(tables.name) as reference
      where tables.type = 'table' and reference."table" in ('jobs', 'job_progress')`,
  )
  assert.deepEqual(referring, [{ name: 'job_progress' }])
})
