/** Mass bounces by verdicts of this server: held suppressions, and the operator's decision. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '../../../../../src/base/clock.ts'
import { createLog } from '../../../../../src/base/log.ts'
import { leaveByMail } from '../../../../../src/features/incoming/receiving/process/apply-unsubscribe.ts'
import { recordReports } from '../../../../../src/features/mail/messages/outcome/record-reports.ts'
import {
  createFuse,
  startFuse,
} from '../../../../../src/features/mail/messages/outcome/suppression-guards.ts'
import {
  confirmHeldSuppressions,
  listHeld,
} from '../../../../../src/features/mail/suppressions/held-suppressions.ts'
import { addSuppressions } from '../../../../../src/features/mail/suppressions/suppressions.ts'
import { undoSuppressions } from '../../../../../src/features/mail/suppressions/undo-suppressions.ts'
import { upsertContact } from '../../../../../src/features/people/contacts/write/contact-queue.ts'
import { changeSubscription } from '../../../../../src/features/people/contacts/write/subscription-request.ts'
import { updateContact } from '../../../../../src/features/people/contacts/write/update.ts'
import type { AttemptOutcome } from '../../../../../src/outbound/attempt.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import {
  heldSuppressions,
  strikes,
  suppressions,
} from '../../../../../src/store/schema/suppressions.ts'
import { address, START } from '../../../../core.ts'
import { countedLines } from '../../../../counted-lines.ts'
import { type Bounces, noSuchDomain, openBounces, people, statesOf } from '../bounces.ts'

const hard = { kind: 'hard' } as const

const full = {
  kind: 'bounced',
  change: {
    verdict: {
      isFinal: true,
      class: 'quota',
      reason: 'mailboxfull',
      isHard: false,
      isStrike: true,
      retryAfterMs: null,
      site: 'none',
      countsAsFailure: true,
    } as AttemptOutcome['verdict'],
  },
} as const

/** A sender and the log lines of its fuse. */
async function openLogged(t: TestContext) {
  const lines: { level: number; msg: string }[] = []
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const sender = await openBounces(t, (core) => ({ fuse: createFuse({ ...core, log }) }))
  return { ...sender, lines }
}

async function afterBlow(t: TestContext): Promise<Bounces> {
  const sender = await openBounces(t)
  await sender.end(people(120), hard)
  assert.deepEqual([(await sender.listed()).length, (await sender.held()).length], [50, 70])
  return sender
}

const contactOf = async ({ core }: Bounces, email: string) => {
  const row = await core.store.read.select().from(contacts).where(eq(contacts.address, email)).get()
  assert.ok(row)
  return row
}

test('after 50 suppressions in a minute, further ones are held: the mail bounces, contacts stay subscribed', async (t) => {
  const sender = await openLogged(t)
  await sender.end(people(120), hard)
  assert.deepEqual(await statesOf(sender), { bounced: 120 })
  const [listed, held] = [await sender.listed(), await sender.held()]
  assert.deepEqual([listed.length, held.length], [50, 70])
  assert.deepEqual(new Set(await sender.subscribed()), new Set(held))
  assert.deepEqual(await sender.flips(), Array(50).fill('contact.unsubscribed bounce'))
  assert.deepEqual(
    sender.lines.map(({ level, msg }) => [level, msg]),
    [['warn', 'too many bounces in a minute: suppressions are held']],
  )
  const [reason] = sender.core.health.reasons()
  assert.equal(reason?.cause, 'suppressions')
  assert.match(reason?.reason ?? '', /held: 70 /)
  assert.match(reason?.reason ?? '', /pillarbox suppressions undo --since 2026-11-21T11:59:00Z/)
  const counted = countedLines(sender.core, 'pillarbox_suppressions_held_total')
  assert.deepEqual(counted, [{ labels: { cause: 'fuse' }, count: 70 }])
})

test('the fuse blows when a held suppression is durable, not by a transaction that is rolled back', async (t) => {
  const { core, clock } = await openBounces(t)
  const fuse = createFuse(core)
  fuse.countTried(60)
  const trips = (email: number) => fuse.mustHold(`e${email}`)
  assert.deepEqual([...Array(52).keys()].filter(trips), [50, 51])
  clock.now += MINUTE_MS
  assert.equal(trips(52), false)
  fuse.recordHeld('fuse')
  assert.equal(trips(53), true)
})

test('verdicts from DNS count for the fuse as those of sessions do', async (t) => {
  const sender = await openBounces(t)
  const to = Array.from({ length: 70 }, (_, index) => `ann@gone${index}.test`)
  await sender.end(to, noSuchDomain)
  assert.deepEqual([(await sender.listed()).length, (await sender.held()).length], [50, 20])
})

