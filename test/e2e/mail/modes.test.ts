/** Where mail goes when it does not go to the recipient's MX: a smarthost, or the sandbox. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'
import { makeCertificate } from '../../fakes/certificate.ts'
import { eventually, type Program, startProgram } from '../program.ts'
import type { ShownEmail } from './shown-email.ts'

type Received = { to: string[]; user: unknown; isTls: boolean; bytes: Buffer }

/** Wants TLS and a login; knows no address at `nobody.test`. */
async function startSmarthost() {
  const received: Received[] = []
  const server = new SMTPServer({
    ...makeCertificate(['smarthost.test']),
    onAuth: ({ username, password }, _session, done) =>
      username === 'shop' && password === 'secret'
        ? done(null, { user: username })
        : done(new Error('no such credentials')),
    onRcptTo: ({ address }, _session, done) =>
      done(
        address.endsWith('@nobody.test')
          ? Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 })
          : null,
      ),
    onData(stream, { envelope, user, secure }, done) {
      Array.fromAsync(stream as AsyncIterable<Buffer>).then((chunks) => {
        const to = envelope.rcptTo.map(({ address }) => address)
        received.push({ to, user, isTls: secure, bytes: Buffer.concat(chunks) })
        done(null, 'Ok: queued as 4F2C91AB')
      }, done)
    },
  })
  // A stopping program cuts sessions that it kept open; any server bears that.
  server.on('error', () => undefined)
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { port: (listener.address() as AddressInfo).port, received, stop }
}

/** Results of the signatures, the records standing in for the DNS. */
async function verify({ records }: Program, message: Buffer): Promise<string[]> {
  const resolver = async (name: string) =>
    records.filter((record) => record.name === name).map(({ value }) => [value])
  const { results } = await dkimVerify(message, { resolver })
  return results.map(({ status }) => status.result)
}

describe('relay mode', () => {
  it('sends mail to the smarthost after TLS and AUTH, and the email becomes SENT', async (t) => {
    const smarthost = await startSmarthost()
    const program = await startProgram({
      PILLARBOX_DELIVERY__MODE: 'relay',
      PILLARBOX_DELIVERY__RELAY__HOST: '127.0.0.1',
      PILLARBOX_DELIVERY__RELAY__PORT: String(smarthost.port),
      PILLARBOX_DELIVERY__RELAY__USERNAME: 'shop',
      PILLARBOX_DELIVERY__RELAY__PASSWORD: 'secret',
    })
    t.after(async () => {
      await program.close()
      await smarthost.stop()
    })
    const [id = '', refused = ''] = await program.send({
      to: ['ada@one.test', 'eve@nobody.test'],
      subject: 'For {{ email }}',
    })
    await program.untilState(id, 'relayed')
    const [message] = smarthost.received
    assert.ok(message)
    const { to, user, isTls, bytes } = message
    assert.deepEqual([to, user, isTls], [['ada@one.test'], 'shop', true])
    assert.deepEqual(await verify(program, bytes), ['pass', 'pass'])
    assert.equal((await simpleParser(bytes)).subject, 'For ada@one.test')

    const shown = (await program.command('queue', 'show', id)) as ShownEmail
    assert.deepEqual(
      [shown.state, shown.status, shown.providerId, shown.attempts[0]?.result],
      ['relayed', 'SENT', '4F2C91AB', 'relayed'],
    )
    assert.match(shown.attempts[0]?.tls ?? '', /^TLSv1\.3/)
    assert.doesNotMatch(JSON.stringify(shown), /secret/)
    const feed = await program.call('GET', '/activity')
    const types = (feed.body as { data: { id: string; type: string }[] }).data
    assert.deepEqual(
      types.filter((one) => one.id.startsWith(id)).map(({ type }) => type),
      ['email.sent'],
    )

    const { email } = await program.untilState(refused, 'bounced')
    assert.match(email.error ?? '', /^550 5\.1\.1 /)
  })
})

describe('sandbox mode', () => {
  it('stores mail in the sandbox with the signatures of direct delivery', async (t) => {
    const program = await startProgram({ PILLARBOX_DELIVERY__MODE: 'sandbox' })
    t.after(program.close)
    const ids = await program.send({ to: ['ada@one.test', 'bob@two.test'], subject: 'Kept' })
    for (const id of ids) {
      const { email, attempts } = await program.untilState(id, 'delivered')
      assert.deepEqual([email.status, attempts.length], ['DELIVERED', 1])
    }
    const list = await eventually(async () => {
      const kept = (await program.command('sandbox', 'list')) as Record<string, string>[]
      return kept.length === 2 ? kept : undefined
    })
    assert.deepEqual(list.map(({ to, subject }) => `${to}: ${subject}`).sort(), [
      'ada@one.test: Kept',
      'bob@two.test: Kept',
    ])
    const { status, raw } = await program.run('sandbox', 'show', String(list[0]?.id))
    assert.equal(status, 0)
    assert.deepEqual(await verify(program, raw), ['pass', 'pass'])
  })
})
