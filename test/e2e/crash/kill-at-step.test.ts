/** A server that is killed with -9 at each step of one delivery, as its receiver sees them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silence } from '../../fakes/smtp-sink.ts'
import type { ShownEmail } from '../mail/shown-email.ts'
import { eventually } from '../program.ts'
import { commandHere, installBesideSink, makeProject, post, type Serving } from '../server.ts'

/** ACCEPTED: the answer to the request has come. The others are verbs of the sink. */
const STEPS = ['ACCEPTED', 'CONNECT', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'MESSAGE']

test('F1: a server that is killed at any step of a delivery delivers; only past the final dot twice', async (t) => {
  let killAt: string | undefined
  let server: Serving | undefined
  const killed = new Map<string, Promise<unknown> | undefined>()
  const { sink, dns, installation } = await installBesideSink(t, {
    retrySchedule: '1s',
    respond: ({ verb }) => {
      if (verb !== killAt) return undefined
      killAt = undefined
      killed.set(verb, server?.kill('SIGKILL'))
      // The message is taken; the server does not live to read the reply.
      return verb === 'MESSAGE' ? undefined : silence
    },
  })
  const { secret } = await makeProject(installation)

  async function send(step: string): Promise<string> {
    const to = addressOf(step)
    const request = { to, from: 'shop@example.test', subject: step, body: '<p>Hello</p>' }
    const { status, body } = await post(server?.url ?? '', secret, request)
    assert.equal(status, 200)
    return (body as { data: { emails: { email: string }[] } }).data.emails[0]?.email ?? ''
  }

  /** Resolves to the email once it is delivered, by the server that runs now. */
  const untilDelivered = (id: string) =>
    eventually(async () => {
      const shown = (await commandHere(installation, 'queue', 'show', id)) as ShownEmail
      return shown.state === 'delivered' ? shown : undefined
    })

  for (const step of STEPS) {
    // A domain for each, so that each delivery opens a connection.
    const domain = `${step.toLowerCase()}.test`
    dns.set(domain, { MX: [[10, `mx.${domain}`]] })
    dns.set(`mx.${domain}`, { A: ['127.0.0.1'] })
    server ??= await installation.serve()
    if (step !== 'ACCEPTED') killAt = step
    const id = await send(step)
    if (step === 'ACCEPTED') killed.set(step, server.kill('SIGKILL'))
    await eventually(() => killed.has(step) || undefined)
    await killed.get(step)

    const copiesNow = () => sink.messages.filter(({ to }) => to.includes(addressOf(step)))
    const wanted = step === 'MESSAGE' ? 2 : 1
    server = await installation.serve()
    await eventually(() => copiesNow().length >= wanted || undefined)
    const { attempts } = await untilDelivered(id)
    const copies = copiesNow()
    const ids = copies.map(({ bytes }) => /^message-id: (\S+)/im.exec(String(bytes))?.[1])
    assert.equal(new Set(ids).size, 1, 'all copies have one Message-ID')
    // The server may have gone on for a moment after its answer.
    if (step === 'ACCEPTED') continue
    assert.equal(copies.length, wanted, step)
    assert.deepEqual(
      attempts.map(({ result, maybeDelivered }) => [result, maybeDelivered]),
      [
        ['interrupted', true],
        ['delivered', false],
      ],
    )
  }
  assert.equal(await server?.kill('SIGTERM'), 0)
})

function addressOf(step: string): string {
  return `ada@${step.toLowerCase()}.test`
}
