/** A server with work of every kind on its way, in two projects, and what receives that work. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { HOUR_MS } from '../../src/base/clock.ts'
import { createEndpoint } from '../../src/features/outreach/webhooks/endpoints/edit-endpoint.ts'
import { eq, sql } from '../../src/store/drizzle.ts'
import { newId } from '../../src/store/ids.ts'
import { accountTokens, projects, users } from '../../src/store/schema/accounts.ts'
import { meteringBatches } from '../../src/store/schema/billing.ts'
import type { Store } from '../../src/store/store.ts'
import { logIn } from '../session.ts'
import { startStripeDouble } from '../stripe/double.ts'
import { startProgram } from './program.ts'

export const CUSTOMER = 'cus_restored'
export const CREDITS = 3
/** More than ten times `rows_ahead`, so that the campaign stays in the middle of its sending. */
export const CONTACTS = 15

/** The first server makes one email of the campaign in a second; later ones make all that they may. */
export const AT_ONCE = { PILLARBOX_CAMPAIGNS__ROWS_AHEAD: String(10 * CONTACTS) }

const LINKS =
  '<p><a href="{{ unsubscribeUrl }}">Off</a> <a href="https://shop.test/sale">Sale</a></p>'

export type Received = { path: string; id: string; body: { type?: string; who?: string } }

/** Answers 500 while `isBroken`, and keeps what it took. */
async function startReceiver(t: TestContext) {
  const receiver = { isBroken: true, requests: [] as Received[], url: '' }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}')
      const id = String(request.headers['webhook-id'])
      receiver.requests.push({ path: request.url ?? '', id, body })
      response.writeHead(receiver.isBroken ? 500 : 200).end('ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return receiver
}

