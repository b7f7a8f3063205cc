import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '../../../../../src/base/clock.ts'
import { formatAttempts } from '../../../../../src/cli/queue/show.ts'
import { toAttemptView } from '../../../../../src/features/insight/emails/show-email.ts'
import { createDeliverer } from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { loadEmailHistory } from '../../../../../src/features/mail/messages/explain/email-history.ts'
import { explainEmails } from '../../../../../src/features/mail/messages/explain/explain-emails.ts'
import { holdDomain, releaseDomain } from '../../../../../src/features/mail/messages/queue/holds.ts'
import { recoverLeases } from '../../../../../src/features/mail/messages/queue/leases.ts'
import {
  cancelEmails,
  retryEmails,
} from '../../../../../src/features/mail/messages/queue/operate.ts'
import { startQueue } from '../../../../../src/features/mail/messages/queue/queue.ts'
import {
  deleteProject,
  resetProject,
} from '../../../../../src/features/operation/erasure/end-project.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { domains } from '../../../../../src/store/schema/domains.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { attempts, emails, holds } from '../../../../../src/store/schema/messages.ts'
import { suppressions } from '../../../../../src/store/schema/suppressions.ts'
import { address, START } from '../../../../core.ts'
import { pause } from '../../../../pause.ts'
import { setEmails } from '../../../../set-emails.ts'
import {
  addSenderProject,
  attempted,
  type OutcomeKind,
  openSender,
  type Sender,
} from '../sender.ts'

type Line = Sender & {
  /** Sends one email and resolves when it has been handed to outbound. */
  sendOne(request?: Parameters<Sender['send']>[0]): Promise<string>
  /** Settles the latest task with this outcome. */
  report(
    kind: OutcomeKind,
    change?: Parameters<typeof attempted>[2],
    beganAt?: number,
  ): Promise<void>
  /** Resolves when this many tasks have been handed over. */
  passedOn(count: number): Promise<void>
}

/** A sender with the queue running. `elapsedOf`: the monotonic clock; without it the clock never jumps. */
async function openLine(
  t: TestContext,
  elapsedOf = (sender: Pick<Sender, 'clock'>) => sender.clock.now,
): Promise<Line> {
  const sender = await openSender(t)
  const waiters: { count: number; resolve: () => void }[] = []
  const deliver = sender.core.outbound.deliver
  sender.core.outbound.deliver = (tasks) => {
    deliver(tasks)
    for (const { count, resolve } of waiters) if (sender.tasks.length >= count) resolve()
  }
  const delivery = createDeliverer(sender.core, () => elapsedOf(sender))
  const queue = startQueue(sender.core, delivery)
  t.after(() => queue.stop())
  const passedOn = (count: number) =>
    new Promise<void>((resolve) => {
      if (sender.tasks.length >= count) resolve()
      else waiters.push({ count, resolve })
    })
  return {
    ...sender,
    passedOn,
    sendOne: async (request) => {
      const before = sender.tasks.length
      const { emails: accepted } = await sender.send(request)
      await passedOn(before + 1)
      return accepted[0]?.email as string
    },
    report: async (kind, change, beganAt = sender.clock.now) => {
      const task = sender.tasks.at(-1)
      if (task === undefined) throw new Error('nothing was handed over')
      const report = attempted(task, kind, change)
      delivery.finished([{ ...report, startedAt: beganAt }])
      await delivery.settled(5_000)
    },
  }
}

test('a claimed email is SENDING under a lease, with its next attempt written', async (t) => {
  const line = await openLine(t)
  const email = await line.email(await line.sendOne())
  assert.equal(email.status, 'SENDING')
  assert.equal(email.dueAt, null)
  assert.ok((email.leaseUntil as number) > START)
  const wait = (email.retryAt as number) - START
  assert.ok(wait >= 51_000 && wait <= 69_000, `${wait}`)
})

test('a delivered email has sentAt = deliveredAt, its rendered subject and two events', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  line.clock.now += 5
  await line.report('delivered')
  const email = await line.email(id)
  assert.equal(email.status, 'DELIVERED')
  assert.equal(email.sentAt, START + 5)
  assert.equal(email.deliveredAt, START + 5)
  assert.equal(email.subject, 'rendered')
  assert.equal(email.leaseUntil, null)
  assert.deepEqual(await line.eventNames(), ['email.sent', 'email.delivery'])
  const history = await loadEmailHistory(line.core, id)
  assert.equal(history.attempts[0]?.replyCode, 250)
})

