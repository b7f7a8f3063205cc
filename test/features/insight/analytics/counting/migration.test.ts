/** The first run over a database from before the counts. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { silentLog } from '../../../../../src/base/log.ts'
import type { Config } from '../../../../../src/config/config.ts'
import { startLazyReader } from '../../../../../src/features/ground/events/readers.ts'
import { isAnalyticsComplete } from '../../../../../src/features/insight/analytics/complete.ts'
import { analyticsHandler } from '../../../../../src/features/insight/analytics/counting/follow-events.ts'
import { sql } from '../../../../../src/store/drizzle.ts'
import { openStore, type Store } from '../../../../../src/store/store.ts'
import { openTestCore } from '../../../../core.ts'
import { cleanUpAfterFile } from '../../../../file-cleanup.ts'
import { pause } from '../../../../pause.ts'
import { openBefore } from '../../../../store/open-before.ts'
import { type Row, readCounts } from './ledger.ts'

const AT = Date.UTC(2026, 8, 1, 10, 7)
const EMAILS = 300

/** Delivered emails of a project, every third one opened. */
async function fill(store: Store): Promise<void> {
  const numbers = `json_each('${JSON.stringify(Array.from({ length: EMAILS }, (_, n) => n))}')`
  const event = (name: string, data: string, condition: string) =>
    `insert into events (id, project_id, name, contact_id, email_id, data, created_at)
      select 'v' || value, 'p', '${name}', 'c' || value, 'e' || value, ${data}, ${AT}
      from ${numbers} where ${condition}`
  const texts = [
    `insert into projects (id, name, public_key, secret_digest, secret_hint, created_at, updated_at)
      values ('p', 'Old', 'k', 'd', 'h', ${AT}, ${AT})`,
    `insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
      select 'c' || value, 'p', 'c' || value || '@gmail.com', 1, ${AT}, ${AT} from ${numbers}`,
    `insert into emails (id, project_id, contact_id, content_id, source_type, recipient,
        recipient_domain, from_address, subject, content_class, is_tracked, message_id, state,
        status, queue_class, give_up_at, sent_at, delivered_at, opened_at, created_at, updated_at)
      select 'e' || value, 'p', 'c' || value, 'b', 'TRANSACTIONAL', 'c@gmail.com', 'gmail.com',
        'shop@shop.test', 'News', 'TRANSACTIONAL', 1, 'm' || value, 'delivered', 'DELIVERED', 1,
        ${AT}, ${AT}, ${AT}, case when value % 3 = 0 then ${AT} end, ${AT}, ${AT} from ${numbers}`,
    event('email.sent', 'null', 'true'),
    event('email.delivery', 'null', 'true'),
    event('email.open', `'{"isFirstOpen":true}'`, 'value % 3 = 0'),
  ]
  for (const text of texts) await store.write((tx) => tx.run(sql.raw(text)))
}

const cleanup = cleanUpAfterFile()
let store: Store
/** Of the followers, before any has run. */
let places: unknown

before(async () => {
  const { before: older, file } = await openBefore(cleanup, 17)
  await fill(older)
  await older.close()
  store = await openStore({ path: file, log: silentLog(), watch: false })
  cleanup.after(() => store.close())
  places = await store.read.all(
    sql`select name, seq from event_followers where name in ('analytics', 'billing') order by name`,
  )
})

test('events from before the counts are counted, and the counts are complete from then on', async () => {
  assert.equal(await isAnalyticsComplete(store.read), false)
  const config = { delivery: { mode: 'direct' } } as unknown as Config
  const deps = { store, log: silentLog(), now: () => AT, config }
  const write: Store['write'] = async (fn, options) => {
    heavy.push(options?.heavyFor)
    const done = await store.write(fn, options)
    progress.push(await isAnalyticsComplete(store.read))
    return done
  }
  const heavy: (string | undefined)[] = []
  const progress: boolean[] = []
  let clock = 0
  const follower = startLazyReader(
    { ...deps, store: { ...store, write } },
    [analyticsHandler(deps)],
    // Every batch seems to take 20 ms, so the follower rests between them.
    { batch: 200, clock: () => (clock += 10) },
  )
  // Nobody waits for the follower: it is woken by what commits.
  while (!progress.includes(true)) await pause()
  await follower.stop()
  assert.equal(progress.filter((isComplete) => isComplete).length, 1)
  assert.ok(progress.length >= 4, `${progress.length} batches`)
  // Only a batch behind a full one is known to be far behind.
  assert.deepEqual(heavy, [undefined, ...heavy.slice(1).fill('lazy')])
  const rows: Row[] = await readCounts(store.read)
  const all = rows.find(
    ({ table, kind, span }) => table === 'mail' && kind === 'all' && span === 86_400_000,
  )
  assert.deepEqual([all?.sent, all?.delivered, all?.opened], [EMAILS, EMAILS, EMAILS / 3])
  await store.write((tx) => tx.run(sql`delete from events`))
  const later = startLazyReader({ ...deps, store }, [analyticsHandler(deps)])
  await later.caughtUp()
  await later.stop()
  assert.equal(await isAnalyticsComplete(store.read), true, 'the newest events are gone')
  assert.deepEqual(await readCounts(store.read), rows)
})

test('a new database is complete', async (t) => {
  const { store } = await openTestCore(t)
  assert.equal(await isAnalyticsComplete(store.read), true)
})

test('billing begins with what happens after the migration', () => {
  assert.deepEqual(places, [
    { name: 'analytics', seq: 0 },
    { name: 'billing', seq: (EMAILS * 7) / 3 },
  ])
})
