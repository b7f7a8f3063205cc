import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { test } from 'node:test'
import { FOLLOWERS } from '../src/features/ground/event-handlers.ts'
import { acceptInboundMessage } from '../src/features/incoming/receiving/accept/accept-message.ts'
import { countWork } from '../src/features/operation/metrics/work-gauges.ts'
import { eq } from '../src/store/drizzle.ts'
import { inboundMessages } from '../src/store/schema/inbound.ts'
import { enqueueJob } from '../src/work/jobs/enqueue.ts'
import { eventually, type Program, startProgram } from './e2e/program.ts'
import { startStripeDouble } from './stripe/double.ts'
import { findJob } from './work/jobs/running.ts'

/** No other test takes a port of this address between two holds. */
const HOST = '127.0.77.1'

async function holdPort(port = 0): Promise<Server> {
  const server = createServer().listen(port, HOST)
  await once(server, 'listening')
  return server
}

async function free(server: Server): Promise<void> {
  server.close()
  await once(server, 'close')
}

const findMessage = async ({ core }: Program, id: string) =>
  core.store.read.select().from(inboundMessages).where(eq(inboundMessages.id, id)).get()

for (const key of ['HTTP__LISTEN', 'INBOUND__LISTEN', 'SUBMISSION__LISTEN']) {
  test(`a start that fails because a port is in use claims nothing: ${key}`, async (t) => {
    const holder = await holdPort()
    const { port } = holder.address() as AddressInfo
    await free(holder)
    const program = await startProgram({ [`PILLARBOX_${key}`]: `${HOST}:${port}` })
    t.after(program.close)
    const { core, project } = program
    await program.receive('dest.test')
    await program.stop()
    const email = await program.command(
      ...['send', '--project', project.id, '--from', 'shop@example.test', '--to', 'a@dest.test'],
      ...['--subject', 'Hello', '--html', '<p>Hello</p>'],
    )
    const { id } = email as { id: string }
    const now = Date.now()
    const job = await core.store.write((tx) =>
      enqueueJob(tx, { kind: 'delete-expired-import-files', payload: {}, now }),
    )
    const jobId = job.isNew ? job.id : ''
    const messageId = await acceptInboundMessage(core, {
      ...{ reversePath: '', clientAddress: '192.0.2.1', clientName: 'x', protocol: 'SMTP' },
      ...{ tls: null, recipients: [{ for: 'server', address: 'postmaster' }] },
      content: [Buffer.from('Subject: Hello\r\n\r\nHello\r\n')],
    })
    const held = await holdPort(port)
    for (let starts = 0; starts < 3; starts += 1) {
      await assert.rejects(program.start(), { code: 'EADDRINUSE' })
    }
    const history = await program.untilState(id, 'queued')
    assert.deepEqual([history.email.attemptCount, history.email.retryAt], [0, null])
    const waiting = await findJob(core.store.read, jobId)
    assert.deepEqual([waiting?.state, waiting?.attempts, waiting?.losses], ['waiting', 0, 0])
    const message = await findMessage(program, messageId)
    assert.deepEqual([message?.state, message?.attempts], ['pending', 0])
    await free(held)
    await program.start()
    await program.untilState(id, 'delivered')
    await eventually(
      async () => (await findJob(core.store.read, jobId))?.state === 'completed' || undefined,
    )
    await eventually(
      async () => (await findMessage(program, messageId))?.state === 'processed' || undefined,
    )
  })
}

test('a stop accepts emails while a receiver makes up its mind, and sends nothing twice', async (t) => {
  const program = await startProgram()
  t.after(program.close)
  const written = Promise.withResolvers<Socket>()
  const waiting = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  let messages = 0
  await program.receive('slow.test', {
    respond({ verb }) {
      if (verb !== 'MESSAGE') return undefined
      messages += 1
      return written.resolve
    },
  })
  let isSilent = true
  const early = await program.receive('early.test', {
    ehlo: [],
    respond({ verb }) {
      if (!isSilent || verb !== 'RCPT') return undefined
      waiting.resolve()
      return (socket) => void socket.once('close', () => left.resolve())
    },
  })
  const [slowId = '', earlyId = ''] = await program.send({ to: ['a@slow.test', 'a@early.test'] })
  const [receiver] = await Promise.all([written.promise, waiting.promise])
  const url = new URL('/v1/send', program.url())
  const stopped = program.stop()
  await left.promise
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${program.project.secret}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      ...{ to: 'b@early.test', from: 'shop@example.test', subject: 'Hello', body: '<p>Hello</p>' },
    }),
  })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('connection'), 'close')
  receiver.write('250 2.0.0 Ok\r\n')
  await stopped
  await assert.rejects(fetch(url))
  assert.equal((await program.untilState(slowId, 'delivered')).attempts.length, 1)
  const putBack = await program.untilState(earlyId, 'queued')
  assert.deepEqual(putBack.attempts, [])
  isSilent = false
  await program.start()
  await early.waitForMessages(2)
  await program.untilState(earlyId, 'delivered')
  assert.equal(early.messages.length, 2)
  assert.equal(messages, 1)
})

test('a stop answers the requests that wait for Stripe', async (t) => {
  const stripe = await startStripeDouble()
  t.after(stripe.stop)
  const program = await startProgram(stripe.settings)
  t.after(program.close)
  const asked = Promise.withResolvers<void>()
  stripe.fault = ({ path }) => {
    if (path.endsWith('/sub_1')) asked.resolve()
    return 'hang'
  }
  const { body, signature } = stripe.sign(stripe.event('customer.subscription.updated', 'sub_1'))
  const answer = fetch(new URL('/webhooks/incoming/stripe', program.url()), {
    ...{ method: 'POST', body },
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
  })
  await asked.promise
  await program.stop()
  assert.equal((await answer).status, 503)
})

test('each follower whose lag is shown handles the events of a server, so its lag falls to 0', async (t) => {
  const program = await startProgram()
  t.after(program.close)
  await program.receive('dest.test')
  const { core, project } = program
  const email = await program.command(
    ...['send', '--project', project.id, '--from', 'shop@example.test', '--to', 'a@dest.test'],
    ...['--subject', 'Hello', '--html', '<p>Hello</p>'],
  )
  await program.untilState((email as { id: string }).id, 'delivered')
  const shown = await eventually(async () => {
    const { lags } = await countWork(core)
    return lags.length >= FOLLOWERS.length && lags.every(({ lag }) => lag === 0) ? lags : undefined
  })
  assert.deepEqual(
    shown.map(({ name }) => name),
    FOLLOWERS.toSorted(),
  )
})