test('relayed: SENT, the smarthost\u2019s id is stored, no delivery event', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  await line.report('relayed')
  const email = await line.email(id)
  assert.equal(email.status, 'SENT')
  assert.equal(email.state, 'relayed')
  assert.equal(email.providerId, '4F2C91AB')
  assert.deepEqual(await line.eventNames(), ['email.sent'])
})

test('a hard bounce suppresses the address and unsubscribes the contact in one transaction', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne({ subscribed: true })
  await line.report('hard')
  const email = await line.email(id)
  assert.equal(email.status, 'BOUNCED')
  assert.match(email.error as string, /550 No such user/)
  const [suppression] = await line.core.store.read.select().from(suppressions).all()
  assert.equal(suppression?.reason, 'HARD_BOUNCE')
  assert.equal(suppression?.emailId, id)
  const contact = await line.core.store.read.select().from(contacts).get()
  assert.equal(contact?.subscribed, false)
  assert.deepEqual(await line.eventNames(), ['email.bounce', 'contact.unsubscribed'])
  const { emails: next } = await line.send()
  assert.equal((await line.email(next[0]?.email as string)).status, 'SUPPRESSED')
})

test('a refusal by this server is recorded with its own text, not with an earlier reply', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  await line.report('failed', {
    error: 'the mail would loop',
    reply: { code: 250, enhancedCode: null, text: 'mail.example.test' },
  })
  assert.equal((await line.email(id)).error, 'the mail would loop')
})

test('a final refusal that does not concern the address bounces and suppresses nothing', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne({ subscribed: true })
  await line.report('bounced')
  assert.equal((await line.email(id)).status, 'BOUNCED')
  assert.deepEqual(await line.core.store.read.select().from(suppressions).all(), [])
  assert.deepEqual(await line.eventNames(), ['email.bounce'])
})

test('a transient reply defers by the retry delay and makes no event', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  await line.report('deferred')
  const email = await line.email(id)
  assert.equal(email.state, 'deferred')
  assert.equal(email.status, 'PENDING')
  assert.equal(email.failureCount, 1)
  const wait = (email.dueAt as number) - START
  assert.ok(wait >= 51_000 && wait <= 69_000, `${wait}`)
  assert.deepEqual(await line.eventNames(), [])
})

test('the delay that a reply asks for is used, and a throttle does not count as a failure', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  const verdict = { countsAsFailure: false, retryAfterMs: 1_800_000 } as never
  await line.report('deferred', { verdict })
  const email = await line.email(id)
  assert.equal(email.failureCount, 0)
  assert.equal(email.dueAt, START + 1_800_000)
})

test('a deferred email is tried again when it is due, and given up when its time is over', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  await line.report('deferred')
  line.clock.now += 86_400_000
  line.core.queueNotifier.notify('anywhere')
  await line.passedOn(2)
  await line.report('deferred')
  const email = await line.email(id)
  assert.equal(email.status, 'FAILED')
  assert.match(email.error as string, /given up; the last attempt ended with: 451 Not now/)
  assert.equal((await loadEmailHistory(line.core, id)).attempts.length, 2)
})

test('a project with a backlog gets leases up to its share; another project is served', async (t) => {
  const line = await openLine(t)
  const other = await addSenderProject(line.core, 'Other', 'other.test')
  const countHanded = (id: string) => line.tasks.filter(({ projectId }) => projectId === id).length
  line.core.outbound.projectCapacity = (id) => (id === other.id ? 1_000 : 2 - countHanded(id))
  for (let sent = 0; sent < 5; sent++) await line.send()
  const from = { address: address('shop@other.test'), name: null }
  await line.send({ from }, { project: other })
  await line.passedOn(3)
  assert.deepEqual([countHanded(line.project.id), countHanded(other.id)], [2, 1])
})

