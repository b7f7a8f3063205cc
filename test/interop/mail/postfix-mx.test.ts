/**
 * The main job among other people's software: dnsmasq answers for the DNS, Postfix is the MX (and
 * once the smarthost), dkimpy judges what arrived in the mail box.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { before, describe, it } from 'node:test'
import { simpleParser } from 'mailparser'
import { findFreePort } from '../../../scripts/bench/mail/postfix.ts'
import type { ShownEmail } from '../../e2e/mail/shown-email.ts'
import { eventually } from '../../e2e/program.ts'
import { type Installation, install, post, type Serving } from '../../e2e/server.ts'
import { cleanUpAfterFile } from '../../file-cleanup.ts'
import { GROUP_MS } from '../../patience.ts'
import { isDnsmasqInstalled, startDnsmasq, type ZoneRecord } from './dnsmasq.ts'
import { isPostfixInstalled, type Mx, startPostfix } from './postfix.ts'

const python = '/usr/bin/python3'
const hasDkimpy = spawnSync(python, ['-c', 'import dkim, nacl, dns.resolver']).status === 0

const READERS = 1_000
const readers = Array.from({ length: READERS }, (_, index) => `reader${index}@dest.test`)

const mailboxes = {
  ...Object.fromEntries(readers.map((address) => [address, 'readers'])),
  'ada@dest.test': 'ada',
  'bob@dest.test': 'bob',
  'late@dest.test': 'late',
  'many@dest.test': 'many',
  'jürgen@xn--bcher-kva.test': 'juergen',
}

const zone: ZoneRecord[] = [
  { type: 'MX', name: 'dest.test', value: '10 mx.dest.test' },
  { type: 'MX', name: 'xn--bcher-kva.test', value: '10 mx.dest.test' },
  { type: 'A', name: 'mx.dest.test', value: '127.0.0.1' },
  { type: 'A', name: 'mail.example.test', value: '127.0.0.1' },
  { type: 'MX', name: 'null.test', value: '0 .' },
]

function whyNot(): string | false {
  if (!isPostfixInstalled()) return 'Postfix is not installed, or this is not root'
  return isDnsmasqInstalled() ? false : 'dnsmasq is not installed'
}

const t = cleanUpAfterFile()

let mx: Mx
let dnsPort: number
let installation: Installation
let server: Serving
let secret: string

function configuration(delivery: string): string {
  return `
[http]
listen = "127.0.0.1:0"
[delivery]
hostname = "mail.example.test"
port = ${mx.port}
allow_private_networks = true
retry_schedule = ["1s"]
${delivery}
[dns]
servers = ["127.0.0.1:${dnsPort}"]
[limits]
api_requests_per_minute = 0
[log]
level = "error"
`
}

async function makeProject({ command }: Installation) {
  await command('user', 'create', '--email', 'owner@example.test')
  const project = ['project', 'create', '--name', 'Shop', '--owner', 'owner@example.test']
  const made = (await command(...project)) as { id: string; secret: string }
  const domain = await command('domain', 'add', '--project', made.id, 'example.test')
  return { ...made, records: (domain as { records: ZoneRecord[] }).records }
}

async function send(to: unknown, more: Record<string, unknown> = {}): Promise<string[]> {
  const answer = await post(server.url, secret, {
    ...{ to, from: 'shop@example.test', subject: 'Grüße', body: '<p>Hello {{ email }}</p>' },
    ...more,
  })
  assert.equal(answer.status, 200)
  const { data } = answer.body as { data: { emails: { email: string }[] } }
  return data.emails.map(({ email }) => email)
}

async function show(id: string, of = installation): Promise<ShownEmail> {
  return (await of.command('queue', 'show', id)) as ShownEmail
}

function untilState(id: string, ...states: string[]): Promise<ShownEmail> {
  return eventually(async () => {
    const shown = await show(id)
    return states.includes(shown.state) ? shown : undefined
  })
}

const dkimpyScript = `
import dkim, dns.resolver, json, sys
resolver = dns.resolver.Resolver(configure=False)
resolver.nameservers = ['127.0.0.1']
resolver.port = int(sys.argv[1])
def find(name, timeout=5):
    answer = resolver.resolve(name.decode(), 'TXT')
    return b''.join(next(iter(answer)).strings)
message = sys.stdin.buffer.read()
count = message.split(b'\\n\\n')[0].count(b'DKIM-Signature:')
print(json.dumps([dkim.DKIM(message).verify(index, dnsfunc=find) for index in range(count)]))
`

const dkimpyOfManyScript = `
import base64, dkim, dns.resolver, json, sys
resolver = dns.resolver.Resolver(configure=False)
resolver.nameservers = ['127.0.0.1']
resolver.port = int(sys.argv[1])
known = {}
def find(name, timeout=5):
    if name not in known:
        answer = resolver.resolve(name.decode(), 'TXT')
        known[name] = b''.join(next(iter(answer)).strings)
    return known[name]
def judge(message):
    count = message.split(b'\\n\\n')[0].count(b'DKIM-Signature:')
    return count > 0 and all(dkim.DKIM(message).verify(i, dnsfunc=find) for i in range(count))
print(sum(judge(base64.b64decode(text)) for text in json.load(sys.stdin)))
`

/** The number of messages of which dkimpy takes every signature. */
function countVerified(messages: readonly Buffer[]): number {
  const input = JSON.stringify(messages.map((message) => message.toString('base64')))
  const argv = ['-c', dkimpyOfManyScript, String(dnsPort)]
  const { status, stdout, stderr } = spawnSync(python, argv, { input, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return Number(stdout)
}

/** Whether dkimpy takes each signature, with the keys from the DNS. */
function judge(message: Buffer): boolean[] {
  const argv = ['-c', dkimpyScript, String(dnsPort)]
  const { status, stdout, stderr } = spawnSync(python, argv, { input: message, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

describe('beside Postfix and dnsmasq', { skip: whyNot(), timeout: GROUP_MS }, () => {
  before(async () => {
    mx = await startPostfix(t, mailboxes)
    dnsPort = await findFreePort()
    installation = await install(t, configuration('mode = "direct"'))
    const project = await makeProject(installation)
    secret = project.secret
    const wanted = project.records.filter(({ name }) => name !== 'example.test')
    await startDnsmasq(t, { port: dnsPort, records: [...zone, ...wanted] })
    const domain = await installation.command('domain', 'verify', 'example.test')
    assert.equal((domain as { verified: boolean }).verified, true)
    server = await installation.serve()
  })

  it('delivers a message to the mailbox over TLS with valid signatures', async (t) => {
    const [id = ''] = await send('ada@dest.test')
    const shown = await untilState(id, 'delivered')
    assert.equal(shown.status, 'DELIVERED')
    assert.equal(shown.attempts.length, 1)
    assert.equal(shown.attempts[0]?.host, 'mx.dest.test')
    assert.match(shown.attempts[0]?.tls ?? '', /^TLSv1\.3, certificate not verified \(TLS_/)
    assert.match(shown.attempts[0]?.reply?.text ?? '', /^Ok: queued as/)
    const [message] = await eventually(async () => {
      const messages = await mx.messages('ada')
      return messages.length > 0 ? messages : undefined
    })
    assert.ok(message)
    const mail = await simpleParser(message)
    assert.deepEqual([mail.subject, mail.text?.trim()], ['Grüße', 'Hello ada@dest.test'])
    const text = message.toString('utf8')
    assert.match(text, /^Return-Path: <b\.[a-z2-7]{58}@bounce\.example\.test>$/m)
    assert.match(text, /^Received: from mail\.example\.test /m)
    if (hasDkimpy) assert.deepEqual(judge(message), [true, true])
    else t.diagnostic('dkimpy is not installed: the signatures were not verified')
  })

  it('delivers to a mailbox whose name is not ASCII', async () => {
    const [id = ''] = await send({ name: 'Jürgen', email: 'Jürgen@Bücher.test' })
    assert.match((await untilState(id, 'delivered')).attempts[0]?.reply?.text ?? '', /^Ok: queued/)
    const [message] = await eventually(async () => {
      const messages = await mx.messages('juergen')
      return messages.length > 0 ? messages : undefined
    })
    assert.match(String(message), /\(Postfix\) with UTF8SMTPS id /)
    if (hasDkimpy) assert.deepEqual(judge(message ?? Buffer.alloc(0)), [true, true])
  })

  it('retries on schedule while Postfix replies with 4yz, and delivers afterwards', async () => {
    mx.policy.set('late@dest.test', '451 4.3.2 The mail box is being moved')
    const [id = ''] = await send('late@dest.test')
    const deferred = await eventually(async () => {
      const shown = await show(id)
      return shown.attempts.length >= 2 ? shown : undefined
    })
    assert.notEqual(deferred.state, 'delivered')
    assert.equal((await mx.messages('late')).length, 0)
    mx.policy.clear()
    const { attempts } = await untilState(id, 'delivered')
    const [first, ...others] = attempts
    assert.deepEqual(
      [first?.result, first?.reply?.code, first?.reply?.enhancedCode],
      ['deferred', 451, '4.3.2'],
    )
    assert.match(first?.reply?.text ?? '', /The mail box is being moved/)
    assert.equal(attempts.at(-1)?.result, 'delivered')
    let before = Date.parse(first?.at ?? '')
    for (const { at } of others) {
      const waitedMs = Date.parse(at) - before
      assert.ok(waitedMs >= 850 && waitedMs < 5_000, `${waitedMs} ms between attempts`)
      before = Date.parse(at)
    }
    await eventually(async () => ((await mx.messages('late')).length === 1 ? true : undefined))
  })

  it('bounces when Postfix replies with 5yz, and shows the reply to the operator', async () => {
    const [id = '', other = ''] = await send(['nobody@dest.test', 'bob@dest.test'])
    const { status, attempts } = await untilState(id, 'bounced')
    assert.deepEqual([status, attempts.length, attempts[0]?.class], ['BOUNCED', 1, 'hard'])
    const { stdout } = await installation.attempt('queue', 'show', id)
    assert.match(stdout, /state +bounced \(BOUNCED\)/)
    assert.match(
      stdout,
      /550 5\.1\.1 <nobody@dest\.test>: Recipient address rejected: User unknown/,
    )
    await untilState(other, 'delivered')
    const [again = ''] = await send('nobody@dest.test')
    await untilState(again, 'suppressed')
  })

  it('bounces mail to domains that accept no mail by their DNS records', async () => {
    const [none = '', nowhere = ''] = await send(['ada@null.test', 'ada@nowhere.test'])
    const refused = await untilState(none, 'bounced')
    assert.match(refused.error ?? '', /^556 5\.1\.10 /)
    assert.match((await untilState(nowhere, 'bounced')).error ?? '', /does not exist/)
  })

  it('delivers each of many messages once', async () => {
    const ids = new Set<string>()
    for (let round = 0; round < 10; round += 1) {
      const data = { round: { value: round, persistent: false } }
      const subject = 'Round {{ round }}'
      for (const id of await send('many@dest.test', { data, subject })) ids.add(id)
      for (const id of await send(Array(20).fill('many@dest.test'))) ids.add(id)
    }
    const messages = await eventually(async () => {
      const some = await mx.messages('many')
      return some.length >= ids.size ? some : undefined
    })
    const found = messages.map((message) => /^Message-ID: *<([^@]+)@/im.exec(String(message))?.[1])
    assert.equal(messages.length, ids.size)
    assert.deepEqual(new Set(found), ids)
  })

  it('sends mail to Postfix as a smarthost and stores its queue id', async () => {
    const relay = `mode = "relay"\n[delivery.relay]\nhost = "127.0.0.1"\nport = ${mx.port}\ntls = "none"`
    const second = await install(t, configuration(relay))
    const project = await makeProject(second)
    await second.command('domain', 'verify', 'example.test', '--trust')
    const running = await second.serve()
    const before = (await mx.messages('bob')).length
    const request = {
      to: 'bob@dest.test',
      from: 'shop@example.test',
      subject: 'x',
      body: 'By relay',
    }
    const { status, body } = await post(running.url, project.secret, request)
    assert.equal(status, 200)
    const { data } = body as { data: { emails: { email: string }[] } }
    const id = data.emails[0]?.email ?? ''
    const shown = await eventually(async () => {
      const now = await show(id, second)
      return now.state === 'relayed' ? now : undefined
    })
    assert.equal(shown.status, 'SENT')
    const messages = await eventually(async () => {
      const some = await mx.messages('bob')
      return some.length > before ? some : undefined
    })
    const message = messages.map(String).find((text) => text.includes('By relay'))
    assert.match(message ?? '', new RegExp(`with ESMTP id ${shown.providerId}`))
    assert.equal(await running.kill('SIGTERM'), 0)
  })

  it('delivers a campaign of 1,000 recipients, each with valid signatures', async (t) => {
    const call = async (method: string, route: string, body?: object) => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
      const init = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(new URL(route, server.url), { method, headers, ...init })
      const answer = (await response.json()) as { data: Record<string, unknown> }
      assert.ok(response.ok, JSON.stringify(answer))
      return answer.data
    }
    const body = new FormData()
    const csv = `email,name,list\n${readers.map((one) => `${one},Reader,spring\n`).join('')}`
    body.append('file', new Blob([csv], { type: 'text/csv' }), 'readers.csv')
    const headers = { authorization: `Bearer ${secret}` }
    await fetch(new URL('/contacts/import', server.url), { method: 'POST', headers, body })
    const isReader = { field: 'data.list', operator: 'equals', value: 'spring' }
    const condition = { logic: 'AND', groups: [{ filters: [isReader] }] }
    const audience = { audienceType: 'FILTERED', audienceFilter: condition }
    const campaign = { name: 'Spring', subject: 'Hello {{ name }}', from: 'news@example.test' }
    const text = { ...campaign, body: '<p>Hello {{ name }}, {{ email }}</p>' }
    const { id } = await call('POST', '/campaigns', { ...text, ...audience })
    await eventually(async () => {
      const response = await fetch(new URL(`/campaigns/${id}/audience`, server.url), { headers })
      const { willReceive } = (await response.json()) as { willReceive: number }
      return willReceive === READERS ? true : undefined
    })
    await call('POST', `/campaigns/${id}/send`)
    for (let sent = -1; sent < READERS; ) {
      const reached = sent
      sent = await eventually(async () => {
        const { sentCount } = await call('GET', `/campaigns/${id}/stats`)
        return Number(sentCount) > reached ? Number(sentCount) : undefined
      })
    }
    const messages = await eventually(async () => {
      const some = await mx.messages('readers')
      return some.length >= READERS ? some : undefined
    })
    const to = messages.map((message) => /^To: *(\S+)/im.exec(String(message))?.[1])
    assert.deepEqual(to.sort(), readers.toSorted())
    if (hasDkimpy) assert.equal(countVerified(messages), READERS)
    else t.diagnostic('dkimpy is not installed: the signatures were not verified')
  })

  it('stops with status 0', async () => {
    assert.equal(await server.kill('SIGTERM'), 0)
  })
})
