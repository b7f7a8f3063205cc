import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { digestSecret } from '../../../../src/features/ground/directory.ts'
import { appendEvent } from '../../../../src/features/ground/events/append.ts'
import {
  generationFileOf,
  writeGeneration,
} from '../../../../src/features/ground/fence/generation-file.ts'
import { FENCED_UNTIL, SERVER } from '../../../../src/features/ground/fence/rows.ts'
import { createDeliverer } from '../../../../src/features/mail/messages/delivery/deliverer.ts'
import { settleDisabled } from '../../../../src/features/mail/messages/disabled/settle.ts'
import { explainEmails } from '../../../../src/features/mail/messages/explain/explain-emails.ts'
import { settleFenced } from '../../../../src/features/mail/messages/fenced/settle.ts'
import { cancelEmails, retryEmails } from '../../../../src/features/mail/messages/queue/operate.ts'
import { startQueue } from '../../../../src/features/mail/messages/queue/queue.ts'
import { fenceDatabase } from '../../../../src/features/operation/recovery/fence-database.ts'
import { startGenerationWatch } from '../../../../src/features/operation/recovery/notice-older.ts'
import { releaseFences } from '../../../../src/features/operation/recovery/release.ts'
import {
  findNextDueCampaign,
  listDueCampaigns,
} from '../../../../src/features/outreach/campaigns/sending/active.ts'
import { settleStopped } from '../../../../src/features/outreach/campaigns/settle-stopped.ts'
import { resumeCampaign } from '../../../../src/features/outreach/campaigns/stopping.ts'
import { createEndpoint } from '../../../../src/features/outreach/webhooks/endpoints/edit-endpoint.ts'
import { takeDeliveries } from '../../../../src/features/outreach/webhooks/sending/endpoint-tasks.ts'
import {
  findEarliestDue,
  listDueExecutions,
  passOverFenced,
} from '../../../../src/features/outreach/workflows/engine/due.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { accountTokens, sessions } from '../../../../src/store/schema/accounts.ts'
import { campaigns } from '../../../../src/store/schema/campaigns.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { fences } from '../../../../src/store/schema/fences.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { webhookDeliveries } from '../../../../src/store/schema/webhooks.ts'
import { workflows } from '../../../../src/store/schema/workflows.ts'
import { enqueueJob } from '../../../../src/work/jobs/enqueue.ts'
import { addProject, address, START } from '../../../core.ts'
import { setEmails } from '../../../set-emails.ts'
import { addSenderProject, openSender, type Sender } from '../../mail/messages/sender.ts'
import { addCampaign, giveToCampaign } from '../../outreach/campaigns/add-campaign.ts'
import { addDelivery } from '../../outreach/webhooks/add-delivery.ts'
import { addExecution, addWorkflow } from '../../outreach/workflows/add-workflow.ts'

const fence = ({ core }: Sender) => fenceDatabase(core, { cause: 'restore', isAlone: true })

async function sendTo(sender: Sender, to = 'ada@dest.test'): Promise<string> {
  const { emails: accepted } = await sender.send({ to: [{ address: address(to), name: null }] })
  return accepted[0]?.email as string
}

async function reasonOf(sender: Sender, id: string) {
  const email = await sender.email(id)
  const explained = await explainEmails(sender.core, [email], async () => ({ server: 'silent' }))
  return explained.get(id)
}

test('F7: mail that waited is held with its reason, newer mail goes, and a release makes it due', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const held = await sendTo(sender)
  const cancelled = await sendTo(sender, 'eve@dest.test')
  core.clock.now += 1_000
  const { held: counts } = await fence(sender)
  assert.equal(counts.emails, 2)
  core.clock.now += 1_000
  const later = await sendTo(sender)
  assert.deepEqual(
    [(await sender.email(held)).state, (await sender.email(later)).state],
    ['paused', 'queued'],
  )
  const { reason, command } = (await reasonOf(sender, held))!
  assert.match(
    reason,
    /held since the database was brought back from a copy or lost its log, at 2026-11-21 12:00:01Z/,
  )
  assert.deepEqual(command, ['queue', 'release', '--restored', '--project', project.id])
  await assert.rejects(retryEmails(core, [held]), { code: 'CONFLICT' })
  await cancelEmails(core, [cancelled])
  // Neither a week nor what settles mail gives it up or lets it go.
  core.clock.now += 7 * 86_400_000
  await settleDisabled(core)
  await settleStopped(core)
  assert.equal((await sender.email(held)).state, 'paused')
  const giveUpAt = (await sender.email(held)).giveUpAt
  const released = await releaseFences(core, { projectId: project.id })
  assert.equal(released.emails, 1)
  await settleDisabled(core)
  const due = await sender.email(held)
  assert.deepEqual([due.state, due.giveUpAt > giveUpAt + 6 * 86_400_000], ['queued', true])
  assert.equal((await sender.email(cancelled)).state, 'failed')
})