test('an attempt during which the clock jumps past the give-up time is followed by another', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  line.clock.now += 3 * 86_400_000
  await line.report('deferred', {}, START)
  const { status, dueAt } = await line.email(id)
  assert.deepEqual([status, dueAt], ['PENDING', line.clock.now + 1_000])
  line.clock.now += 1_000
  line.core.queueNotifier.notify('anywhere')
  await line.passedOn(2)
  await line.report('deferred')
  assert.equal((await line.email(id)).status, 'FAILED')
})

test('F3: a clock that jumps a day ahead gives no mail up, and asks its receiver no more often', async (t) => {
  let elapsed = 0
  const line = await openLine(t, () => elapsed)
  const id = await line.sendOne()
  line.clock.now += DAY_MS
  await line.report('deferred')
  const jumped = await line.email(id)
  assert.deepEqual([jumped.status, jumped.error], ['PENDING', '451 Not now'])
  const waitMs = (jumped.dueAt ?? 0) - line.clock.now
  assert.ok(waitMs > 0.8 * MINUTE_MS, `asked again after ${waitMs} ms`)
  // It is believed ten minutes after it was first read in another minute than before.
  for (const attempt of [2, 3]) {
    assert.equal((await line.email(id)).status, 'PENDING')
    elapsed += 11 * MINUTE_MS
    line.clock.now += 11 * MINUTE_MS
    line.core.queueNotifier.notify('anywhere')
    await line.passedOn(attempt)
    await line.report('deferred')
  }
  assert.equal((await line.email(id)).status, 'FAILED')
})

test('no email for a full site is leased; another site is served', async (t) => {
  const line = await openLine(t)
  line.capacity.set('dest.test', 0)
  const { emails: waiting } = await line.send()
  await line.sendOne({ to: [{ address: address('a@other.test'), name: null }] })
  const email = await line.email(waiting[0]?.email as string)
  assert.equal(email.state, 'queued')
  assert.equal(email.leaseUntil, null)
  line.capacity.set('dest.test', 1)
  line.core.queueNotifier.notify('capacity')
  await line.passedOn(2)
})

test('an email that outbound puts back counts no attempt', async (t) => {
  const sender = await openSender(t)
  const delivery = createDeliverer(sender.core)
  const queue = startQueue(sender.core, delivery)
  const passedOn = Promise.withResolvers<void>()
  sender.core.outbound.deliver = ([task]) => {
    if (task === undefined) return
    sender.tasks.push(task)
    delivery.finished([
      { emailId: task.emailId, kind: 'put back', site: 'x', retryAt: START + 60_000 },
    ])
    passedOn.resolve()
  }
  const { emails: accepted } = await sender.send()
  await passedOn.promise
  await queue.stop()
  await delivery.settled(5_000)
  const email = await sender.email(accepted[0]?.email as string)
  assert.equal(email.state, 'queued')
  assert.equal(email.attemptCount, 0)
  assert.equal(email.dueAt, START + 60_000)
  assert.equal(email.leaseUntil, null)
})

test('emails leased by a process that ended are due again when their lease ends', async (t) => {
  const sender = await openSender(t)
  const { emails: accepted } = await sender.send()
  const id = accepted[0]?.email as string
  await sender.core.store.write(async (tx) => {
    await setEmails(tx, {
      state: 'sending',
      status: 'SENDING',
      dueAt: null,
      retryAt: START + 50,
      leaseUntil: START + 10,
    })
  })
  sender.clock.now += 100
  const passedOn = Promise.withResolvers<void>()
  sender.core.outbound.deliver = () => passedOn.resolve()
  const queue = startQueue(sender.core, createDeliverer(sender.core))
  await passedOn.promise
  await queue.stop()
  assert.equal((await sender.email(id)).state, 'sending')
})

test('an attempt that a process did not record before its end is not counted', async (t) => {
  const sender = await openSender(t)
  const { emails: accepted } = await sender.send()
  const id = accepted[0]?.email as string
  for (let endCount = 0; endCount < 5; endCount += 1) {
    const passedOn = Promise.withResolvers<void>()
    sender.core.outbound.deliver = () => passedOn.resolve()
    const queue = startQueue(sender.core, createDeliverer(sender.core))
    await passedOn.promise
    // Only the queue stops: the email stays leased, as after the death of a process.
    await queue.stop()
    const { state, attemptCount, retryAt } = await sender.email(id)
    assert.deepEqual([state, attemptCount], ['sending', 1])
    sender.clock.now = (retryAt ?? 0) + 1
  }
})