test('up to a fifth of the attempts of a minute may bounce without blowing the fuse', async (t) => {
  const sender = await openBounces(t)
  const isBounce = (index: number) => index % 5 === 4
  await sender.end(people(300), (index) => ({ kind: isBounce(index) ? 'hard' : 'delivered' }))
  assert.deepEqual([(await sender.listed()).length, await sender.held()], [60, []])
  assert.deepEqual(sender.core.health.reasons(), [])
})

test('deferrals by DNS do not count as attempts', async (t) => {
  const sender = await openBounces(t)
  const noAnswer = { host: null, reply: null, error: 'MX of wait.test: time-out' }
  await sender.end(people(300, 'wait.test'), { kind: 'deferred', change: noAnswer })
  await sender.end(people(70), hard)
  assert.deepEqual([(await sender.listed()).length, (await sender.held()).length], [50, 20])
})

test('50 in one minute and 50 in the next do not blow the fuse', async (t) => {
  const sender = await openBounces(t)
  await sender.end(people(50), hard)
  sender.clock.now += MINUTE_MS
  await sender.end(people(50, 'next.test'), hard)
  assert.deepEqual([(await sender.listed()).length, await sender.held()], [100, []])
})

test('a fuse of 0 holds nothing', async (t) => {
  const sender = await openBounces(t, (core) => {
    const delivery = { ...core.config.delivery, fusePerMinute: 0 }
    const config = { ...core.config, delivery }
    return { config, fuse: createFuse({ ...core, config }) }
  })
  await sender.end(people(100), hard)
  assert.deepEqual([(await sender.listed()).length, await sender.held()], [100, []])
})

test('strikes that suppress an address count and are held; other strikes do not count', async (t) => {
  const sender = await openBounces(t)
  const to = people(60)
  for (const days of [0, 7, 8]) {
    sender.clock.now += days * DAY_MS
    await sender.end(to, full)
  }
  assert.deepEqual([(await sender.listed()).length, (await sender.held()).length], [50, 10])
  const { data } = await listHeld(sender.core, { limit: 1 })
  assert.deepEqual([data[0]?.reason, data[0]?.cause], ['STRIKES', 'fuse'])
})

test('reports of other servers suppress at once, in any number, even while the fuse is blown', async (t) => {
  const sender = await openBounces(t)
  const ids = await sender.end(people(100), { kind: 'relayed' })
  await sender.end(people(60, 'dead.test'), hard)
  assert.equal((await sender.held()).length, 10)
  const verdict = { ...full.change.verdict, isHard: true, isStrike: false } as never
  const said = { verdict, reply: null, diagnostic: 'no such user', reportingMta: null }
  await sender.core.store.write((tx) =>
    recordReports(
      sender.core,
      tx,
      ids.map((emailId) => ({ type: 'bounce', emailId, ...said })),
    ),
  )
  assert.deepEqual([(await sender.listed()).length, (await sender.held()).length], [150, 10])
})

test('a blown fuse outlasts a restart and the minute, until every held suppression is decided', async (t) => {
  const sender = await afterBlow(t)
  const fuse = createFuse(sender.core)
  await fuse.refresh()
  sender.core.fuse = fuse
  sender.clock.now += 60 * MINUTE_MS
  assert.equal(fuse.mustHold('another email'), true)
  assert.match(sender.core.health.reasons()[0]?.reason ?? '', /held: 70 /)
  await confirmHeldSuppressions(sender.core, { since: START })
  await fuse.refresh()
  assert.deepEqual(sender.core.health.reasons(), [])
  assert.equal(fuse.mustHold('another email'), false)
})

test('confirm suppresses and unsubscribes the held addresses; a second time it changes nothing', async (t) => {
  const sender = await afterBlow(t)
  const done = await confirmHeldSuppressions(sender.core, { since: START })
  assert.deepEqual(done, { suppressed: 70, dropped: 0, remaining: 0 })
  assert.deepEqual([(await sender.listed()).length, await sender.held()], [120, []])
  assert.deepEqual(await sender.subscribed(), [])
  assert.deepEqual(await sender.flips(), Array(120).fill('contact.unsubscribed bounce'))
  const rows = await sender.core.store.read.select().from(suppressions)
  assert.deepEqual(
    new Set(rows.map(({ reason, source }) => `${reason} ${source}`)),
    new Set(['HARD_BOUNCE 550 No such user']),
  )
  const again = await confirmHeldSuppressions(sender.core, { since: START })
  assert.deepEqual(again, { suppressed: 0, dropped: 0, remaining: 0 })
})

