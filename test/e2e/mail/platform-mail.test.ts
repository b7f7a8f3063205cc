/**
 * The link that resets a password, through the whole program: the receiver of the mail gets it, and quotes
 * it in its replies; a bounce and an answer quote the mail. Nothing else shows it: no command, no answer
 * of the API, no export, no line of the log at `debug`; nor does the database, nor a backup of it.
 */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { findLinkTokens } from '../../../src/formats/link-tokens.ts'
import { failureReport } from '../../fakes/failure-report.ts'
import { runAt } from '../../fakes/terminal.ts'
import { findNeedles } from '../../features/tenancy/accounts/platform-mail/every-kind.ts'
import { connect } from '../../inbound/dialogue.ts'
import { eventually } from '../program.ts'
import { installBesideSink, makeProject } from '../server.ts'

const USER = 'ada@dest.test'
const CONFIGURATION = `
[inbound]
listen = ["127.0.0.1:0"]
[submission]
listen = []
`

/** The length of the frame at the end of a backup (`features/operation/backup/archive/trailer.ts`). */
const TRAILER_BYTES = 40

/** The commands that print what is stored, but `inbound show` and `export`, which have forms of their own. */
const readers = (projectId: string, id: string): Record<string, string[]> => ({
  'config check': [],
  'config show': [],
  doctor: [],
  'domain list': ['--project', projectId],
  'inbound list': ['--all'],
  'log level': [],
  'project list': [],
  'project member list': [projectId],
  'project security': [projectId],
  'queue holds': [],
  'queue list': ['--to', USER],
  'queue show': [id],
  'queue sites': [],
  'sandbox list': [],
  'suppressions list': ['--project', projectId],
  'user list': [],
  version: [],
})

/** The other commands, and why they print nothing of a mail. */
const OTHERS: Record<string, string> = {
  'inbound show, export': 'read below, with their own forms',
  'backup, verify, restore': 'of whole databases; a backup is read below',
  'sandbox show, sandbox open': 'show the mail of the sandbox in full',
  'serve, init, systemd': 'make files and start servers; the log is read below',
  'bounce inspect': 'reads a file that is given',
  'domain add, domain remove, domain verify': 'write and read domains',
  'project create, project update, project delete, project keys': 'write projects',
  'project member add, project member remove, project member role': 'write members',
  'queue cancel, queue hold, queue release, queue retry': 'name ids and numbers',
  'inbound delete, inbound retry, fence': 'name ids and numbers',
  'suppressions add, suppressions remove, suppressions confirm, suppressions undo':
    'name addresses and numbers',
  'user create, user delete, user operator, user password, user totp, user verify': 'write users',
  send: 'names the id of what it sends',
  'setup-link': 'names a link and a file',
}

test('S30: every command is known to show no mail, or is tried', () => {
  const known = [...Object.keys(readers('', '')), ...Object.keys(OTHERS).join(', ').split(', ')]
  assert.deepEqual(known.sort(), COMMANDS.map(({ name }) => name).sort())
})

const decoded = (raw: string) => raw.replace(/=\r?\n/g, '').replaceAll('=3D', '=')