test('an email that is cancelled after an interrupted attempt may have arrived, and says so', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  const claimedAt = line.clock.now
  line.clock.now += 5_000
  assert.equal(await recoverLeases(line.core, { until: Number.MAX_SAFE_INTEGER, except: [] }), 1)
  await cancelEmails(line.core, [id])
  const { email, attempts: rows } = await loadEmailHistory(line.core, id)
  assert.deepEqual([email.state, email.error, email.attemptCount], ['failed', 'cancelled', 0])
  const [row] = rows.map(toAttemptView)
  assert.equal(rows.length, 1)
  assert.equal(row?.at, new Date(claimedAt).toISOString())
  assert.deepEqual([row?.result, row?.maybeDelivered, row?.steps], ['interrupted', true, []])
  assert.match(formatAttempts(rows).join(), /^Interrupted attempt, .*\n.* may have accepted the/s)
  const explained = await explainEmails(line.core, [email], async () => ({ server: 'none' }))
  assert.match(
    explained.get(id)?.reason ?? '',
    /was interrupted, so the message may have arrived\. /,
  )
})

test('an interrupted first attempt is named beside the reason of its site', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  await line.core.store.write((tx) => tx.update(emails).set({ error: 'dest.test: 421 busy' }))
  await recoverLeases(line.core, { until: Number.MAX_SAFE_INTEGER, except: [] })
  const email = await line.email(id)
  const explained = await explainEmails(line.core, [email], async () => ({ server: 'none' }))
  assert.match(explained.get(id)?.reason ?? '', /^The process that was sending it ended, /)
})

test('an email is not sent after its project, domain, address or contact stops allowing it', async (t) => {
  const cases = [
    {
      change: (sender: Sender) =>
        sender.core.store.write((tx) => tx.update(projects).set({ isDisabled: true })),
      expected: ['FAILED', 'the project is disabled'],
    },
    {
      change: (sender: Sender) =>
        sender.core.store.write((tx) => tx.update(domains).set({ isVerified: false })),
      expected: ['FAILED', 'the sender domain is no longer verified'],
    },
    {
      change: (sender: Sender) =>
        sender.core.store.write((tx) => tx.update(emails).set({ contentClass: 'MARKETING' })),
      expected: ['FAILED', 'the contact has unsubscribed'],
    },
  ]
  for (const { change, expected } of cases) {
    const sender = await openSender(t)
    const { emails: accepted } = await sender.send()
    await change(sender)
    sender.core.directory.drop()
    const queue = startQueue(sender.core, createDeliverer(sender.core))
    const id = accepted[0]?.email as string
    while ((await sender.email(id)).status !== 'FAILED') await pause()
    await queue.stop()
    const { status, error } = await sender.email(id)
    assert.deepEqual([status, error], expected)
    assert.deepEqual(sender.tasks, [])
  }
})

test('held mail keeps its place in the queue and its give-up time; a release sends it', async (t) => {
  const line = await openLine(t)
  line.capacity.set('dest.test', 0)
  const { emails: before } = await line.send()
  assert.equal(await holdDomain(line.core, 'dest.test'), 1)
  const { emails: after } = await line.send()
  const ids = [before[0]?.email as string, after[0]?.email as string]
  for (const id of ids) assert.equal((await line.email(id)).state, 'held')
  line.capacity.set('dest.test', 10)
  line.clock.now += 3_600_000
  assert.equal((await releaseDomain(line.core, 'dest.test')).due, 2)
  await line.passedOn(2)
  assert.deepEqual(
    line.tasks.map(({ emailId }) => emailId),
    ids,
  )
  assert.equal((await line.email(ids[0] as string)).giveUpAt, START + 86_400_000 + 3_600_000)
})

test('a cancelled email is FAILED; an email in flight cannot be cancelled', async (t) => {
  const line = await openLine(t)
  const sending = await line.sendOne()
  line.capacity.set('dest.test', 0)
  const { emails: accepted } = await line.send()
  const waiting = accepted[0]?.email as string
  await assert.rejects(cancelEmails(line.core, [waiting, sending]), { code: 'CONFLICT' })
  assert.equal((await line.email(waiting)).state, 'queued')
  await cancelEmails(line.core, [waiting])
  const { status, error } = await line.email(waiting)
  assert.deepEqual([status, error], ['FAILED', 'cancelled'])
})