test('F7: what a running server has claimed is put aside, and what a person retries goes', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  const old = await sendTo(sender)
  const failed = await sendTo(sender, 'bob@dest.test')
  await cancelEmails(core, [failed])
  core.clock.now += 1_000
  await fenceDatabase(core, { cause: 'command', isAlone: false })
  assert.equal((await sender.email(old)).state, 'queued')
  const queue = startQueue(core, createDeliverer(core))
  t.after(() => queue.stop())
  while ((await sender.email(old)).state !== 'paused') await new Promise(setImmediate)
  assert.equal((await settleFenced(core)).moved, 0)
  const [row] = await core.store.read
    .select()
    .from(fences)
    .where(eq(fences.projectId, sender.project.id))
  assert.equal(row?.isSettled, true)
  await retryEmails(core, [failed], { isOperator: true })
  assert.equal((await core.directory.unsettledFences()).size, 0)
  assert.deepEqual(await core.store.read.all(sql`select count(*) as n from attempts`), [{ n: 0 }])
})

test('F7: retried mail of a campaign that was sent is refused until it has been put aside', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const [sent, sending] = [await sendTo(sender), await sendTo(sender, 'bob@dest.test')]
  const of = { projectId: project.id }
  await giveToCampaign(core, sent, {
    campaignId: await addCampaign(core, { ...of, status: 'SENT' }),
  })
  const campaignId = await addCampaign(core, of)
  await giveToCampaign(core, sending, { campaignId })
  core.clock.now += 1_000
  await fenceDatabase(core, { cause: 'command', isAlone: false })
  await resumeCampaign(core, { ...of, id: campaignId })
  const queue = startQueue(core, createDeliverer(core))
  t.after(() => queue.stop())
  while (sender.tasks.length === 0) await new Promise(setImmediate)
  while (sender.tasks.length < 2 && (await sender.email(sent)).state !== 'paused')
    await new Promise(setImmediate)
  // What a person resumed does not keep the fence from being settled.
  assert.equal((await settleFenced(core)).moved, 0)
  assert.equal((await core.directory.unsettledFences()).size, 0)
  assert.deepEqual(
    sender.tasks.map(({ emailId }) => emailId),
    [sending],
  )
})

test('F7: a fence by a command leaves the mail of a server that has just started to it', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  const [lost, sending] = [await sendTo(sender), await sendTo(sender, 'bob@dest.test')]
  core.clock.now += 1_000
  const claim = (id: string, leaseUntil: number) =>
    core.store.write((tx) =>
      setEmails(
        tx,
        { state: 'sending', dueAt: null, retryAt: START, leaseUntil },
        eq(emails.id, id),
      ),
    )
  await claim(lost, core.now())
  await claim(sending, core.now() + 1)
  await fenceDatabase(core, { cause: 'command', isAlone: true })
  const states = [(await sender.email(lost)).state, (await sender.email(sending)).state]
  assert.deepEqual(states, ['paused', 'sending'])
})

test('F7: campaigns are paused as restored, do not fire, and go on after a release', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const sending = await addCampaign(core, { projectId: project.id })
  const manual = await addCampaign(core, {
    projectId: project.id,
    pausedAt: START,
    pauseReason: 'manual',
  })
  const at = START + 60_000
  const scheduled = await addCampaign(core, {
    projectId: project.id,
    status: 'SCHEDULED',
    scheduledFor: at,
  })
  const resumed = await addCampaign(core, {
    projectId: project.id,
    status: 'SCHEDULED',
    scheduledFor: at + 1,
  })
  const email = await sendTo(sender)
  await giveToCampaign(core, email, { campaignId: sending })
  core.clock.now += 1_000
  assert.equal((await fence(sender)).held.campaigns, 3)
  core.clock.now += 3_600_000
  await settleStopped(core)
  assert.equal((await sender.email(email)).state, 'paused')
  assert.match((await reasonOf(sender, email))!.reason, /brought back from a copy/)
  assert.deepEqual(await listDueCampaigns(core), [])
  assert.equal(await findNextDueCampaign(core), null)
  await resumeCampaign(core, { projectId: project.id, id: resumed })
  assert.deepEqual(
    (await listDueCampaigns(core)).map(({ id }) => id),
    [resumed],
  )
  assert.equal((await releaseFences(core)).campaigns, 2)
  const rows = await core.store.read.select().from(campaigns)
  const reasons = Object.fromEntries(rows.map((row) => [row.id, row.pauseReason]))
  assert.deepEqual(reasons, {
    [sending]: null,
    [manual]: 'manual',
    [scheduled]: null,
    [resumed]: null,
  })
  assert.deepEqual(
    (await listDueCampaigns(core)).map(({ id }) => id),
    [scheduled, resumed],
  )
  await settleStopped(core)
  assert.equal((await sender.email(email)).state, 'queued')
})

