import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../src/base/log.ts'
import { countQueue } from '../../../../src/features/mail/messages/queue/queue-list.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { openStore } from '../../../../src/store/store.ts'
import { listMisplaced } from '../../../misplaced-emails.ts'
import { openBefore } from '../../../store/open-before.ts'

const STATES = [
  ...['queued', 'deferred', 'held', 'paused', 'sending'].map((state) => [state, 'PENDING']),
  ['delivered', 'DELIVERED'],
  ['delivered', 'COMPLAINED'],
  ['relayed', 'SENT'],
  ['bounced', 'BOUNCED'],
  ['failed', 'FAILED'],
  ['suppressed', 'SUPPRESSED'],
  ['received', 'RECEIVED'],
] as const

test('an upgrade puts the emails of before on their shelves', async (t) => {
  const { before, file } = await openBefore(t, 31)
  await before.write(async (tx) => {
    await tx.run(sql`insert into projects (id, name, public_key, secret_digest, secret_hint,
      created_at, updated_at) values ('p', 'p', 'p', 'p', '', 1, 1)`)
    let number = 0
    for (const [state, status] of STATES) {
      for (const campaignId of [null, 'c']) {
        for (const attempts of [0, 1]) {
          number += 1
          await tx.run(sql`insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
            values (${`k${number}`}, 'p', ${`k${number}@people.test`}, 1, 1, 1)`)
          await tx.run(sql`insert into emails (id, project_id, contact_id, content_id, source_type,
              recipient, recipient_domain, from_address, subject, content_class, is_tracked,
              message_id, state, status, queue_class, give_up_at, attempt_count, campaign_id,
              due_at, lease_until, created_at, updated_at)
            values (${`e${number}`}, 'p', ${`k${number}`}, 'c', 'TRANSACTIONAL', 'k@people.test',
              'people.test', 'a@shop.test', 'Hi', 'TRANSACTIONAL', 0, ${`e${number}`}, ${state},
              ${status}, 1, 9, ${attempts}, ${campaignId},
              ${state === 'queued' || state === 'deferred' ? 1 : null},
              ${state === 'sending' ? 1 : null}, 1, 1)`)
        }
      }
    }
  })
  await before.close()
  const store = await openStore({ path: file, log: silentLog(), watch: false })
  assert.deepEqual(await listMisplaced(store), [])
  const counts = await countQueue({ store })
  assert.deepEqual(
    counts.map(({ state, count }) => [state, count]),
    ['queued', 'deferred', 'held', 'paused', 'sending'].map((state) => [state, 4]),
  )
  const [shelved] = await store.read.all<{ count: number }>(
    sql`select count(*) as count from emails where shelf is not null`,
  )
  // Held, paused and four bad ends of either kind, and three more of campaigns.
  assert.equal(shelved?.count, 6 * 4 + 3 * 2)
  await store.close()
})
