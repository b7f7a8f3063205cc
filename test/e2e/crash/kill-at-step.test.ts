/** A server that is killed with -9 while each of its deliveries is at another step, as its receiver sees them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type SinkCommand, silence, startSink } from '../../fakes/smtp-sink.ts'
import type { ShownEmail } from '../mail/shown-email.ts'
import { eventually } from '../program.ts'
import { commandHere, installBesideSink, makeProject, post, type Serving } from '../server.ts'

/** Verbs of the sink. */
const VERBS = ['CONNECT', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'MESSAGE']
/** The answer to the request has come. */
const ACCEPTED = 'ACCEPTED'
/** The message is taken, and the server waits for the rest of the reply. */
const HALF_REPLY = '250-2.0.0 Ok'

/** What a sink does that goes silent at the verb, until it is released. */
function goSilent(at: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isSilent = false
  let isReleased = false
  const respond = ({ verb }: SinkCommand) => {
    isSilent ||= verb === at
    if (isReleased || !isSilent) return undefined
    resolve()
    return verb === 'MESSAGE' ? HALF_REPLY : silence
  }
  const release = () => {
    isReleased = true
  }
  return { respond, reached: promise, release }
}

/** A server whose mail goes to a domain and a sink for each step. */
async function setUp(t: TestContext) {
  const { sink, dns, installation } = await installBesideSink(t, { retrySchedule: '1s' })
  const { secret } = await makeProject(installation)
  const receivers = []
  for (const [index, step] of [...VERBS, ACCEPTED].entries()) {
    const host = `127.0.0.${index + 2}`
    const silent = goSilent(step)
    const own = await startSink({ host, port: sink.port, respond: silent.respond })
    t.after(() => own.stop())
    const domain = `${step.toLowerCase()}.test`
    dns.set(domain, { MX: [[10, `mx.${domain}`]] })
    dns.set(`mx.${domain}`, { A: [host] })
    receivers.push({ step, to: `ada@${domain}`, sink: own, ...silent })
  }

  async function send({ url }: Serving, to: string): Promise<string> {
    const request = { to, from: 'shop@example.test', subject: 'Hello', body: '<p>Hello</p>' }
    const { status, body } = await post(url, secret, request)
    assert.equal(status, 200)
    return (body as { data: { emails: { email: string }[] } }).data.emails[0]?.email ?? ''
  }

  /** Resolves to the email once it is delivered. */
  const untilDelivered = (id: string) =>
    eventually(async () => {
      const shown = (await commandHere(installation, 'queue', 'show', id)) as ShownEmail
      return shown.state === 'delivered' ? shown : undefined
    })

  return { installation, receivers, send, untilDelivered }
}

test('F1: a server that is killed at any step of a delivery delivers; only past the final dot twice', async (t) => {
  const { installation, receivers, send, untilDelivered } = await setUp(t)
  const first = await installation.serve()
  const ids = new Map<string, string>()
  for (const { step, to } of receivers.filter((each) => each.step !== ACCEPTED))
    ids.set(step, await send(first, to))
  const waiting = new Set(receivers.map(({ step }) => step).filter((step) => step !== ACCEPTED))
  for (const { step, reached } of receivers) void reached.then(() => waiting.delete(step))
  await eventually(() => waiting.size === 0 || undefined)
  ids.set(ACCEPTED, await send(first, `ada@${ACCEPTED.toLowerCase()}.test`))
  await first.kill('SIGKILL')
  for (const { release } of receivers) release()

  const second = await installation.serve()
  for (const { step, sink } of receivers) {
    const wanted = step === 'MESSAGE' ? 2 : 1
    await eventually(() => sink.messages.length >= wanted || undefined)
    const { attempts } = await untilDelivered(ids.get(step) ?? '')
    const messageIds = sink.messages.map(
      ({ bytes }) => /^message-id: (\S+)/im.exec(String(bytes))?.[1],
    )
    assert.equal(new Set(messageIds).size, 1, 'all copies have one Message-ID')
    // The server may have gone on for a moment after its answer.
    if (step === ACCEPTED) continue
    assert.equal(sink.messages.length, wanted, step)
    assert.deepEqual(
      attempts.map(({ result, maybeDelivered }) => [result, maybeDelivered]),
      [
        ['interrupted', true],
        ['delivered', false],
      ],
    )
  }
  assert.equal(await second.kill('SIGTERM'), 0)
})