test('F7: executions up to the fence are passed over, also those that come due, and newer ones go', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  await sendTo(sender)
  await sendTo(sender, 'bob@dest.test')
  await sendTo(sender, 'eve@dest.test')
  const [one, two, three] = (await core.store.read.select().from(contacts)).map(({ id }) => id)
  const workflow = await addWorkflow(core, { projectId: project.id })
  const base = { projectId: project.id, workflowId: workflow.id }
  await addExecution(core, { ...base, contactId: one!, dueAt: 0 })
  const slept = await addExecution(core, { ...base, contactId: two!, dueAt: START + 5_000 })
  assert.equal((await fence(sender)).held.executions, 2)
  const { number: after } = slept
  const { id: newer } = await addExecution(core, { ...base, contactId: three!, dueAt: 0 })
  core.clock.now += 10_000
  const key = { workflowId: workflow.id, projectId: project.id }
  const due = { now: core.now(), limit: 10, after }
  const take = () =>
    core.store.write(async (tx) => {
      await passOverFenced(tx, key, due)
      const found = await listDueExecutions(tx, key, due)
      return { ids: found.map(({ id }) => id), next: await findEarliestDue(tx, { ...key, after }) }
    })
  assert.deepEqual(await take(), { ids: [newer], next: 0 })
  await core.store.write((tx) =>
    tx.run(sql`update workflow_executions set due_at = null where id = ${newer}`),
  )
  assert.deepEqual(await take(), { ids: [], next: undefined })
  await releaseFences(core)
  const all = await listDueExecutions(core.store.read, key, { ...due, after: 0 })
  assert.equal(all.length, 2)
})

test('F7: webhooks up to the fence wait, also those to try again; a later one is taken', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const { id: endpointId } = await addEndpoint(sender)
  await addDelivery(core, { projectId: project.id, endpointId })
  const retried = await addDelivery(core, { projectId: project.id, endpointId })
  await core.store.write((tx) =>
    tx
      .update(webhookDeliveries)
      .set({ dueAt: START + 1, attempts: 1 })
      .where(eq(webhookDeliveries.id, retried)),
  )
  assert.equal((await fence(sender)).held.webhooks, 2)
  core.clock.now += 10_000
  const key = { id: endpointId, projectId: project.id }
  const take = async () => {
    const query = { taken: new Set<number>(), limit: 10, now: core.now() }
    return takeDeliveries(core, key, query)
  }
  assert.deepEqual(await take(), { tasks: [], nextDueAt: null })
  await addDelivery(core, { projectId: project.id, endpointId })
  assert.equal((await take()).tasks.length, 1)
  assert.equal((await releaseFences(core, { projectId: project.id })).webhooks, 2)
  assert.equal((await take()).tasks.length, 3)
})

test('F7: jobs with effects outside, schedules and received mail are held until the release', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const enqueue = (kind: string, projectId?: string) =>
    core.store.write((tx) =>
      enqueueJob(tx, { kind, payload: {}, now: core.now(), ...(projectId && { projectId }) }),
    )
  await enqueue('platform-mail')
  await enqueue('import', project.id)
  await enqueue('delete-field', project.id)
  const config = { schedule: '0 * * * *', timezone: 'UTC' }
  const schedule = {
    triggerType: 'SCHEDULE' as const,
    triggerConfig: config,
    nextFireAt: START - 1,
  }
  await addWorkflow(core, { projectId: project.id, ...schedule })
  await core.store.write((tx) =>
    tx.run(sql`insert into inbound_messages (id, received_at, state, reverse_path, recipients,
        client_address, client_name, size_bytes)
      values (${newId()}, ${START}, 'pending', '', '[]', '192.0.2.1', 'mx.test', 10)`),
  )
  const { held } = await fence(sender)
  assert.deepEqual([held.jobs, held.schedules, held.received], [2, 1, 1])
  const runAt = async () => {
    const rows = await core.store.read.select().from(jobs)
    return Object.fromEntries(rows.map((row) => [row.kind, row.runAt]))
  }
  const expected = { 'platform-mail': FENCED_UNTIL, import: FENCED_UNTIL, 'delete-field': START }
  assert.deepEqual(await runAt(), expected)
  core.clock.now += 90 * 60_000
  await releaseFences(core, { projectId: project.id })
  const at = core.now()
  assert.deepEqual(await runAt(), { ...expected, import: at })
  // The firing before the fence never happens; the first one after it does.
  const [fired] = await core.store.read.select().from(workflows)
  assert.equal(fired?.nextFireAt, START + 3_600_000)
  assert.equal((await releaseFences(core)).received, 1)
  assert.deepEqual(await runAt(), { ...expected, import: at, 'platform-mail': at })
  assert.deepEqual(await core.store.read.select().from(fences), [])
})

