/**
 * The production set-up of the guide in a network of its own: dnsmasq answers for the DNS with the
 * records that `domain add` prints, Postfix is where the recipients are, Chromium is how they read.
 * Everything that comes back is told in the activity feed.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { type ParsedMail, simpleParser } from 'mailparser'
import { createTransport } from 'nodemailer'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findFreePort } from '../../../scripts/bench/mail/postfix.ts'
import { DAY_MS } from '../../../src/base/clock.ts'
import type { ShownEmail } from '../../e2e/mail/shown-email.ts'
import { eventually } from '../../e2e/program.ts'
import { type Installation, install } from '../../e2e/server.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import { cleanUpAfterFile } from '../../file-cleanup.ts'
import { GROUP_MS } from '../../patience.ts'
import { isDnsmasqInstalled, startDnsmasq, type ZoneRecord } from './dnsmasq.ts'
import { isPostfixInstalled, type Mx, startPostfix } from './postfix.ts'

const host = 'mail.example.test'
const browserPath = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim())
  .find((found) => found !== '')

type Activity = { type: string; contactEmail: string; metadata: Record<string, unknown> }

function whyNot(): string | false {
  if (!isPostfixInstalled()) return 'Postfix is not installed, or this is not root'
  if (!isDnsmasqInstalled()) return 'dnsmasq is not installed'
  return browserPath === undefined ? 'Chromium is not installed' : false
}

const t = cleanUpAfterFile()

const zone: ZoneRecord[] = [
  { type: 'MX', name: 'dest.test', value: '10 mx.dest.test' },
  { type: 'A', name: 'mx.dest.test', value: '127.0.0.1' },
  { type: 'A', name: host, value: '127.0.0.1' },
]

let mx: Mx
let installation: Installation
let projectId: string
let secret: string
let page: Page
const ports = { dns: 0, http: 0, inbound: 0, submission: 0 }

function configuration(): string {
  return `
base_url = "https://${host}:${ports.http}"
[http]
listen = "127.0.0.1:${ports.http}"
tls_cert = "cert.pem"
tls_key = "key.pem"
[delivery]
mode = "direct"
hostname = "${host}"
port = ${mx.port}
allow_private_networks = true
[inbound]
listen = ["127.0.0.1:${ports.inbound}"]
tls_cert = "cert.pem"
tls_key = "key.pem"
[submission]
listen = ["tls://127.0.0.1:${ports.submission}"]
[dns]
servers = ["127.0.0.1:${ports.dns}"]
[limits]
api_requests_per_minute = 0
[log]
level = "error"
`
}

/** As a program outside calls us; the certificate is made here, so nothing vouches for it. */
async function web(method: string, url: string, more: { body?: string; headers?: object } = {}) {
  const { pathname, search, port } = new URL(url)
  const call = request({
    ...{ method, host: '127.0.0.1', port, path: pathname + search, rejectUnauthorized: false },
    headers: { host: new URL(url).host, ...more.headers },
  })
  call.end(more.body)
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  const chunks = await Array.fromAsync(response as AsyncIterable<Buffer>)
  const { statusCode, headers } = response
  return { status: statusCode, headers, text: Buffer.concat(chunks).toString('utf8') }
}

