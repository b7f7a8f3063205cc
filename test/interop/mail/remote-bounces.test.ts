/**
 * Postfix, Exim and OpenSMTPD as the other side: they take our mail, find out afterwards that it
 * cannot be delivered, and their reports come back to our listener.
 */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { findFreePort } from '../../../scripts/bench/mail/postfix.ts'
import type { ShownEmail } from '../../e2e/mail/shown-email.ts'
import { eventually } from '../../e2e/program.ts'
import { type Installation, install, makeProject, post, type Serving } from '../../e2e/server.ts'
import { startDnsServer } from '../../fakes/dns-server.ts'
import { type SinkAction, type SinkCommand, startSink } from '../../fakes/smtp-sink.ts'
import { cleanUpAfterFile } from '../../file-cleanup.ts'
import { GROUP_MS } from '../../patience.ts'
import { startExim, whyNoExim } from './exim.ts'
import { startOpensmtpd, whyNoOpensmtpd } from './opensmtpd.ts'
import { isPostfixInstalled, startForwardingPostfix } from './postfix.ts'

/** What the server behind Postfix and OpenSMTPD says of its users. */
function answer({ verb, line }: SinkCommand): SinkAction | undefined {
  if (verb !== 'RCPT') return undefined
  if (line.includes('nobody@'))
    return '550 5.1.1 <nobody>: Recipient address rejected: User unknown'
  if (line.includes('full@')) return '552 5.2.2 Mailbox is full'
  if (line.includes('small@')) return '552 5.3.4 Message too big for system'
  if (line.includes('slow@')) return '451 4.3.2 The mail store is being moved'
  return undefined
}

const servers = [
  {
    name: 'Postfix',
    domain: 'postfix.test',
    host: '127.0.0.31',
    start: startForwardingPostfix,
    lack: isPostfixInstalled() ? false : 'Postfix is not installed, or this is not root',
    hasLists: true,
  },
  {
    name: 'Exim',
    domain: 'exim.test',
    host: '127.0.0.32',
    start: startExim,
    lack: whyNoExim(),
    hasLists: true,
  },
  {
    name: 'OpenSMTPD',
    domain: 'opensmtpd.test',
    host: '127.0.0.33',
    start: startOpensmtpd,
    lack: whyNoOpensmtpd(),
    hasLists: false,
  },
]

const t = cleanUpAfterFile()

let installation: Installation
let server: Serving
let secret: string
let port: number
let bouncePort: number
let backendPort: number

async function send(to: string): Promise<string> {
  const sent = await post(server.url, secret, {
    to,
    from: 'shop@example.test',
    subject: 'Hello',
    body: `<p>${'Some words. '.repeat(to.startsWith('small') ? 4_000 : 20)}</p>`,
  })
  assert.equal(sent.status, 200)
  const { data } = sent.body as { data: { emails: { email: string }[] } }
  return data.emails[0]?.email ?? ''
}

async function get(path: string): Promise<{ data: Record<string, unknown>[] }> {
  const response = await fetch(new URL(path, server.url), {
    headers: { authorization: `Bearer ${secret}` },
  })
  assert.equal(response.status, 200)
  return (await response.json()) as never
}

function untilState(id: string, state: string): Promise<ShownEmail> {
  return eventually(async () => {
    const shown = (await installation.command('queue', 'show', id)) as ShownEmail
    return shown.state === state ? shown : undefined
  })
}

async function isSuppressed(email: string): Promise<boolean> {
  const { data } = await get(`/suppressions?search=${encodeURIComponent(email)}`)
  return data.some((each) => each.email === email && each.reason === 'HARD_BOUNCE')
}

async function bounceTypesOf(emailId: string): Promise<unknown[]> {
  const { data } = await get('/activity?types=email.bounced&limit=100')
  const ofEmail = data.filter(({ id }) => String(id).startsWith(emailId))
  return ofEmail.map(({ metadata }) => (metadata as { bounceType: unknown }).bounceType)
}

describe('reports of other mail servers', { timeout: 4 * GROUP_MS }, () => {
  before(async () => {
    port = await findFreePort()
    bouncePort = await findFreePort()
    const backend = await startSink({ respond: answer })
    t.after(() => backend.stop())
    backendPort = backend.port
    const hosts = servers.map(({ domain, host }) => [
      [domain, { MX: [[10, `mx.${domain}`]] }],
      [`mx.${domain}`, { A: [host] }],
    ])
    const dns = await startDnsServer(Object.fromEntries(hosts.flat()))
    t.after(() => dns.stop())
    installation = await install(
      t,
      `
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "direct"
hostname = "mail.example.test"
port = ${port}
allow_private_networks = true
[inbound]
listen = ["127.0.0.1:${bouncePort}"]
[dns]
servers = ["${dns.address}"]
[log]
level = "error"
`,
    )
    server = await installation.serve()
    secret = (await makeProject(installation)).secret
  })

  for (const { name, domain, host, start, lack, hasLists } of servers) {
    describe(name, { skip: lack, timeout: GROUP_MS }, () => {
      before(() => start(t, { host, port, bouncePort, backendPort }))

      it('delivers to a known user and sends no report', async () => {
        const shown = await untilState(await send(`ada@${domain}`), 'delivered')
        assert.equal(shown.attempts.length, 1)
      })

      it('reports an unknown user: bounced, and suppressed at once', async () => {
        const id = await send(`nobody@${domain}`)
        const shown = await untilState(id, 'bounced')
        assert.equal(shown.status, 'BOUNCED')
        assert.deepEqual(await bounceTypesOf(id), ['Permanent'])
        assert.ok(await isSuppressed(`nobody@${domain}`))
        await untilState(await send(`nobody@${domain}`), 'suppressed')
      })

      for (const user of ['full', 'small']) {
        it(`reports ${user}@: bounced, and not suppressed`, async () => {
          const id = await send(`${user}@${domain}`)
          await untilState(id, 'bounced')
          assert.deepEqual(await bounceTypesOf(id), ['Undetermined'])
          assert.equal(await isSuppressed(`${user}@${domain}`), false)
        })
      }

      it('reports a delay, which changes no state', async () => {
        const id = await send(`slow@${domain}`)
        const types = await eventually(async () => {
          const found = await bounceTypesOf(id)
          return found.length > 0 ? found : undefined
        })
        assert.deepEqual(types, ['Transient'])
        assert.equal((await untilState(id, 'delivered')).status, 'DELIVERED')
      })

      it('reports one of the two users of an alias: bounced, and the alias is not suppressed', {
        skip: hasLists ? false : `${name} is not set up with an alias`,
      }, async () => {
        const id = await send(`list@${domain}`)
        await untilState(id, 'bounced')
        assert.equal(await isSuppressed(`list@${domain}`), false)
      })
    })
  }
})