test('F7: numbers of events go on far higher, and sessions and links for one use end', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const times = {
    createdAt: START,
    issuedAt: START,
    lastUsedAt: START,
    expiresAt: START + 86_400_000,
  }
  const { ownerId, secret } = await addProject(core, 'Owned')
  await core.store.write(async (tx) => {
    await tx.insert(sessions).values({ id: newId(), userId: ownerId, ...times })
    const token = { digest: 'd', userId: ownerId, purpose: 'reset-password' as const }
    await tx.insert(accountTokens).values({ ...token, createdAt: START, expiresAt: START + 1 })
    await append(tx, project.id)
  })
  const newest = async () =>
    (await core.store.read.select().from(events).orderBy(sql`seq desc`).limit(1))[0]?.seq ?? 0
  const before = await newest()
  assert.equal((await fence(sender)).generation, 1)
  await core.store.write((tx) => append(tx, project.id))
  assert.ok((await newest()) > before + 1_000_000)
  assert.deepEqual(await core.store.read.select().from(sessions), [])
  const [token] = await core.store.read.select().from(accountTokens)
  assert.equal(token?.usedAt, START)
  assert.ok(await core.directory.findProjectByDigest(digestSecret(secret)))
  assert.equal((await fence(sender)).generation, 2)
})

test('F7: a release of one project leaves the others held', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const other = await addSenderProject(core, 'Other', 'other.test')
  const mine = await sendTo(sender)
  const from = { address: address('shop@other.test'), name: null }
  const { emails: accepted } = await sender.send({ from }, { project: other })
  core.clock.now += 1_000
  await fence(sender)
  await releaseFences(core, { projectId: project.id })
  await settleDisabled(core)
  assert.equal((await sender.email(mine)).state, 'queued')
  assert.equal((await sender.email(accepted[0]?.email as string)).state, 'paused')
  const left = (await core.store.read.select().from(fences)).map(({ projectId }) => projectId)
  assert.deepEqual(left, [SERVER, other.id])
  await assert.rejects(releaseFences(core, { projectId: newId() }), { code: 'RESOURCE_NOT_FOUND' })
})

test('F7: a start that finds its database older than the file beside it sets the fence', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  await sendTo(sender)
  await core.store.write((tx) => append(tx, sender.project.id))
  const file = generationFileOf(core.config)
  core.clock.now += 1_000
  const watch = () => watchOnce(t, sender)
  // No file, and an unreadable one: a new file, no fence.
  await watch()
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await writeFile(file, 'not json')
  await watch()
  assert.equal((await core.store.read.select().from(fences)).length, 0)
  const known = JSON.parse(await readFile(file, 'utf8')) as { seq: number; generation: number }
  const [last] = await core.store.read.all<{ seq: number }>(sql`select max(seq) as seq from events`)
  assert.deepEqual([known.seq, known.generation], [last?.seq, 0])
  await writeFile(file, JSON.stringify({ ...known, seq: known.seq + 5 }))
  await watch()
  const standing = await core.store.read.select().from(fences)
  assert.equal(standing.length, 2)
  assert.match(core.health.reasons()[0]?.reason ?? '', /pillarbox queue release --restored\.$/)
  const after = JSON.parse(await readFile(file, 'utf8')) as typeof known
  assert.deepEqual([after.generation, after.seq], [1, known.seq + 5 + 1_000_000])
  // The next start finds nothing new; a release clears the reason.
  await watch()
  assert.equal(JSON.parse(await readFile(file, 'utf8')).generation, 1)
  const { stop } = await startGenerationWatch(core)
  await releaseFences(core)
  while (core.health.reasons().length > 0) await new Promise(setImmediate)
  await stop()
})

test('F7: a database of an older generation is fenced though its numbers are higher', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  await writeGeneration(core)
  const file = generationFileOf(core.config)
  await writeFile(file, JSON.stringify({ generation: 3, seq: 0, at: 'x' }))
  await watchOnce(t, sender)
  assert.equal(JSON.parse(await readFile(file, 'utf8')).generation, 4)
  assert.ok(path.isAbsolute(file))
})

async function watchOnce(_t: TestContext, { core }: Sender): Promise<void> {
  const { stop } = await startGenerationWatch(core)
  await stop()
}

function append(tx: Parameters<typeof appendEvent>[0], projectId: string) {
  return appendEvent(tx, {
    projectId,
    name: 'x',
    contactId: null,
    emailId: null,
    data: {},
    at: START,
  })
}

function addEndpoint({ core, project }: Sender) {
  return createEndpoint(core, { projectId: project.id, url: 'https://hooks.test/', events: ['*'] })
}