test('confirm and undo are limited to their interval and project', async (t) => {
  const sender = await afterBlow(t)
  const none = { projectId: 'another project', since: START }
  assert.deepEqual(await confirmHeldSuppressions(sender.core, none), {
    suppressed: 0,
    dropped: 0,
    remaining: 70,
  })
  const late = { since: START + MINUTE_MS }
  assert.equal((await undoSuppressions(sender.core, late)).removed, 0)
  assert.equal((await undoSuppressions(sender.core, none)).removed, 0)
  assert.deepEqual([(await sender.listed()).length, (await sender.held()).length], [50, 70])
  const own = { projectId: sender.project.id, since: START }
  assert.equal((await confirmHeldSuppressions(sender.core, own)).suppressed, 70)
})

test('confirm drops an address that has accepted mail since it was held', async (t) => {
  const sender = await afterBlow(t)
  const [alive = ''] = await sender.held()
  sender.clock.now += MINUTE_MS
  await sender.end([alive], { kind: 'delivered' })
  const done = await confirmHeldSuppressions(sender.core, { since: START })
  assert.deepEqual(done, { suppressed: 69, dropped: 1, remaining: 0 })
  assert.deepEqual(await sender.subscribed(), [alive])
})

test('undo drops held suppressions and reverts those made before the fuse blew', async (t) => {
  const sender = await afterBlow(t)
  sender.clock.now += 10 * MINUTE_MS
  const done = await undoSuppressions(sender.core, { since: START })
  const nothing = { dropped: 0, removed: 0, resubscribed: 0, kept: 0, remaining: 0 }
  assert.deepEqual(done, { ...nothing, dropped: 70, removed: 50, resubscribed: 50 })
  assert.deepEqual([await sender.listed(), await sender.held()], [[], []])
  assert.equal((await sender.subscribed()).length, 120)
  const flips = await sender.flips()
  assert.deepEqual(flips.slice(50), Array(50).fill('contact.subscribed manual'))
  assert.deepEqual(await undoSuppressions(sender.core, { since: START }), nothing)
  assert.equal((await sender.flips()).length, 100)
})

test('undo reverts a confirmation', async (t) => {
  const sender = await afterBlow(t)
  sender.clock.now += MINUTE_MS
  await confirmHeldSuppressions(sender.core, { since: START })
  const { removed, resubscribed } = await undoSuppressions(sender.core, { since: START })
  assert.deepEqual([removed, resubscribed], [120, 120])
})

test("undo never reverts a person's own wish", async (t) => {
  const sender = await openBounces(t)
  const { core, project } = sender
  const projectId = project.id
  const names = ['before', 'page', 'reports', 'listed', 'returned', 'other', 'plain'] as const
  const [before, page, reports, listed, returned, other, plain] = names.map(
    (name) => `${name}@dest.test`,
  ) as [string, string, string, string, string, string, string]
  // Unsubscribed before the bounce.
  const [mailed = '', complained = ''] = await sender.end([before, reports], { kind: 'delivered' })
  assert.ok(mailed)
  const wish = (email: string, subscribed: boolean) => async () => {
    const { id } = await contactOf(sender, email)
    const reason = 'page' as const
    await changeSubscription(core, { contactId: id, emailId: undefined }, { subscribed, reason })
  }
  await wish(before, false)()
  const since = sender.clock.now + 1
  sender.clock.now += MINUTE_MS
  await sender.end([before, page, reports, listed, returned, plain], hard)
  sender.clock.now += MINUTE_MS
  // Unsubscribes after the bounce, which changes nothing by then.
  await wish(page, false)()
  await core.store.write((tx) =>
    recordReports(core, tx, [{ type: 'complaint', emailId: complained, feedbackType: null }]),
  )
  const add = { projectId, reason: 'MANUAL' } as const
  await addSuppressions(core, { ...add, addresses: [address(listed), address(other)] })
  // Subscribed again and unsubscribed again.
  await wish(returned, true)()
  await wish(returned, false)()
  const undone = await undoSuppressions(core, { since })
  assert.deepEqual(undone, { dropped: 0, removed: 4, resubscribed: 1, kept: 2, remaining: 0 })
  assert.deepEqual(await sender.subscribed(), [plain])
  const rows = await core.store.read
    .select({ email: suppressions.address, reason: suppressions.reason })
    .from(suppressions)
    .orderBy(suppressions.address)
  assert.deepEqual(rows, [
    { email: listed, reason: 'MANUAL' },
    { email: other, reason: 'MANUAL' },
    { email: reports, reason: 'COMPLAINT' },
  ])
  const { removed, kept } = await undoSuppressions(core, { since })
  assert.deepEqual([removed, kept], [0, 0])
})