test('a retried email that was due already stays ahead of later ones', async (t) => {
  const { core, send, clock, email } = await openSender(t)
  const { emails: accepted } = await send()
  const id = accepted[0]?.email as string
  clock.now = START + 60_000
  await retryEmails(core, [id])
  assert.equal((await email(id)).dueAt, START)
})

test('a retry makes a deferred email due at once, and a failed one is queued again', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  await line.report('deferred')
  await retryEmails(line.core, [id])
  await line.passedOn(2)
  await line.report('failed')
  assert.equal((await line.email(id)).status, 'FAILED')
  await retryEmails(line.core, [id])
  await line.passedOn(3)
  await line.report('delivered')
  await assert.rejects(retryEmails(line.core, [id]), { code: 'CONFLICT' })
})

test('two projects take turns at a full site', async (t) => {
  const line = await openLine(t)
  const other = await addSenderProject(line.core, 'Other', 'other.test')
  line.capacity.set('dest.test', 0)
  for (let index = 0; index < 20; index += 1) await line.send()
  const from = { address: address('a@other.test'), name: null }
  await line.send({ from }, { project: other })
  line.capacity.set('dest.test', 4)
  line.core.queueNotifier.notify('capacity')
  await line.passedOn(8)
  const senders = line.tasks.slice(0, 8).map(({ source }) => source.from.address)
  assert.ok(senders.includes('a@other.test'), senders.join(' '))
})

test('an email that cannot be prepared waits; the rest of its batch is sent', async (t) => {
  const line = await openLine(t)
  const other = await addSenderProject(line.core, 'Other', 'other.test')
  await line.core.store.write((tx) =>
    tx.update(domains).set({ rsaPrivateKey: 'broken' }).where(eq(domains.domain, 'other.test')),
  )
  line.core.directory.drop()
  line.capacity.set('dest.test', 0)
  const from = { address: address('a@other.test'), name: null }
  const findSenderDomain = line.core.directory.findSenderDomain
  line.core.directory.findSenderDomain = async () => ({}) as never
  const { emails: bad } = await line.send({ from }, { project: other })
  line.core.directory.findSenderDomain = findSenderDomain
  await line.send()
  line.capacity.set('dest.test', 10)
  line.core.queueNotifier.notify('capacity')
  await line.passedOn(1)
  const id = bad[0]?.email as string
  while ((await line.email(id)).state !== 'queued') await pause()
  const email = await line.email(id)
  assert.equal(email.dueAt, START + 60_000)
  assert.equal(email.attemptCount, 0)
})

test('an email whose contact is deleted in flight leaves no row and stops no other mail', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  await line.core.store.write((tx) => tx.delete(contacts))
  await line.report('delivered')
  assert.deepEqual(await line.eventNames(), [])
  await assert.rejects(line.email(id))
})

test('an email is not held if the hold has ended before it is written', async (t) => {
  const line = await openLine(t)
  line.core.directory.heldDomains = async () => new Set(['dest.test'])
  const { emails: accepted } = await line.send()
  assert.equal((await line.email(accepted[0]?.email as string)).state, 'queued')
  line.core.directory.heldDomains = async () => new Set<string>()
  await line.passedOn(1)
})

test('stale lanes do not delay new mail', async (t) => {
  const line = await openLine(t)
  for (let index = 0; index < 500; index += 1) {
    const stale = { domain: `d${index}.test`, queueClass: 1, projectId: 'gone' } as const
    line.core.queueNotifier.notify({ ...stale, dueAt: START })
  }
  const { write } = line.core.store
  let writes = 0
  line.core.store.write = (fn) => {
    writes += 1
    return write(fn)
  }
  await line.sendOne()
  assert.ok(writes < 170, `${writes} transactions`)
})

test('a second result of the same attempt changes nothing', async (t) => {
  const line = await openLine(t)
  const id = await line.sendOne()
  await line.report('delivered')
  await line.report('hard')
  assert.equal((await line.email(id)).status, 'DELIVERED')
  const rows = await line.core.store.read
    .select()
    .from(attempts)
    .where(eq(attempts.emailId, id))
    .all()
  assert.equal(rows.length, 1)
})