test('S30: a reset link is read in the SMTP session only, whoever quotes it', async (t) => {
  let isTaken = false
  let sent = ''
  const { sink, installation } = await installBesideSink(t, {
    ...{ retrySchedule: '1h', configuration: CONFIGURATION },
    respond: ({ verb, line }) => {
      if (verb !== 'MESSAGE') return undefined
      sent = line
      const link = /https?:\S+token=\w+/.exec(decoded(line))?.[0]
      const encoded = Buffer.from(`see ${link}`).toString('base64')
      if (isTaken) return `250 2.0.0 took ${link}`
      return `451-4.7.1 busy, ${link} is a strange link\r\n451 4.7.1 as ${encoded} shows`
    },
  })
  const { folder } = installation
  const { id: projectId, secret } = await makeProject(installation)
  const env = { PILLARBOX_LOG__LEVEL: 'debug', PILLARBOX_ACCOUNTS__MAIL_PROJECT: projectId }
  const run = (...argv: string[]) =>
    runAt(
      { cwd: folder, env: { ...process.env, ...env } },
      ...['--config', path.join(folder, 'pillarbox.toml'), ...argv],
    )
  const command = async (...argv: string[]) => {
    const { status, out, err } = await run(...argv, '--json')
    assert.equal(status, 0, err)
    return JSON.parse(out)
  }
  await command('user', 'create', '--email', USER)
  const server = await installation.serve({ env, keepsLog: true })
  const get = async (route: string) => {
    const headers = { authorization: `Bearer ${secret}` }
    const response = await fetch(new URL(route, server.url), { headers })
    return { status: response.status, text: await response.text() }
  }

  const asked = await fetch(new URL('/auth/request-password-reset', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: USER }),
  })
  assert.equal(asked.status, 200)
  const find = async (...states: string[]) => {
    const [email] = (await command('queue', 'list', '--to', USER)) as {
      id: string
      state: string
    }[]
    return email !== undefined && states.includes(email.state) ? email.id : undefined
  }
  const id = await eventually(() => find('deferred'))
  assert.equal(sink.messages.length, 0)

  let rounds = 0
  const readable = async (needles: readonly string[]) => {
    const found: Record<string, string[]> = {}
    const note = (place: string, hay: string | Uint8Array) => {
      const read = findNeedles(hay, needles)
      if (read.length > 0) found[place] = read
    }
    for (const [name, argv] of Object.entries(readers(projectId, id))) {
      for (const form of [[], ['--json']]) {
        const { status, out, err } = await run(...name.split(' '), ...argv, ...form)
        assert.ok(status === 0 || name === 'doctor', `${name}: ${err}`)
        note(name, out + err)
      }
    }
    for (const { id: inboundId } of await command('inbound', 'list', '--all')) {
      for (const form of [[], ['--facts'], ['--json']]) {
        const { raw, err } = await run('inbound', 'show', inboundId, ...form)
        note('inbound show', raw)
        note('inbound show', err)
      }
    }
    const { data: emails } = JSON.parse((await get('/emails')).text) as { data: { id: string }[] }
    const routes = emails.flatMap((email) => [`/emails/${email.id}`, `/emails/${email.id}/raw`])
    const lists = ['/activity', '/activity?summary=true', '/events', '/emails', '/suppressions']
    for (const route of [...routes, ...lists]) note(route, (await get(route)).text)
    rounds += 1
    const to = path.join(folder, `export-${rounds}`)
    await command('export', '--project', projectId, '--to', to)
    for (const entry of await readdir(to, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      note(`export ${entry.name}`, await readFile(path.join(entry.parentPath, entry.name)))
    }
    note('the log', server.log.join('\n'))
    return found
  }

  const [token = ''] = findLinkTokens(decoded(sent))
  assert.equal(token.length, 64)
  const needles = [token, token.slice(0, 32), token.slice(32)]
  assert.deepEqual(await readable(needles), {}, 'while it waits')
  await command('backup', path.join(folder, 'backup'))
  const packed = await readFile(path.join(folder, 'backup'))
  const octets = [zstdDecompressSync(packed.subarray(0, -TRAILER_BYTES))]
  for (const name of ['pillarbox.db', 'pillarbox.db-wal']) {
    octets.push(await readFile(path.join(folder, 'data', name)))
  }
  for (const each of octets) assert.deepEqual(findNeedles(each, needles), [])

  isTaken = true
  await command('queue', 'retry', id)
  await eventually(() => find('delivered'))
  assert.equal(findLinkTokens(decoded(sent))[0], token, 'every attempt has the same link')
  const again = await run('queue', 'retry', id)
  assert.notEqual(again.status, 0)
  assert.match(again.err, /new link/)

  const { from: returnPath = '' } = sink.messages[0] ?? {}
  const messageId = /^Message-ID: *(\S+)/im.exec(sent)?.[1] ?? ''
  const base64 = Buffer.from(sent).toString('base64').replace(/.{76}/g, '$&\r\n')
  const answer = (...body: string[]) => [
    ...[`From: Ada <${USER}>`, 'To: accounts@example.test', 'Subject: Re: your password'],
    ...[`In-Reply-To: ${messageId}`, 'MIME-Version: 1.0', ...body],
  ]
  const quoted = decoded(sent)
    .split('\r\n')
    .map((line) => `> ${line}`)
  const received: [from: string, to: string, lines: string[]][] = [
    [
      USER,
      'accounts@example.test',
      answer('Content-Type: text/plain', '', 'What is this?', ...quoted),
    ],
    [
      ...([USER, 'accounts@example.test'] as const),
      answer(
        ...['Content-Type: multipart/mixed; boundary=x', '', '--x', 'Content-Type: text/html', ''],
        ...['<p>See the mail.</p>', '--x', 'Content-Type: message/rfc822'],
        ...['Content-Transfer-Encoding: base64', '', base64, '--x--'],
      ),
    ],
    ['', 'accounts@example.test', failureReport('somebody.else@dest.test', sent)],
    ['', 'postmaster@example.test', failureReport(USER, sent)],
    ['', returnPath, failureReport(USER, sent)],
  ]
  const port = Number(server.inbound[0]?.split(':').at(-1))
  for (const [from, to, lines] of received) {
    const session = await connect(port, { ehlo: 'mx.dest.test' })
    assert.equal((await session.open(from, to)).code, 354, to)
    assert.equal((await session.data(`${lines.join('\r\n')}\r\n`)).code, 250)
    session.close()
  }
  await eventually(async () => {
    const listed = (await command('inbound', 'list', '--all')) as { state: string }[]
    const areRead = listed.every(({ state }) => state === 'processed')
    return listed.length >= 4 && areRead ? true : undefined
  })
  await eventually(() => find('bounced'))
  const feed = (await get('/activity')).text
  assert.match(feed, /What is this\?/, 'the rest of an answer is read')
  assert.deepEqual(await readable(needles), {}, 'once it is final and quoted')
  assert.equal(await server.kill('SIGTERM'), 0)
})
