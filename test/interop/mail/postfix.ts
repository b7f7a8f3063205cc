/**
 * A real Postfix as MX of `dest.test`: its own folders, mail boxes as maildirs, STARTTLS, unknown
 * users refused, and a policy service that the test is. Needs root, as Postfix does.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { findFreePort, masterLines, waitForPort } from '../../../scripts/bench/mail/postfix.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import { type Listening, readMaildir } from './chroot.ts'

export type Mx = {
  port: number
  /** Answers of the policy service by recipient, as `451 4.3.2 Busy`; none: let it through. */
  policy: Map<string, string>
  /** Messages in the mail box of that user. */
  messages(user: string): Promise<Buffer[]>
}

const NOBODY = 65_534

export function isPostfixInstalled(): boolean {
  return process.getuid?.() === 0 && spawnSync('which', ['postfix']).status === 0
}

type Place = { host: string; port?: number }

/** `mailboxes`: address -> user. Without a port it takes a free one. It ends with the test. */
export async function startPostfix(
  t: Pick<TestContext, 'after'>,
  mailboxes: Readonly<Record<string, string>>,
  { host, port: givenPort }: Place = { host: '127.0.0.1' },
): Promise<Mx> {
  const folder = await mkdtemp('/var/tmp/pillarbox-mx-')
  chmodSync(folder, 0o755)
  const policy = new Map<string, string>()
  const policyPort = await startPolicy(t, policy)
  const port = givenPort ?? (await findFreePort())
  const conf = path.join(folder, 'conf')
  for (const name of ['conf', 'spool', 'data', 'mail']) await mkdir(path.join(folder, name))
  execFileSync('chown', ['postfix', path.join(folder, 'data')])
  await chown(path.join(folder, 'mail'), NOBODY, NOBODY)
  const { key, cert } = makeCertificate(['mx.dest.test'])
  const files = {
    'main.cf': settings({ folder, host, policyPort }, mailboxes),
    'master.cf': [...masterLines(port, host), 'virtual unix - n n - - virtual'],
    mailboxes: Object.entries(mailboxes).map(([address, user]) => `${address} ${user}/`),
    'key.pem': [key],
    'cert.pem': [cert],
  }
  for (const [name, lines] of Object.entries(files)) {
    await writeFile(path.join(conf, name), `${lines.join('\n')}\n`)
  }
  t.after(async () => {
    spawnSync('postfix', ['-c', conf, 'stop'], { stdio: 'ignore' })
    await rm(folder, { recursive: true, force: true })
  })
  execFileSync('postfix', ['-c', conf, 'start'], { stdio: ['ignore', 'ignore', 'inherit'] })
  await waitForPort(port, host)
  return { port, policy, messages: (user) => readMaildir(path.join(folder, 'mail', user)) }
}

/**
 * A Postfix as MX of `postfix.test`, in front of another server (`backendPort`): it takes every
 * recipient and hears afterwards what that one says; `list@` is two of them. What it cannot deliver
 * for a second it warns of. Its own mail, bounces that is, goes to `bouncePort`.
 */
export async function startForwardingPostfix(
  t: Pick<TestContext, 'after'>,
  { host, port, bouncePort, backendPort }: Listening & { backendPort: number },
): Promise<void> {
  const folder = await mkdtemp('/var/tmp/pillarbox-mx-')
  chmodSync(folder, 0o755)
  const conf = path.join(folder, 'conf')
  for (const name of ['conf', 'spool', 'data']) await mkdir(path.join(folder, name))
  execFileSync('chown', ['postfix', path.join(folder, 'data')])
  const settings = [
    'compatibility_level = 3.6',
    `queue_directory = ${folder}/spool`,
    `data_directory = ${folder}/data`,
    `maillog_file = ${folder}/log`,
    'myhostname = mx.postfix.test',
    'mydestination =',
    'mynetworks = 127.0.0.0/8',
    'inet_interfaces = 127.0.0.1',
    'inet_protocols = ipv4',
    'smtpd_peername_lookup = no',
    'relay_domains = postfix.test',
    `transport_maps = inline:{ postfix.test=smtp:[127.0.0.1]:${backendPort} }`,
    'virtual_alias_maps = inline:{ { list@postfix.test = ada@postfix.test, nobody@postfix.test } }',
    `relayhost = [127.0.0.1]:${bouncePort}`,
    'delay_warning_time = 1s',
    'queue_run_delay = 1s',
    'minimal_backoff_time = 1s',
    'maximal_backoff_time = 1s',
    'delay_logging_resolution_limit = 2',
  ]
  await writeFile(path.join(conf, 'main.cf'), `${settings.join('\n')}\n`)
  await writeFile(path.join(conf, 'master.cf'), `${masterLines(port, host).join('\n')}\n`)
  t.after(async () => {
    spawnSync('postfix', ['-c', conf, 'stop'], { stdio: 'ignore' })
    await rm(folder, { recursive: true, force: true })
  })
  execFileSync('postfix', ['-c', conf, 'start'], { stdio: ['ignore', 'ignore', 'inherit'] })
  await waitForPort(port, host)
}

function settings(
  { folder, host, policyPort }: { folder: string; host: string; policyPort: number },
  mailboxes: Readonly<Record<string, string>>,
): string[] {
  const domains = new Set(Object.keys(mailboxes).map((address) => address.split('@')[1]))
  return [
    'compatibility_level = 3.6',
    `queue_directory = ${folder}/spool`,
    `data_directory = ${folder}/data`,
    `maillog_file = ${folder}/log`,
    'myhostname = mx.dest.test',
    'mydestination =',
    'mynetworks = 127.0.0.0/8',
    `inet_interfaces = ${host}`,
    'inet_protocols = ipv4',
    'smtpd_peername_lookup = no',
    `smtpd_tls_cert_file = ${folder}/conf/cert.pem`,
    `smtpd_tls_key_file = ${folder}/conf/key.pem`,
    'smtpd_tls_security_level = may',
    'smtpd_tls_received_header = yes',
    `smtpd_recipient_restrictions = check_policy_service inet:127.0.0.1:${policyPort}, permit_mynetworks, permit_auth_destination, reject`,
    `virtual_mailbox_domains = ${[...domains].join(' ')}`,
    `virtual_mailbox_base = ${folder}/mail`,
    `virtual_mailbox_maps = texthash:${folder}/conf/mailboxes`,
    `virtual_uid_maps = static:${NOBODY}`,
    `virtual_gid_maps = static:${NOBODY}`,
  ]
}

/** Postfix's policy protocol: lines of attributes, an empty one, and the action in return. */
async function startPolicy(
  t: Pick<TestContext, 'after'>,
  policy: ReadonlyMap<string, string>,
): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let input = ''
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      input += chunk.toString('utf8')
      for (let end = input.indexOf('\n\n'); end !== -1; end = input.indexOf('\n\n')) {
        const [, recipient = ''] = /^recipient=(.*)$/m.exec(input.slice(0, end)) ?? []
        input = input.slice(end + 2)
        socket.write(`action=${policy.get(recipient) ?? 'dunno'}\n\n`)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}
