/**
 * Other people's clients hand in mail: swaks (Debian swaks, with libnet-ssleay-perl for TLS), and
 * nodemailer over a connection that it keeps for several messages.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { createTransport } from 'nodemailer'
import { openSubmission, type SubmissionServer } from '../../inbound/submission-server.ts'

const run = promisify(execFile)
const support = String(spawnSync('swaks', ['--support']).stdout ?? '')
const skip = support === '' ? 'swaks is not installed' : false
const hasTls = support.includes('TLS supported')
const skipTls = skip || (hasTls ? false : 'swaks has no TLS: libnet-ssleay-perl is not installed')
/** Without TLS it may log in all the same: it is on this machine. */
const tls = hasTls ? ['--tls'] : []

/** The exit status of swaks and the dialogue that it shows. */
async function swaks(
  { project }: Pick<SubmissionServer, 'project'>,
  port: number,
  ...args: string[]
): Promise<{ status: number; dialogue: string }> {
  const common = [
    ...['--server', '127.0.0.1', '--port', String(port), '--helo', 'client.test'],
    ...['--auth-user', 'pillarbox', '--auth-password', project.secret],
    ...['--from', 'shop@example.test', '--to', 'ada@dest.test'],
  ]
  try {
    const { stdout } = await run('swaks', [...common, ...args])
    return { status: 0, dialogue: stdout }
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string }
    return { status: code, dialogue: stdout }
  }
}

test('swaks submits mail over STARTTLS and over TLS, with PLAIN and LOGIN', {
  skip: skipTls,
}, async (t) => {
  const server = await openSubmission(t)
  const ways = [
    [server.ports.plain, '--tls', '--auth', 'PLAIN'],
    [server.ports.plain, '--tls', '--auth', 'LOGIN'],
    [server.ports.tls, '--tls-on-connect', '--auth', 'PLAIN'],
    [server.ports.tls, '--tls-on-connect', '--auth', 'LOGIN'],
  ] as const
  for (const [port, ...args] of ways) {
    const { status, dialogue } = await swaks(server, port, ...args)
    assert.equal(status, 0, dialogue)
    assert.match(dialogue, /250 2\.0\.0 Ok: queued as /)
  }
  assert.equal((await server.rows()).length, ways.length)
})

test('swaks submits files, several recipients and pipelined commands', { skip }, async (t) => {
  const server = await openSubmission(t)
  const file = path.join(path.dirname(server.files.certFile), 'file.bin')
  const octets = Buffer.from(Array.from({ length: 70_000 }, (_, n) => n % 251))
  await writeFile(file, octets)
  const { status, dialogue } = await swaks(
    server,
    server.ports.plain,
    ...[...tls, '--auth', 'PLAIN', '--pipeline', '--to', 'ada@dest.test,bob@dest.test'],
    ...['--header', 'Subject: swaks', '--attach', `@${file}`, '--body', 'Hello\n.\n..dots\n'],
  )
  assert.equal(status, 0, dialogue)
  const rows = await server.rows()
  assert.deepEqual(
    rows.map(({ recipient }) => recipient),
    ['ada@dest.test', 'bob@dest.test'],
  )
  const [row] = rows
  assert.equal(row?.content.subject, 'swaks')
  assert.match(row?.content.body ?? '', /^Hello\n\.\n\.\.dots\n/)
  assert.equal(row?.content.attachments?.[0]?.content, octets.toString('base64'))
})

test('swaks receives the reason of a refusal', { skip }, async (t) => {
  const server = await openSubmission(t)
  const { plain } = server.ports
  const wrong = await swaks(server, plain, ...tls, '--auth-password', 'sk_no', '--auth', 'PLAIN')
  assert.notEqual(wrong.status, 0)
  assert.match(wrong.dialogue, /535 5\.7\.8 /)
  const refused = await swaks(server, plain, ...tls, '--auth', 'PLAIN', '--from', 'a@other.test')
  assert.notEqual(refused.status, 0)
  assert.match(refused.dialogue, /550 5\.7\.1 The sender domain other\.test is not verified/)
  assert.deepEqual(await server.rows(), [])
})

test('nodemailer submits many messages over pooled connections', async (t) => {
  const server = await openSubmission(t)
  const pool = createTransport({
    ...{ pool: true, maxConnections: 3, host: '127.0.0.1', port: server.ports.plain },
    requireTLS: true,
    tls: { rejectUnauthorized: false },
    auth: { user: 'pillarbox', pass: server.project.secret },
  })
  t.after(() => pool.close())
  const sent = Array.from({ length: 40 }, (_, n) =>
    pool.sendMail({
      ...{ from: 'shop@example.test', to: `u${n}@dest.test`, subject: `Nr. ${n}` },
      html: `<p>${n}</p>`,
    }),
  )
  const ids = (await Promise.all(sent)).map(({ response }) => response.split(' ').at(-1))
  const rows = await server.rows()
  assert.deepEqual(new Set(ids), new Set(rows.map(({ id }) => id)))
  assert.equal(rows.length, sent.length)
})
