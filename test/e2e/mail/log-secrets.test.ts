/**
 * What the log says of mail that is handed in and received over SMTP: no credential, subject or body at `info` and
 * at `debug`, and at `info` no address. Also when a client sends its credentials in the wrong place, and when
 * replies of receivers repeat addresses and tokens. (The words of a reply are the reason in the log: a receiver that
 * quotes a body there is not recognized.)
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { createLog } from '../../../src/base/log.ts'
import { buildDsn } from '../../features/incoming/receiving/receiver.ts'
import { connect } from '../../inbound/dialogue.ts'
import { plainLogin } from '../../inbound/submission-server.ts'
import { eventually, startProgram } from '../program.ts'

const WRONG = `sk_${'0f'.repeat(32)}`
const SUBJECT = 'the marked subject'
const BODY = 'the marked body'
const base64 = (text: string) => Buffer.from(text).toString('base64')

function message({ to, token = '' }: { to: string; token?: string }): string {
  return [
    ...['From: Shop <shop@example.test>', `To: Ada <${to}>`, `Subject: ${SUBJECT}`],
    ...[`X-Token: ${token}`, '', `${BODY} for ${to}`],
  ].join('\r\n')
}

const SETTINGS = {
  PILLARBOX_DELIVERY__RETRY_SCHEDULE: '["1h"]',
  PILLARBOX_SUBMISSION__LISTEN: '["127.0.0.1:0"]',
  PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:0"]',
}

// The server lets failed logins wait: both waits pass at once.
describe('the log of SMTP', { concurrency: true }, () => {
  for (const level of ['info', 'debug'] as const) {
    it(`at ${level} has no credential, subject or body`, async (t) => {
      const lines: string[] = []
      const log = createLog(level, { write: (line) => void lines.push(line) })
      const program = await startProgram(SETTINGS, log)
      t.after(program.close)
      const sink = await program.receive('dest.test', {
        respond: ({ verb, line }) => {
          if (verb === 'RCPT' && line.includes('gone')) return `550 5.1.1 ${line} is unknown here`
          if (verb === 'RCPT' && line.includes('busy')) return `451 4.7.1 ${line} is busy`
          if (verb === 'MESSAGE' && line.includes('spam@'))
            return `554 5.7.1 spam@dest.test does not take ${/^X-Token: .*$/m.exec(line)?.[0]}`
          return undefined
        },
      })
      const { secret } = program.project
      const [submission = 0] = program.submissionPorts()
      const inbound = program.inboundPort()
      const dial = async (port: number) => {
        const client = await connect(port, { ehlo: 'client.test' })
        t.after(client.close)
        return client
      }
      const codes = async (port: number, ...lines: string[]) => {
        const client = await dial(port)
        const replies = []
        for (const line of lines) replies.push((await client.say(line)).code)
        client.close()
        return replies
      }

      for (const port of [submission, inbound]) {
        // A password where a command belongs, and a login where none is offered.
        await codes(port, WRONG, base64(WRONG), `AUTH ${WRONG}`, `PASS ${WRONG}`, 'QUIT')
        await codes(port, `AUTH PLAIN ${plainLogin(WRONG)}`)
        await codes(port, 'AUTH LOGIN', base64('pillarbox'), base64(WRONG), base64(WRONG))
        await codes(port, `AUTH CRAM-MD5 ${base64(WRONG)}`, `MAIL FROM:<${WRONG}@example.test>`)
        await codes(port, `MAIL FROM:<shop@example.test> AUTH=${WRONG}`, `RCPT TO:<${WRONG}>`)
      }
      assert.deepEqual(
        await codes(submission, 'AUTH LOGIN', base64('pillarbox'), base64(secret)),
        [334, 334, 235],
      )

      const recipients = ['ada', 'gone.person', 'busy.person', 'spam'].map((n) => `${n}@dest.test`)
      const client = await dial(submission)
      assert.equal((await client.say(`AUTH PLAIN ${plainLogin(secret)}`)).code, 235)
      for (const to of recipients) {
        await client.open('shop@example.test', to)
        assert.equal((await client.data(message({ to, token: WRONG }))).code, 250, to)
      }
      await client.open('shop@other.test', 'ada@dest.test')
      await client.data(message({ to: 'ada@dest.test' }).replaceAll('example.test', 'other.test'))
      client.close()
      const states = async () =>
        (await program.command('queue', 'list', '--state', 'delivered')) as unknown[]
      await sink.waitForMessages(1)
      await eventually(async () => ((await states()).length > 0 ? true : undefined))

      const returnPath = sink.messages[0]?.from ?? ''
      assert.match(returnPath, /@/)
      const received: [from: string, to: string, raw: string][] = [
        ['', returnPath, buildDsn().replace(/^Subject:.*$/m, `Subject: ${SUBJECT}`)],
        ['eve.sender@dest.test', returnPath, message({ to: returnPath, token: WRONG })],
        [
          'eve.sender@dest.test',
          'postmaster@mail.example.test',
          message({ to: 'postmaster@x.test' }),
        ],
        ['', returnPath, `Subject: ${SUBJECT}\r\nContent-Type: multipart/report\r\n\r\n${BODY}`],
        ['eve.sender@dest.test', 'no.such.box@example.test', message({ to: 'x@example.test' })],
      ]
      for (const [from, to, raw] of received) {
        const peer = await dial(inbound)
        const { code } = await peer.open(from, to)
        if (code === 354) await peer.data(raw)
        peer.close()
      }
      const unread = async () =>
        ((await program.command('inbound', 'list')) as { state: string }[]).length
      await eventually(async () => ((await unread()) > 0 ? true : undefined))
      const cut = await dial(inbound)
      await cut.open('eve.sender@dest.test', returnPath)
      cut.write(message({ to: returnPath }))
      cut.socket.resetAndDestroy()
      await once(cut.socket, 'close')
      await program.stop()

      const text = lines.join('')
      assert.match(text, /a login for submission failed/)
      assert.match(text, /email delivered/)
      const secrets = [secret, WRONG, base64(WRONG), base64(secret), plainLogin(secret)]
      for (const each of [...secrets, plainLogin(WRONG), SUBJECT, BODY]) {
        assert.ok(!text.includes(each), `${each}: ${lines.find((line) => line.includes(each))}`)
      }
      // Halves, too: a line may have been cut.
      for (const each of [secret, WRONG]) assert.ok(!text.includes(each.slice(0, 32)), each)
      if (level === 'debug') return
      for (const each of [...recipients, returnPath, 'eve.sender@', 'no.such.box@', 'shop@']) {
        assert.ok(!text.includes(each), `${each}: ${lines.find((line) => line.includes(each))}`)
      }
    })
  }
})