test('the task carries a signed return path and the sender\u2019s keys', async (t) => {
  const line = await openLine(t)
  await line.sendOne()
  const task = line.tasks[0]
  assert.ok(task?.reversePath.startsWith(`b.${task.source.returnToken}@`))
  assert.match(task?.reversePath as string, /^b\.[a-z2-7]{58}@bounce\.mail\.example\.test$/)
  assert.deepEqual(
    task?.signingKeys.map(({ selector }) => selector),
    ['r'],
  )
  assert.equal(task?.source.variables.system.email, 'ada@dest.test')
})

test('the queue of a project that is being reset or deleted is not sent, and nothing is written about it', async (t) => {
  const deletion = (core: Sender['core'], id: string) => deleteProject(core, id, { force: true })
  for (const erase of [resetProject, deletion]) {
    const sender = await openSender(t)
    const { core, project, tasks } = sender
    const other = await addSenderProject(core, 'Other', 'example.net')
    await sender.send({ to: [{ address: address('ada@dest.test'), name: null }] })
    await erase(core, project.id)
    const from = { address: address('shop@example.net'), name: null }
    const to = [{ address: address('bob@dest.test'), name: null }]
    await sender.send({ to, from }, { project: other })
    const queue = startQueue(core, createDeliverer(core))
    while (tasks.length === 0) await pause()
    await queue.stop()
    assert.deepEqual(
      tasks.map(({ source }) => source.variables.system.email),
      ['bob@dest.test'],
    )
    const isOwn = eq(events.projectId, project.id)
    assert.equal(await core.store.read.$count(events, isOwn), 0)
  }
})

test('emails whose domain is held or project disabled are recalled unless their attempt has begun', async (t) => {
  const line = await openLine(t)
  const other = await addSenderProject(line.core, 'Other', 'example.net')
  const to = (text: string) => [{ address: address(text), name: null }]
  await line.send({ to: to('ada@held.test') })
  await line.send({ to: to('ada@free.test') })
  const from = { address: address('shop@example.net'), name: null }
  await line.send({ to: to('ada@stopped.test'), from }, { project: other })
  await line.passedOn(3)
  const recalled: string[] = []
  const both = Promise.withResolvers<void>()
  line.core.outbound.recall = (site) => {
    if (recalled.push(site) === 2) both.resolve()
  }
  await line.core.store.write(async (tx) => {
    await tx.insert(holds).values({ domain: 'held.test', heldAt: START })
    await tx.update(projects).set({ isDisabled: true }).where(eq(projects.id, other.id))
  })
  line.core.directory.drop()
  line.core.queueNotifier.notify('anywhere')
  await both.promise
  assert.deepEqual(recalled.sort(), ['held.test', 'stopped.test'])
})

test('a thousand due lanes of full sites neither block the event loop nor hide another lane', async (t) => {
  const sender = await openSender(t)
  const full = Array.from({ length: 1_000 }, (_, index) => `full${index}.test`)
  for (const domain of full) sender.capacity.set(domain, 0)
  const to = [...full, 'open.test'].map((domain) => ({
    address: address(`ada@${domain}`),
    name: null,
  }))
  await sender.send({ to })
  const { outbound } = sender.core
  const { siteOf, deliver } = outbound
  const siteLookups = { now: 0, most: 0 }
  outbound.siteOf = (domain) => {
    siteLookups.now += 1
    siteLookups.most = Math.max(siteLookups.most, siteLookups.now)
    return siteOf(domain)
  }
  const { promise, resolve } = Promise.withResolvers<void>()
  outbound.deliver = (tasks) => {
    deliver(tasks)
    resolve()
  }
  const beat = () => {
    siteLookups.now = 0
    beating = setImmediate(beat)
  }
  let beating = setImmediate(beat)
  const queue = startQueue(sender.core, createDeliverer(sender.core))
  await promise
  clearImmediate(beating)
  await queue.stop()
  assert.deepEqual(
    sender.tasks.map(({ domain }) => domain),
    ['open.test'],
  )
  // 400 lanes with two checks each: whether the site is paused, and its capacity.
  assert.ok(siteLookups.most <= 800, `${siteLookups.most} at a stretch`)
})