test('an unsubscribe is a wish of the person on every path, even if it changes nothing', async (t) => {
  const sender = await openBounces(t)
  const { core, project } = sender
  const projectId = project.id
  const ids = await sender.end(people(5), hard)
  const [patched, saved, mailed, sent] = await Promise.all(
    people(4).map((email) => contactOf(sender, email)),
  )
  assert.ok(patched && saved && mailed && sent)
  await updateContact(core, { projectId, id: patched.id }, { subscribed: false })
  await upsertContact(core, { projectId, address: address(saved.address), subscribed: false })
  const email = { emailId: ids[2] ?? '' }
  await core.store.write((tx) => leaveByMail(core, tx, { email, reason: 'mail' }))
  await sender.send({ to: [{ address: address(sent.address), name: null }], subscribed: false })
  const { removed, resubscribed } = await undoSuppressions(core, { since: START })
  assert.deepEqual([removed, resubscribed], [5, 1])
  assert.deepEqual(await sender.subscribed(), ['user4@dest.test'])
})

test('undo deletes the strikes of the interval, and no older one', async (t) => {
  const sender = await openBounces(t)
  const to = people(60)
  for (const days of [0, 7, 8]) {
    sender.clock.now += days * DAY_MS
    await sender.end(to, full)
  }
  const undone = await undoSuppressions(sender.core, { since: sender.clock.now })
  assert.deepEqual([undone.dropped, undone.removed, undone.resubscribed], [10, 50, 50])
  const left = await sender.core.store.read.$count(strikes)
  assert.equal(left, 120)
})

test('an address that a person suppresses is no longer held', async (t) => {
  const sender = await afterBlow(t)
  const [first = ''] = await sender.held()
  const addresses = [address(first)]
  await addSuppressions(sender.core, { projectId: sender.project.id, addresses, reason: 'MANUAL' })
  assert.equal((await sender.held()).length, 69)
  await confirmHeldSuppressions(sender.core, { since: START })
  const row = await sender.core.store.read.get<{ reason: string }>(
    sql`select reason from suppressions where email = ${first}`,
  )
  assert.equal(row?.reason, 'MANUAL')
})

test('confirm does not unsubscribe a contact that has changed its address', async (t) => {
  const sender = await afterBlow(t)
  const [first = ''] = await sender.held()
  const { id, projectId } = await contactOf(sender, first)
  await updateContact(sender.core, { projectId, id }, { address: address('new@dest.test') })
  const { suppressed } = await confirmHeldSuppressions(sender.core, { since: START })
  assert.equal(suppressed, 70)
  assert.ok((await sender.listed()).includes(first))
  assert.deepEqual(await sender.subscribed(), ['new@dest.test'])
})

test('undo does not resubscribe a contact that unsubscribed at another address', async (t) => {
  const sender = await openBounces(t)
  await sender.end(people(1), hard)
  const { id, projectId } = await contactOf(sender, 'user0@dest.test')
  await updateContact(sender.core, { projectId, id }, { address: address('new@dest.test') })
  await updateContact(sender.core, { projectId, id }, { subscribed: false })
  const { removed, resubscribed } = await undoSuppressions(sender.core, { since: START })
  assert.deepEqual([removed, resubscribed], [1, 0])
  assert.deepEqual(await sender.subscribed(), [])
})

test('a suppression that is held while the fuse reads the rows keeps the fuse blown', async (t) => {
  const { core, end } = await openBounces(t)
  const { fuse } = core
  await end(people(50), hard)
  assert.equal(fuse.mustHold('one more'), true)
  await fuse.refresh()
  fuse.recordHeld('fuse')
  assert.equal(fuse.mustHold('and one more'), true)
  await fuse.refresh()
  assert.deepEqual(core.health.reasons(), [])
})

test('the fuse is whole again once the server itself has decided all held suppressions', async (t) => {
  const { core } = await afterBlow(t)
  const over = Promise.withResolvers<void>()
  const write = (line: string) => {
    if (line.includes('no suppression is held any more')) over.resolve()
  }
  const fuse = await startFuse({ ...core, log: createLog('info', { write }) }, 5)
  t.after(fuse.stop)
  assert.equal(fuse.mustHold('one more'), true)
  await core.store.write((tx) => tx.delete(heldSuppressions))
  await over.promise
  assert.deepEqual(core.health.reasons(), [])
  assert.equal(fuse.mustHold('one more'), false)
})