export async function makeWorld(t: TestContext) {
  const stripe = await startStripeDouble()
  t.after(() => stripe.stop())
  const receiver = await startReceiver(t)
  const settings = {
    ...stripe.settings,
    PILLARBOX_BACKUP__MIN_FREE_BYTES: '0',
    PILLARBOX_WEBHOOKS__ALLOW_PRIVATE_NETWORKS: 'true',
    PILLARBOX_CAMPAIGNS__ROWS_AHEAD: '1',
    PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:0"]',
  }
  const program = await startProgram(settings)
  t.after(program.close)
  const { core, project: one } = program
  const mail = { isBusy: true }
  const sink = await program.receive('dest.test')
  const busy = await program.receive('busy.test', {
    respond: ({ verb }) => (verb === 'RCPT' && mail.isBusy ? '451 4.7.1 Later' : undefined),
  })
  const owner = ['--owner', 'owner@people.test']
  const two = (await program.command('project', 'create', '--name', 'Two', ...owner)) as typeof one
  await program.command('domain', 'add', '--project', two.id, 'two.test')
  await program.command('domain', 'verify', 'two.test', '--trust')
  const callOf = (secret: string, base: () => string) => async (route: string, body?: object) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(new URL(route, base()), { headers, ...init })
    return { status: response.status, body: Object(await response.json()) }
  }
  const callTwo = callOf(two.secret, program.url)

  // Delivered before the backup: its links must work afterwards.
  const [delivered = ''] = await program.send({ to: 'ada@dest.test', body: LINKS })
  await program.untilState(delivered, 'delivered')
  const [first = ''] = await program.send({ to: 'one@busy.test' })
  const sentByTwo = await callTwo('/v1/send', {
    ...{ to: 'two@busy.test', from: 'shop@two.test', subject: 'Two', body: '<p>Two</p>' },
  })
  assert.equal(sentByTwo.status, 200, JSON.stringify(sentByTwo.body))
  const second = String(sentByTwo.body.data.emails[0].email)
  for (const id of [first, second]) await program.untilState(id, 'deferred')

  // A workflow that waits, and then tells somebody.
  const workflow = await program.call('POST', '/workflows', { name: 'W', eventName: 'signup' })
  const { id: workflowId, steps } = Object(workflow.body)
  const ids = { trigger: steps[0].id, nap: crypto.randomUUID(), hook: crypto.randomUUID() }
  const graph = await program.call('PUT', `/workflows/${workflowId}/graph`, {
    steps: [
      { id: ids.trigger, type: 'TRIGGER', name: 'signup', config: { eventName: 'signup' } },
      { id: ids.nap, type: 'DELAY', name: 'nap', config: { amount: 1, unit: 'hours' } },
      {
        ...{ id: ids.hook, type: 'WEBHOOK', name: 'hook' },
        config: { url: `${receiver.url}/workflow`, method: 'POST', body: { who: '{{ email }}' } },
      },
    ],
    transitions: [
      { fromStepId: ids.trigger, toStepId: ids.nap },
      { fromStepId: ids.nap, toStepId: ids.hook },
    ],
  })
  assert.equal(graph.status, 200, JSON.stringify(graph.body))
  assert.equal(
    (await program.call('PATCH', `/workflows/${workflowId}`, { enabled: true })).status,
    200,
  )
  // A webhook that is told and fails.
  const endpoint = {
    projectId: one.id,
    url: `${receiver.url}/endpoint`,
    events: ['signup', 'fresh'],
  }
  await createEndpoint(core, endpoint)
  const track = { event: 'signup', email: 'ada@dest.test' }
  assert.equal((await program.call('POST', '/v1/track', track)).status, 200)

  // A campaign in the middle of its sending.
  for (let n = 0; n < CONTACTS; n += 1) {
    const made = await program.call('POST', '/contacts', { email: `c${n}@busy.test` })
    assert.ok(made.status < 300, JSON.stringify(made.body))
  }
  const texts = { name: 'C', subject: 'Campaign', body: '<p>Hello</p>', from: 'shop@example.test' }
  const draft = { ...texts, audienceType: 'ALL' }
  const campaign = await program.call('POST', '/campaigns', draft)
  const sending = String(Object(campaign.body).data.id)
  assert.equal((await program.call('POST', `/campaigns/${sending}/send`)).status, 200)

  // Of the second project: a campaign that is scheduled, and a batch that Stripe did not take.
  const scheduledFor = new Date(core.now() + HOUR_MS).toISOString()
  assert.ok((await callTwo('/contacts', { email: 'subscribed@busy.test' })).status < 300)
  const later = await callTwo('/campaigns', { ...draft, from: 'shop@two.test' })
  const scheduled = String(later.body.data.id)
  assert.equal((await callTwo(`/campaigns/${scheduled}/send`, { scheduledFor })).status, 200)
  stripe.fault = () => '500'
  const at = core.now()
  const [user] = await core.store.read.select({ id: users.id }).from(users)
  const userId = user?.id ?? ''
  await core.store.write(async (tx) => {
    const billing = { customer: CUSTOMER, subscription: 'sub_restored', subscribedAt: 0 }
    await tx.update(projects).set(billing).where(eq(projects.id, two.id))
    await tx.insert(meteringBatches).values({
      ...{ id: newId(), projectId: two.id, customer: CUSTOMER, credits: CREDITS, state: 'waiting' },
      ...{ occurredAt: at - HOUR_MS, createdAt: at - HOUR_MS, updatedAt: at },
      emailIds: ['a', 'b', 'c'],
    })
    const life = { createdAt: at, expiresAt: at + HOUR_MS }
    await tx
      .insert(accountTokens)
      .values({ digest: 'a digest', userId, purpose: 'reset-password', ...life } as never)
  })
  const cookie = await logIn(core, userId)
  return {
    ...{ program, stripe, receiver, mail, sink, busy, one, two, settings, callOf },
    ...{ first, second, sending, scheduled, delivered, cookie, workflowId },
  }
}

/** Makes all of it due at once. */
export async function makeDue(store: Store): Promise<void> {
  await store.write(async (tx) => {
    await tx.run(sql`update emails set due_at = 0 where due_at is not null`)
    await tx.run(sql`update campaigns set scheduled_for = 1 where status = 'SCHEDULED'`)
    await tx.run(sql`update workflow_executions set due_at = 1 where due_at > 0`)
    await tx.run(sql`update workflow_step_executions set scheduled_for = 1
      where scheduled_for is not null and status = 'WAITING'`)
    await tx.run(sql`update webhook_deliveries set due_at = 0 where due_at is not null`)
    await tx.run(sql`update metering_batches set last_tried_at = 0 where last_tried_at is not null`)
  })
}