async function call(method: string, route: string, body?: unknown) {
  const { status, text } = await web(method, `https://${host}:${ports.http}${route}`, {
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status, body: JSON.parse(text) }
}

async function send(to: string, request: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await call('POST', '/v1/send', {
    to,
    from: { name: 'The Shop', email: 'shop@example.test' },
    subject: 'News for you',
    body: '<p>See <a href="https://example.test/offer?a=1&amp;b=2">the offer</a> or <a href="{{ unsubscribeUrl }}">leave</a>.</p>',
    ...request,
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data.emails[0].email
}

function untilState(id: string, state: string): Promise<ShownEmail> {
  return eventually(async () => {
    const shown = (await installation.command('queue', 'show', id)) as ShownEmail
    return shown.state === state ? shown : undefined
  })
}

async function received(user: string, messageId: string): Promise<ParsedMail> {
  const message = await eventually(async () => {
    const messages = await mx.messages(user)
    return messages.find((each) => each.includes(messageId))
  })
  return simpleParser(message)
}

/** The feed's entries of a type, once there are so many. */
function feed(type: string, contactEmail: string, count = 1): Promise<Activity[]> {
  return eventually(async () => {
    const { body } = await call('GET', `/activity?types=${type}&limit=100`)
    const found = (body.data as Activity[]).filter((each) => each.contactEmail === contactEmail)
    return found.length >= count ? found : undefined
  })
}

async function isSubscribed(address: string): Promise<boolean> {
  const events = await call('GET', '/activity?types=contact.subscribed,contact.unsubscribed')
  const last = (events.body.data as Activity[]).find((each) => each.contactEmail === address)
  return last?.type !== 'contact.unsubscribed'
}

/** A mail program outside: it hands mail to our MX. */
function outside() {
  return createTransport({
    host: '127.0.0.1',
    port: ports.inbound,
    secure: false,
    tls: { rejectUnauthorized: false },
  })
}

describe('in production', { skip: whyNot(), timeout: GROUP_MS }, () => {
  before(async () => {
    mx = await startPostfix(t, { 'ada@dest.test': 'ada', 'bob@dest.test': 'bob' })
    for (const name of Object.keys(ports)) ports[name as keyof typeof ports] = await findFreePort()
    installation = await install(t, configuration())
    const { cert, key } = makeCertificate([host])
    await writeFile(path.join(installation.folder, 'cert.pem'), cert)
    await writeFile(path.join(installation.folder, 'key.pem'), key, { mode: 0o600 })
    // The shop's own web site is nowhere: our server stands in for it.
    const names = `MAP ${host} 127.0.0.1, MAP example.test 127.0.0.1:${ports.http}`
    const browser: Browser = await chromium.launch({
      executablePath: browserPath ?? '',
      args: ['--no-sandbox', `--host-resolver-rules=${names}`],
    })
    t.after(() => browser.close())
    // A headless browser calls itself one, and counts as a machine.
    const userAgent = await browser.version()
    page = await browser.newPage({
      ignoreHTTPSErrors: true,
      userAgent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/${userAgent} Safari/537.36`,
    })
  })

  it('is set up by the steps of the guide, and its DNS records are found', async () => {
    const { command } = installation
    await command('user', 'create', '--email', 'owner@example.test')
    const made = (await command(
      ...['project', 'create', '--name', 'Shop', '--owner', 'owner@example.test'],
    )) as { id: string; secret: string }
    projectId = made.id
    secret = made.secret
    const domain = await command('domain', 'add', '--project', projectId, 'example.test')
    const { records } = domain as { records: ZoneRecord[] }
    await startDnsmasq(t, { port: ports.dns, records: [...zone, ...records] })
    await installation.serve()
    const verified = (await command('domain', 'verify', 'example.test')) as {
      verified: boolean
      records: { state: string }[]
    }
    assert.equal(verified.verified, true)
    assert.ok(verified.records.every(({ state }) => state === 'found'))
  })

  it('delivers to the good mailbox; the unknown one bounces and is suppressed', async () => {
    await untilState(await send('ada@dest.test'), 'delivered')
    await untilState(await send('nobody@dest.test'), 'bounced')
    const [bounce] = await feed('email.bounced', 'nobody@dest.test')
    assert.equal(bounce?.metadata.bounceType, 'Permanent')
    const { body } = await call('GET', '/suppressions')
    assert.deepEqual(
      body.data.map(({ email, reason }: Record<string, string>) => [email, reason]),
      [['nobody@dest.test', 'HARD_BOUNCE']],
    )
  })

  it('counts the opens and clicks of a person in a browser', async () => {
    const { messageId } = await untilState(await send('ada@dest.test'), 'delivered')
    const mail = await received('ada', messageId)
    // Whoever reads within two seconds of the delivery is a machine.
    await page.waitForTimeout(2_200)
    await page.setContent(String(mail.html), { waitUntil: 'networkidle' })
    const [opened] = await feed('email.opened', 'ada@dest.test')
    assert.equal(opened?.metadata.subject, 'News for you')
    const link = page.getByRole('link', { name: 'the offer' })
    const href = (await link.getAttribute('href')) ?? ''
    assert.match(href, new RegExp(`^https://${host}:${ports.http}/t/c/[a-z2-7]+$`))
    await page.goto(href)
    assert.equal(page.url(), 'https://example.test/offer?a=1&b=2')
    assert.equal((await feed('email.clicked', 'ada@dest.test')).length, 1)
  })

  it('lets a person unsubscribe and subscribe again on the page', async () => {
    const { messageId } = await untilState(
      await send('ada@dest.test', { subscribed: true }),
      'delivered',
    )
    const mail = await received('ada', messageId)
    const [address] = /https:[^"]+\/unsubscribe\/[a-z2-7]+/.exec(String(mail.html)) ?? []
    assert.ok(address)
    await page.goto(address)
    await page.goto(address)
    assert.equal(await isSubscribed('ada@dest.test'), true, 'GET changes nothing')
    await page.getByRole('button').first().click()
    await feed('contact.unsubscribed', 'ada@dest.test')
    assert.equal(await isSubscribed('ada@dest.test'), false)
    await page.goto(address.replace('/unsubscribe/', '/subscribe/'))
    await page.getByRole('button').first().click()
    await feed('contact.subscribed', 'ada@dest.test', 2)
    assert.equal(await isSubscribed('ada@dest.test'), true)
  })

  it('unsubscribes by the one-click request of mailbox providers (RFC 8058) and by mail', async () => {
    const { messageId } = await untilState(
      await send('bob@dest.test', { subscribed: true }),
      'delivered',
    )
    const mail = await received('bob', messageId)
    const list = mail.headers.get('list') as unknown as {
      unsubscribe: { url: string; mail: string }
      'unsubscribe-post': { name: string }
    }
    assert.equal(list['unsubscribe-post'].name, 'List-Unsubscribe=One-Click')
    const click = () =>
      web('POST', list.unsubscribe.url, {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'List-Unsubscribe=One-Click',
      })
    assert.equal((await click()).status, 200)
    assert.equal((await click()).status, 200)
    assert.equal((await feed('contact.unsubscribed', 'bob@dest.test')).length, 1)
    await send('bob@dest.test', { subscribed: true })
    const [to] = list.unsubscribe.mail.split('?')
    await outside().sendMail({ from: 'bob@dest.test', to, subject: 'unsubscribe', text: '' })
    await feed('contact.unsubscribed', 'bob@dest.test', 2)
    assert.equal(await isSubscribed('bob@dest.test'), false)
  })

  it('receives a reply and shows it with the email that it answers', async () => {
    const { id, messageId } = await untilState(await send('ada@dest.test'), 'delivered')
    await outside().sendMail({
      from: 'Ada <ada@dest.test>',
      to: 'shop@example.test',
      subject: 'Re: News for you',
      inReplyTo: `<${messageId}>`,
      html: '<p>Thank you!</p><script>alert(1)</script>',
      attachments: [{ filename: 'order.pdf', content: Buffer.from('%PDF-1.4') }],
    })
    const [reply] = await feed('email.received', 'ada@dest.test')
    const { subject, body } = reply?.metadata ?? {}
    assert.equal(subject, 'Re: News for you')
    assert.match(String(body), /Thank you!/)
    assert.doesNotMatch(String(body), /script|alert/)
    assert.match(JSON.stringify(reply), new RegExp(id), 'the email that it answers is named')
  })

  it('does not relay mail for other domains', async () => {
    await assert.rejects(
      outside().sendMail({ from: 'x@evil.test', to: 'victim@dest.test', text: 'x' }),
      { responseCode: 550 },
    )
  })

  it('accepts mail by SMTP as the API does', async () => {
    const transport = createTransport({
      host: '127.0.0.1',
      port: ports.submission,
      secure: true,
      tls: { rejectUnauthorized: false },
      auth: { user: 'pillarbox', pass: secret },
    })
    const { response } = await transport.sendMail({
      from: 'The Shop <shop@example.test>',
      to: 'bob@dest.test',
      subject: 'By SMTP',
      text: 'Plain words',
      attachments: [{ filename: 'a.bin', content: Buffer.from([0, 255, 10, 13]) }],
    })
    const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(response) ?? []
    const { messageId } = await untilState(id, 'delivered')
    const mail = await received('bob', messageId)
    assert.equal(mail.text?.trim(), 'Plain words')
    assert.deepEqual(mail.attachments[0]?.content, Buffer.from([0, 255, 10, 13]))
  })

  it('shows all these events in the activity feed', async () => {
    const { body } = await call('GET', '/activity?limit=100')
    const seen = new Set((body.data as Activity[]).map(({ type }) => type))
    for (const type of [
      ...['email.sent', 'email.delivered', 'email.bounced', 'email.opened', 'email.clicked'],
      ...['email.received', 'contact.subscribed', 'contact.unsubscribed'],
    ]) {
      assert.ok(seen.has(type), `${type} is not in the feed`)
    }
    await eventually(async () => {
      // Another range in each call, because answers are kept for a minute.
      const since = new Date(Date.now() - DAY_MS).toISOString()
      const stats = (await call('GET', `/activity/stats?startDate=${since}`)).body
      return stats.totalEmailsSent >= 5 && stats.totalEmailsOpened >= 1 ? stats : undefined
    })
  })
})
