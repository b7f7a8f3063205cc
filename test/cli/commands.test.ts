import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { runCli } from '../../src/cli/cli.ts'
import { createKeyring } from '../../src/config/keyring.ts'
import { insertSession } from '../../src/features/tenancy/accounts/sessions/sessions.ts'
import { eq } from '../../src/store/drizzle.ts'
import {
  accountTokens,
  identities,
  memberships,
  recoveryCodes,
  sessions,
  users,
} from '../../src/store/schema/accounts.ts'
import {
  attempts,
  type Content,
  contents,
  type Email,
  emails,
} from '../../src/store/schema/messages.ts'
import { sandboxMessages } from '../../src/store/schema/service.ts'
import { makeFolder } from '../config/config-folder.ts'
import { makeTerminal, runAt } from '../fakes/terminal.ts'
import { setEmails } from '../set-emails.ts'
import { commandsAt, placeDatabase } from './commands-at.ts'

const cwd = makeFolder()
const env = { PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.com' }
const { run, text, json, failure, withStore } = commandsAt({ cwd, env })
const owner = 'owner@example.test'
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Returns the texts that an email is rendered from. */
async function contentOf(emailId: string) {
  let found: Pick<Content, 'body' | 'text' | 'isText'> | undefined
  await withStore(async (store) => {
    found = await store.read
      .select({ body: contents.body, text: contents.text, isText: contents.isText })
      .from(contents)
      .innerJoin(emails, eq(emails.contentId, contents.id))
      .where(eq(emails.id, emailId))
      .get()
  })
  return found
}

async function beginSession(userId: string): Promise<void> {
  const client = { ip: null, userAgent: null }
  await withStore((store) =>
    store.write((tx) => insertSession(tx, { userId, client, at: Date.now() })),
  )
  assert.equal(await countSessions(userId), 1)
}

async function countSessions(userId: string): Promise<number> {
  let count = 0
  await withStore(async ({ read }) => {
    count = await read.$count(sessions, eq(sessions.userId, userId))
  })
  return count
}

/** The user as the list shows it. */
const found = async (email: string) =>
  (await json('user', 'list')).find((user: { email: string }) => user.email === email)

/** A secret that the secret of this database sealed. */
async function sealed(): Promise<string> {
  return createKeyring(readFileSync(path.join(cwd, 'data', 'secret'), 'utf8').trim()).seal('x')
}

type Project = { id: string; public: string; secret: string }
let project: Project

function send(to: string, ...more: string[]) {
  const body = more.length > 0 ? more : ['--html', '<p>Hello</p>']
  const addresses = ['--project', project.id, '--from', 'hello@example.test', '--to', to]
  return json('send', ...addresses, '--subject', 'Hello {{name}}', ...body)
}

before(async () => {
  await placeDatabase(cwd)
  await json('user', 'create', '--email', owner)
  project = await json('project', 'create', '--name', 'Letters', '--owner', owner)
  await json('domain', 'add', '--project', project.id, 'example.test')
  await json('domain', 'verify', 'example.test', '--trust')
})

describe('pillarbox user', () => {
  it('create generates a password without a terminal', async () => {
    const made = await json('user', 'create', '--email', ' Made@Example.test ')
    assert.match(made.id, uuid)
    assert.equal(made.email, 'made@example.test')
    assert.ok(made.password.length >= 16)
    assert.deepEqual(Object.keys(made), ['id', 'email', 'password'])
  })

  it('create takes a password from standard input and does not repeat it', async () => {
    const argv = ['user', 'create', '--email', 'typed@example.test', '--password-stdin']
    const { status, out } = await runAt({ cwd, env, input: 'a password\n' }, ...argv, '--json')
    assert.equal(status, 0)
    assert.deepEqual(Object.keys(JSON.parse(out)), ['id', 'email'])
  })

  it('create refuses an invalid address, a short password and an address in use', async () => {
    const bad = await failure('user', 'create', '--email', 'nobody')
    assert.deepEqual([bad.status, bad.code], [2, 'VALIDATION_ERROR'])
    const taken = await failure('user', 'create', '--email', owner)
    assert.deepEqual([taken.status, taken.code], [1, 'CONFLICT'])
    const argv = ['user', 'create', '--email', 'short@example.test', '--password', 'abc']
    const { status, err } = await run(...argv)
    assert.equal(status, 2)
    assert.match(err, /warning: --password[\s\S]*password: Must be at least 6/)
  })

  it('password sets a new password', async () => {
    const changed = await text('user', 'password', '--email', owner)
    assert.match(
      changed,
      /^User owner@example\.test has a new password.*\nPassword, shown only this/,
    )
    const unknown = await failure('user', 'password', '--email', 'nobody@example.test')
    assert.deepEqual([unknown.status, unknown.code], [1, 'RESOURCE_NOT_FOUND'])
  })

  it('password ends sessions and reset links, and is refused to users of other methods', async () => {
    const { id } = await json('user', 'create', '--email', 'ends@example.test')
    await beginSession(id)
    await json('user', 'password', '--email', 'ends@example.test')
    assert.equal(await countSessions(id), 0)
    await withStore((store) =>
      store.write((tx) => tx.update(users).set({ method: 'GITHUB' }).where(eq(users.id, id))),
    )
    const refused = await failure('user', 'password', '--email', 'ends@example.test')
    assert.deepEqual([refused.status, refused.code], [1, 'BAD_REQUEST'])
    assert.match(refused.message, /logs in with GITHUB and has no password/)
  })

  it('create --operator and operator --on, --off say who sees the state of the server', async () => {
    const email = 'operator@example.test'
    const { id } = await json('user', 'create', '--email', email, '--operator')
    assert.equal((await found(email)).isOperator, true)
    const off = await json('user', 'operator', '--email', email, '--off')
    assert.deepEqual(off, { id, email, isOperator: false })
    assert.equal((await found(email)).isOperator, false)
    assert.match(
      await text('user', 'operator', '--email', email, '--on'),
      /is an operator now\.\n$/,
    )
    assert.equal((await found(email)).isOperator, true)
    for (const flags of [[], ['--on', '--off']]) {
      const { status } = await failure('user', 'operator', '--email', email, ...flags)
      assert.equal(status, 2)
    }
  })

  it('verify counts an address as verified', async () => {
    const email = 'verify@example.test'
    const { id } = await json('user', 'create', '--email', email)
    await withStore((store) =>
      store.write((tx) => tx.update(users).set({ verifiedAt: null }).where(eq(users.id, id))),
    )
    assert.match(await text('user', 'list'), /verify@example\.test +PASSWORD +[\d-]+ +unverified\n/)
    const verified = await json('user', 'verify', '--email', email)
    assert.deepEqual(verified, { id, email, emailVerified: true })
    assert.equal((await found(email)).emailVerified, true)
  })

  it('totp --disable turns the second factor off and ends all sessions', async () => {
    const email = 'totp@example.test'
    const { id } = await json('user', 'create', '--email', email)
    await beginSession(id)
    const on = { totpSecret: await sealed(), totpConfirmedAt: 1, totpStep: 7 }
    await withStore((store) =>
      store.write(async (tx) => {
        await tx.update(users).set(on).where(eq(users.id, id))
        await tx.insert(recoveryCodes).values({ userId: id, digest: 'd' })
      }),
    )
    assert.match(
      await text('user', 'list'),
      /totp@example\.test +PASSWORD +[\d-]+ +second factor\n/,
    )
    assert.equal((await failure('user', 'totp', '--email', email)).status, 2)
    const disabled = await json('user', 'totp', '--email', email, '--disable')
    assert.deepEqual(disabled, { id, email, twoFactor: false })
    await withStore(async ({ read }) => {
      const row = await read.select().from(users).where(eq(users.id, id)).get()
      assert.deepEqual([row?.totpSecret, row?.totpConfirmedAt, row?.totpStep], [null, null, 0])
      assert.equal(await read.$count(recoveryCodes), 0)
    })
    assert.equal(await countSessions(id), 0)
  })

  it('delete refuses an owner of projects and names them; all else of the user goes', async () => {
    const refused = await failure('user', 'delete', '--email', owner)
    assert.deepEqual([refused.status, refused.code], [1, 'CONFLICT'])
    assert.equal(refused.message, `This user owns projects: Letters (${project.id}).`)
    const email = 'leaves@example.test'
    const { id } = await json('user', 'create', '--email', email)
    await beginSession(id)
    const times = { createdAt: 1, updatedAt: 1 }
    await withStore((store) =>
      store.write(async (tx) => {
        const member = { userId: id, projectId: project.id, role: 'MEMBER' as const }
        await tx.insert(memberships).values({ ...member, ...times })
        await tx.insert(identities).values({ issuer: 'i', subject: 's', userId: id, createdAt: 1 })
        const token = { digest: 'd', userId: id, purpose: 'verify-email' as const }
        await tx.insert(accountTokens).values({ ...token, createdAt: 1, expiresAt: 2 })
      }),
    )
    assert.deepEqual(await json('user', 'delete', '--email', email), { id, email, deleted: true })
    assert.equal(await found(email), undefined)
    await withStore(async ({ read }) => {
      for (const table of [sessions, memberships, identities, accountTokens]) {
        assert.equal(await read.$count(table, eq(table.userId, id)), 0)
      }
    })
    assert.equal((await failure('user', 'delete', '--email', email)).code, 'RESOURCE_NOT_FOUND')
  })

  it('list shows users', async () => {
    const [first] = await json('user', 'list')
    assert.deepEqual(Object.keys(first), [
      ...[
        'id',
        'email',
        'isOperator',
        'emailVerified',
        'onlyProjectId',
        'method',
        'twoFactor',
        'isSandbox',
      ],
      'createdAt',
    ])
    assert.equal(first.email, owner)
    assert.match(await text('user', 'list'), /^ID +EMAIL +METHOD +SINCE\n/)
  })
})

describe('pillarbox project', () => {
  it('create prints both keys, keys the secret one masked', async () => {
    assert.deepEqual(Object.keys(project), ['id', 'name', 'public', 'secret'])
    assert.match(project.public, /^pk_[0-9a-f]{64}$/)
    assert.match(project.secret, /^sk_[0-9a-f]{64}$/)
    const shown = await json('project', 'keys', project.id)
    assert.deepEqual(shown, { ...project, secret: `sk_…${project.secret.slice(-4)}` })
    assert.ok(!(await text('project', 'keys', project.id)).includes(project.secret))
  })

  it('keys --regenerate creates new keys', async () => {
    const other = await json('project', 'create', '--name', 'Other', '--owner', owner)
    const renewed = await json('project', 'keys', other.id, '--regenerate')
    assert.deepEqual(Object.keys(renewed), ['id', 'name', 'public', 'secret'])
    assert.notEqual(renewed.public, other.public)
    assert.match(renewed.secret, /^sk_[0-9a-f]{64}$/)
    assert.notEqual(renewed.secret, other.secret)
    const said = await text('project', 'keys', other.id, '--regenerate')
    assert.match(said, /secret key {2}sk_[0-9a-f]{64}\n\nThe secret key is shown only this once/)
  })

  it('create refuses an unknown owner', async () => {
    const { status, code } = await failure(
      'project',
      'create',
      '--name',
      'X',
      '--owner',
      'a@b.test',
    )
    assert.deepEqual([status, code], [1, 'RESOURCE_NOT_FOUND'])
  })

  it('update changes the given fields only', async () => {
    const id = (await json('project', 'create', '--name', 'Change', '--owner', owner)).id
    const changed = await json('project', 'update', id, '--language', 'pt-BR', '--name', 'Changed')
    assert.equal(changed.name, 'Changed')
    assert.deepEqual(
      [changed.language, changed.tracking, changed.disabled],
      ['pt-BR', 'ENABLED', false],
    )
    assert.equal(changed.submissionTemplates, false)
    const rendering = await json('project', 'update', id, '--submission-templates', 'yes')
    assert.equal(rendering.submissionTemplates, true)
    assert.equal(rendering.onTemplateFault, 'refuse')
    const placed = await json('project', 'update', id, '--address', '1 Main Street')
    assert.equal(placed.postalAddress, '1 Main Street')
    const moved = await json('project', 'update', id, '--address', '')
    assert.equal(moved.postalAddress, null)
    const lenient = await json('project', 'update', id, '--on-template-fault', 'send')
    assert.equal(lenient.onTemplateFault, 'send')
    const off = await json('project', 'update', id, '--tracking', 'DISABLED', '--disable', 'MANUAL')
    assert.deepEqual([off.tracking, off.disabled, off.disabledReason], ['DISABLED', true, 'MANUAL'])
    assert.match(
      await text('project', 'list'),
      /Changed +owner@example\.test +DISABLED +pt-BR .*disabled: MANUAL/,
    )
    assert.match(await text('project', 'update', id, '--enable'), /state +enabled/)
    const wrong = await failure('project', 'update', id, '--tracking', 'SOMETIMES')
    assert.deepEqual([wrong.status, wrong.code], [2, 'VALIDATION_ERROR'])
    const both = await failure('project', 'update', id, '--enable', '--disable', 'MANUAL')
    assert.equal(both.status, 2)
  })

  it('security shows the counts and the limits that they reach', async () => {
    const { id } = await json('project', 'create', '--name', 'Judged', '--owner', owner)
    const { status, levels, isDisabled } = await json('project', 'security', id)
    const none = { total: 0, bounces: 0, complaints: 0, bounceRate: 0, complaintRate: 0 }
    assert.deepEqual(
      [status.projectId, status.isNewProject, status.twentyFourHour, levels.bounce7Day, isDisabled],
      [id, true, none, 'healthy', false],
    )
    const said = await text('project', 'security', id)
    assert.match(said, /EMAILS +HARD BOUNCES +COMPLAINTS\n24 hours +0 +0 +0\n/)
    assert.match(said, /The limits of new projects apply\.\nNo limit is reached\./)
    const { status: exit, code } = await failure('project', 'security', 'none')
    assert.deepEqual([exit, code], [1, 'RESOURCE_NOT_FOUND'])
  })

  it('list shows projects without their secret keys', async () => {
    const projects: Project[] = await json('project', 'list')
    const found = projects.find(({ id }) => id === project.id)
    assert.equal(found?.secret, `sk_…${project.secret.slice(-4)}`)
  })
})

describe('pillarbox domain', () => {
  it('add prints the records to create', async () => {
    const added = await json('domain', 'add', '--project', project.id, 'Bücher.example')
    assert.equal(added.domain, 'bücher.example')
    assert.deepEqual([added.verified, added.trusted], [false, false])
    const [dkim] = added.records
    assert.deepEqual(Object.keys(dkim).sort(), [
      'found',
      'name',
      'purpose',
      'required',
      'state',
      'type',
      'value',
    ])
    assert.match(dkim.value, /^v=DKIM1; k=rsa; p=/)
    const said = await text('domain', 'add', '--project', project.id, 'second.example')
    assert.match(said, /^second\.example: not verified \(Pending\)\n\ndkim \(required\): unknown\n/)
    assert.match(said, /10 mail\.example\.com\n/)
    assert.match(said, /run: pillarbox domain verify second\.example\n$/)
  })

  it('verify --trust marks a domain as verified, by name or id', async () => {
    const { id } = await json('domain', 'add', '--project', project.id, 'third.example')
    const trusted = await json('domain', 'verify', id, '--trust')
    assert.deepEqual(
      [trusted.verified, trusted.trusted, trusted.domain],
      [true, true, 'third.example'],
    )
    const unknown = await failure('domain', 'verify', 'unknown.example', '--trust')
    assert.deepEqual([unknown.status, unknown.code], [1, 'RESOURCE_NOT_FOUND'])
  })

  it('list shows the domains of one project or of all', async () => {
    assert.match(await text('domain', 'list'), /example\.test +trusted +[0-9a-f-]{36}\n/)
    const unknown = await failure('domain', 'list', '--project', 'nobody')
    assert.deepEqual([unknown.status, unknown.code], [1, 'RESOURCE_NOT_FOUND'])
  })
})

describe('pillarbox send and queue', () => {
  it('send accepts a message as the API does', async () => {
    const sent = await send('Reader@example.net')
    assert.match(sent.id, uuid)
    assert.match(sent.contact.id, uuid)
    assert.equal(sent.contact.email, 'reader@example.net')
    const [listed] = await json('queue', 'list', '--domain', 'example.net')
    assert.ok(!Number.isNaN(Date.parse(listed.nextAttemptAt)))
    assert.deepEqual(listed, {
      id: sent.id,
      to: 'reader@example.net',
      from: 'hello@example.test',
      subject: 'Hello {{name}}',
      state: 'queued',
      status: 'PENDING',
      nextAttemptAt: listed.nextAttemptAt,
      attempts: 0,
      reason: 'It is due now, but no server is running.',
      reasonCode: 'no_server',
      reasonData: { domain: 'example.net', last: null, nextAttemptAt: null, siteError: null },
    })
  })

  it('send reads the body from a file', async () => {
    writeFileSync(path.join(cwd, 'body.html'), '<p>From a file</p>')
    const { id } = await send('file@example.net', '--html-file', 'body.html')
    assert.equal((await contentOf(id))?.body, '<p>From a file</p>')
  })

  it('send takes a text part of its own', async () => {
    const { id } = await send('text@example.net', '--html', '<p>Hi</p>', '--text', 'By hand')
    assert.equal((await contentOf(id))?.text, 'By hand')
  })

  it('send takes a text without HTML', async () => {
    const addresses = ['--from', 'hello@example.test', '--to', 'only@example.net']
    const sent = ['send', '--project', project.id, ...addresses, '--subject', 'Hi', '--text', 'Bye']
    const { id } = await json(...sent)
    const content = await contentOf(id)
    assert.deepEqual([content?.body, content?.isText, content?.text], ['Bye', true, null])
  })

  it("queue show names the faults of an email's templates", async () => {
    const { id } = await send('fault@example.net')
    assert.deepEqual((await json('queue', 'show', id)).templateFaults, [])
    const [part, line, column] = ['subject', null, null] as const
    const templateFaults: Email['templateFaults'] = [
      { part, line, column, message: 'too much \u001b[2J' },
      { part: 'body', line: 3, column: 7, message: 'undefined filter: shout' },
    ]
    await withStore((store) =>
      store.write((tx) => tx.update(emails).set({ templateFaults }).where(eq(emails.id, id))),
    )
    assert.deepEqual((await json('queue', 'show', id)).templateFaults, templateFaults)
    const shown = await text('queue', 'show', id)
    assert.match(shown, /^ {2}fault in subject +too much \\x1b\[2J$/m)
    assert.match(shown, /^ {2}fault in body +line 3, column 7: undefined filter: shout$/m)
  })

  it('send refuses invalid input', async () => {
    const right = ['send', '--project', project.id, '--from', 'a@example.test', '--to', 'b@c.test']
    const subject = ['--subject', 'Hi']
    writeFileSync(path.join(cwd, 'latin.html'), Buffer.from('<p>Zo\xeb</p>', 'latin1'))
    const cases: [argv: string[], status: number, code: string][] = [
      [[...right, ...subject], 2, 'WRONG_USAGE'],
      [[...right, ...subject, '--html', 'x', '--html-file', 'y'], 2, 'WRONG_USAGE'],
      [[...right, ...subject, '--html-file', 'missing.html'], 2, 'WRONG_USAGE'],
      [[...right, ...subject, '--html-file', 'latin.html'], 2, 'WRONG_USAGE'],
      [[...right, ...subject, '--html', ''], 2, 'WRONG_USAGE'],
      [[...right, ...subject, '--html', 'x', '--text', ''], 2, 'WRONG_USAGE'],
      [[...right, ...subject, '--html-file', 'tags.html'], 2, 'VALIDATION_ERROR'],
      [[...right, '--subject', 'S6:\r\nBcc: x@y.test', '--html', 'x'], 2, 'WRONG_USAGE'],
      [[...right, ...subject, '--html', 'x', '--to', 'a@b.test, c@d.test'], 2, 'WRONG_USAGE'],
      [[...right, ...subject, '--html', 'x', '--from', 'a@other.example'], 1, 'FORBIDDEN'],
      [[...right, ...subject, '--html', 'x', '--project', 'nobody'], 1, 'RESOURCE_NOT_FOUND'],
    ]
    writeFileSync(path.join(cwd, 'tags.html'), '{{ a }}'.repeat(20_001))
    const before = await json('queue', 'list')
    for (const [argv, status, code] of cases) {
      const refused = await failure(...argv)
      assert.deepEqual([refused.status, refused.code], [status, code], argv.join(' '))
    }
    assert.deepEqual(await json('queue', 'list'), before)
  })

  it('send refuses a disabled project', async () => {
    await json('project', 'update', project.id, '--disable', 'MANUAL')
    const argv = ['--project', project.id, '--from', 'a@example.test', '--to', 'b@c.test']
    const refused = await failure('send', ...argv, '--subject', 'Hi', '--html', 'x')
    assert.deepEqual([refused.status, refused.code], [1, 'PROJECT_DISABLED'])
    await json('project', 'update', project.id, '--enable')
  })

  it('queue list filters by state and by both domains', async () => {
    const { id } = await send('someone@bücher.example')
    const ids = async (...argv: string[]) =>
      (await json('queue', 'list', ...argv)).map((email: { id: string }) => email.id)
    assert.deepEqual(await ids('--domain', 'bücher.example'), [id])
    assert.deepEqual(await ids('--domain', 'xn--bcher-kva.example', '--state', 'queued'), [id])
    assert.ok((await ids('--sender-domain', 'example.test')).includes(id))
    assert.deepEqual(await ids('--sender-domain', 'other.example'), [])
    assert.deepEqual(await ids('--state', 'delivered'), [])
    assert.equal(await text('queue', 'list', '--state', 'delivered'), 'No matching mail.\n')
  })

  it("queue hold, release, cancel and retry change an email's state", async () => {
    const { id } = await send('held@held.example')
    const state = async () => (await json('queue', 'show', id)).state
    assert.deepEqual(await json('queue', 'hold', '--domain', 'held.example'), {
      domain: 'held.example',
      emails: 1,
    })
    assert.equal(await state(), 'held')
    assert.match(
      await text('queue', 'release', '--domain', 'held.example'),
      /released; emails due now: 1/,
    )
    assert.equal(await state(), 'queued')
    assert.deepEqual(await json('queue', 'cancel', id), { ids: [id] })
    const cancelled = await json('queue', 'show', id)
    assert.deepEqual(
      [cancelled.state, cancelled.status, cancelled.error, cancelled.nextAttemptAt],
      ['failed', 'FAILED', 'cancelled', null],
    )
    const again = await failure('queue', 'cancel', id)
    assert.deepEqual([again.status, again.code], [1, 'CONFLICT'])
    assert.deepEqual(await json('queue', 'retry', id), { ids: [id], held: 0 })
    assert.equal(await state(), 'queued')
    const unknown = await failure('queue', 'retry', id, 'unknown')
    assert.deepEqual([unknown.status, unknown.code], [1, 'RESOURCE_NOT_FOUND'])
  })

  it('queue show lists later reports apart from the attempts', async () => {
    const { id } = await send('later@shown.example')
    const at = Date.UTC(2026, 0, 2, 3, 4, 5)
    const row = { emailId: id, at, durationMs: 0, steps: [] }
    const said = { class: 'hard', host: 'mx.shown.example', error: 'no such\u001b[2J user' }
    await withStore((store) =>
      store.write(async (tx) => {
        await tx.insert(attempts).values({ ...row, result: 'delivered' })
        await tx.insert(attempts).values({ ...row, ...said, result: 'reported-bounced' })
      }),
    )
    const { attempts: listed } = await json('queue', 'show', id)
    assert.equal(listed[1].result, 'reported-bounced')
    const shown = await text('queue', 'show', id)
    assert.match(shown, /^Attempt 1, .*: delivered$/m)
    assert.match(shown, /^Report, 2026-01-02 .*: bounced \(hard\)\n {2}from mx\.shown\.example\n/m)
    assert.match(shown, /no such\\x1b\[2J user/)
    assert.doesNotMatch(shown, /Attempt 2/)
  })

  it('queue show lists every attempt with its steps and replies', async () => {
    const { id } = await send('story@shown.example')
    const at = Date.UTC(2026, 0, 2, 3, 4, 5)
    const reply = { code: 451, enhancedCode: '4.7.1', text: 'Try later\nor \x1b[2Jnever' }
    const steps = [
      { step: 'dns', at: 0, durationMs: 12, host: 'mx.shown.example' },
      { step: 'connect', at: 12, durationMs: 30, host: 'mx.shown.example', address: '192.0.2.1' },
      { step: 'rcpt', at: 42, durationMs: 5, reply },
    ]
    await withStore((store) =>
      store.write(async (tx) => {
        await tx.insert(attempts).values({
          emailId: id,
          at,
          durationMs: 47,
          result: 'deferred',
          class: 'greylisted',
          host: 'mx.shown.example',
          address: '192.0.2.1',
          tls: 'TLSv1.3, certificate not verified (TLS_AES_256_GCM_SHA384)',
          replyCode: reply.code,
          enhancedCode: reply.enhancedCode,
          replyText: reply.text,
          steps,
        })
        const change: Partial<Email> = { state: 'deferred', attemptCount: 1, dueAt: at + 60_000 }
        await setEmails(tx, change, eq(emails.id, id))
      }),
    )
    const shown = await json('queue', 'show', id)
    assert.deepEqual(
      [shown.state, shown.to, shown.nextAttemptAt],
      ['deferred', 'story@shown.example', '2026-01-02T03:05:05.000Z'],
    )
    assert.deepEqual(shown.attempts, [
      {
        at: '2026-01-02T03:04:05.000Z',
        durationMs: 47,
        host: 'mx.shown.example',
        address: '192.0.2.1',
        tls: 'TLSv1.3, certificate not verified (TLS_AES_256_GCM_SHA384)',
        result: 'deferred',
        class: 'greylisted',
        reply,
        error: null,
        finalRecipient: null,
        maybeDelivered: false,
        steps,
      },
    ])
    const said = await text('queue', 'show', id)
    const expected = [
      'Attempt 1, 2026-01-02 03:04:05Z, 47 ms: deferred (greylisted)',
      '  mx.shown.example [192.0.2.1], TLSv1.3, certificate not verified (TLS_AES_256_GCM_SHA384)',
      '       +0 ms  dns           12 ms  mx.shown.example',
      '      +12 ms  connect       30 ms  mx.shown.example [192.0.2.1]',
      '      +42 ms  rcpt           5 ms  451 4.7.1 Try later',
      '                                             or \\x1b[2Jnever',
    ]
    assert.ok(said.includes(expected.join('\n')), said)
    assert.match(said, /^Email [0-9a-f-]+\n\n {2}state +deferred \(PENDING\)\n/)
    const unknown = await failure('queue', 'show', 'unknown')
    assert.deepEqual([unknown.status, unknown.code], [1, 'RESOURCE_NOT_FOUND'])
  })

  it('queue list escapes a hostile subject', async () => {
    const { id } = await send('s18@example.net')
    await withStore((store) =>
      store.write(async (tx) => {
        await tx.update(emails).set({ subject: '\x1b]0;x\x07\nnew line' }).where(eq(emails.id, id))
      }),
    )
    const said = await text('queue', 'list')
    assert.match(said, /\\x1b\]0;x\\x07\\x0anew line/)
    assert.doesNotMatch(said, /\x1b/)
  })

  it('send to a suppressed address says that nothing is sent, and why', async () => {
    const address = 'left@example.net'
    await json('suppressions', 'add', '--project', project.id, address)
    const addresses = ['--project', project.id, '--from', 'hello@example.test', '--to', address]
    const said = await text('send', ...addresses, '--subject', 'Hi', '--text', 'Bye')
    assert.match(
      said,
      /^Not sent: left@example\.net is suppressed \(MANUAL\): pillarbox .*queue show /,
    )
    assert.doesNotMatch(said, /Accepted/)
    assert.equal((await send(address)).state, 'suppressed')
    assert.equal((await send('stays@example.net')).state, 'queued')
  })
})

describe('pillarbox sandbox', () => {
  const raw = Buffer.from('Subject: b\xfccher\r\n\r\nraw \0 bytes\r\n', 'latin1')

  it('list and show give the mail that arrived, show byte for byte', async () => {
    assert.deepEqual(await json('sandbox', 'list'), [])
    assert.match(await text('sandbox', 'list'), /^The sandbox is empty\.\n/)
    const row = {
      sender: 'b@example.net',
      recipient: 'a@example.net',
      subject: 'Hi',
      receivedAt: 0,
      raw,
    }
    await withStore((store) =>
      store.write(async (tx) => {
        await tx.insert(sandboxMessages).values(row)
      }),
    )
    const [message] = await json('sandbox', 'list')
    assert.deepEqual(message, {
      id: message.id,
      receivedAt: '1970-01-01T00:00:00.000Z',
      from: 'b@example.net',
      to: 'a@example.net',
      subject: 'Hi',
    })
    for (const argv of [[], ['--json']]) {
      const shown = await run('sandbox', 'show', String(message.id), ...argv)
      assert.deepEqual([shown.status, shown.err], [0, ''])
      assert.ok(shown.raw.equals(raw))
    }
    const unknown = await failure('sandbox', 'show', '999')
    assert.deepEqual([unknown.status, unknown.code], [1, 'RESOURCE_NOT_FOUND'])
  })
})

describe('pillarbox sandbox, decoded', () => {
  const source = (part: string) =>
    `From: Shop <s@example.test>\r\nTo: a@example.net\r\nSubject: Hi\r\nContent-Type: ${part}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n`
  const keep = async (part: string, body: string) => {
    return keepRaw(Buffer.from(source(part) + Buffer.from(body).toString('base64')))
  }
  const keepRaw = async (raw: Buffer, recipient = 'a@example.net') => {
    const row = { sender: 's@example.test', recipient, subject: 'Hi', raw }
    await withStore((store) =>
      store.write(async (tx) => {
        await tx.insert(sandboxMessages).values({ ...row, receivedAt: 0 })
      }),
    )
    return String((await json('sandbox', 'list'))[0].id)
  }

  it('says that there are more messages than it lists', async () => {
    await keep('text/html', 'one')
    const newest = await keep('text/html', 'two')
    assert.match(
      await text('sandbox', 'list', '--limit', '1'),
      /\n\nShown: 1 of \d+ messages\. There are more; --limit shows them\.\n/,
    )
    assert.deepEqual(
      (await json('sandbox', 'list', '--limit', '1')).map(({ id }: { id: number }) => String(id)),
      [newest],
    )
    assert.doesNotMatch(await text('sandbox', 'list'), /There are more/)
  })

  it('lists the mail to one address, or to those that begin like it', async () => {
    const raw = Buffer.from('Subject: Hi\r\n\r\nbody\r\n')
    const all = ['Eva@list.test', 'eva@list.test.example', 'evan@list.test', 'x%@list.test']
    for (const recipient of all) await keepRaw(raw, recipient)
    const to = async (given: string) =>
      (await json('sandbox', 'list', '--to', given)).map((one: { to: string }) => one.to)
    assert.deepEqual(await to('eva@list.test'), [all[1], all[0]])
    assert.deepEqual(await to('EVA'), [all[2], all[1], all[0]])
    assert.deepEqual(await to('x%@'), [all[3]])
    assert.match(await text('sandbox', 'list', '--to', '%'), /^The sandbox has no such mail\.\n/)
    const [, shown] = (await text('sandbox', 'list', '--to', 'eva', '--limit', '1')).split('\n\n')
    assert.match(shown ?? '', /^Shown: 1 of 3 messages\./)
  })

  it('says that mail is on its way', async () => {
    const place = makeFolder()
    await placeDatabase(place)
    const { text: here, json: data } = commandsAt({ cwd: place, env: {} })
    await data('user', 'create', '--email', 'ann@example.test')
    const owner = ['--owner', 'ann@example.test']
    const { id } = await data('project', 'create', '--name', 'Shop', ...owner)
    await data('domain', 'add', '--project', id, 'example.test')
    await data('domain', 'verify', 'example.test', '--trust')
    const mail = ['--from', 'a@example.test', '--to', 'you@example.net', '--subject', 's']
    await data('send', '--project', id, ...mail, '--html', 'x')
    assert.equal(await here('sandbox', 'list'), 'The sandbox is empty.\n\n1 email is on its way.\n')
    await data('send', '--project', id, ...mail, '--html', 'x')
    assert.match(await here('sandbox', 'list'), /\n\n2 emails are on their way\.\n$/)
    const other = ['--from', 'a@example.test', '--to', 'they@example.net', '--subject', 's']
    await data('send', '--project', id, ...other, '--html', 'x')
    const none = 'The sandbox has no such mail.\n'
    const listed = (to: string) => here('sandbox', 'list', '--to', to)
    assert.equal(await listed('THEY@'), `${none}\n1 email is on its way.\n`)
    assert.equal(await listed('you@example.net'), `${none}\n2 emails are on their way.\n`)
    assert.equal(await listed('nobody@'), none)
    // A script that searches the answer for the address finds no mail.
    const why = 'Why no mail has arrived: pillarbox queue list --to ADDRESS\n'
    assert.equal(await listed('nobody@example.net'), `${none}\n${why}`)
    assert.deepEqual(await data('sandbox', 'list', '--to', 'nobody@example.net'), [])
  })

  it('open without an id lists all messages, and serves each', async () => {
    const id = await keep('text/html', '<p>listed</p>')
    const terminal = makeTerminal({ cwd, env })
    const running = runCli(['sandbox', 'open', '--json'], terminal)
    await terminal.seen(/\n/)
    const { url } = JSON.parse(terminal.out())
    const list = await (await fetch(url)).text()
    assert.match(list, new RegExp(`<a href="${id}/">Hi</a>`))
    const later = await keep('text/html', '<p>later</p>')
    assert.match(await (await fetch(url)).text(), new RegExp(`<a href="${later}/">`))
    const page = await (await fetch(`${url}${id}/`)).text()
    assert.match(page, /<h1>Hi<\/h1>[\s\S]*<a href="\.\.\/">All messages<\/a>/)
    assert.match(await (await fetch(`${url}${later}/html`)).text(), /<p>later<\/p>/)
    for (const other of ['99999999/', 'x/', `${id}/none`, id]) {
      const answer = await fetch(`${url}${other}`)
      assert.equal(answer.status, 404, other)
      await answer.text()
    }
    terminal.signals.emit('SIGINT')
    assert.equal(await running, 0)
  })

  it('shows one decoded part, or reports that it is missing', async () => {
    const id = await keep('text/html', '<p>Grüße</p>')
    assert.equal(await text('sandbox', 'show', id, '--html'), '<p>Grüße</p>\n')
    const none = await failure('sandbox', 'show', id, '--text')
    assert.deepEqual([none.status, none.message], [1, 'The message has no text part.'])
    assert.equal((await failure('sandbox', 'show', id, '--text', '--html')).status, 2)
  })

  it('open serves the message at its secret address without running its scripts', async () => {
    const id = await keep('text/html', '<script>alert(1)</script><p>Grüße</p>')
    const terminal = makeTerminal({ cwd, env })
    const running = runCli(['sandbox', 'open', id, '--json'], terminal)
    await terminal.seen(/\n/)
    const { url } = JSON.parse(terminal.out())
    const page = await fetch(url)
    assert.match(await page.text(), /<h1>Hi<\/h1>[\s\S]*<iframe src="html"/)
    assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
    const body = await fetch(`${url}html`)
    assert.match(await body.text(), /<p>Grüße<\/p>/)
    assert.match(body.headers.get('content-security-policy') ?? '', /^sandbox (?!.*allow-scripts)/)
    assert.equal(body.headers.get('x-content-type-options'), 'nosniff')
    for (const other of ['/', '/html', `${new URL(url).pathname}file/0`]) {
      const answer = await fetch(new URL(other, url))
      assert.equal(answer.status, 404)
      await answer.text()
    }
    terminal.signals.emit('SIGINT')
    assert.equal(await running, 0)
    await assert.rejects(fetch(url))
  })

  it('open serves a file with a malformed name, and links leave the frame', async () => {
    const disposition = "attachment; filename*=utf-16be''%D8%3D"
    const raw = Buffer.from(
      `Subject: Hi\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n` +
        '--x\r\nContent-Type: text/html\r\n\r\n<!DOCTYPE html><a href="https://shop.test">Go</a>\r\n' +
        `--x\r\nContent-Type: application/pdf\r\nContent-Disposition: ${disposition}\r\n\r\nhello\r\n--x--\r\n`,
    )
    const id = await keepRaw(raw)
    const terminal = makeTerminal({ cwd, env })
    const running = runCli(['sandbox', 'open', id, '--json'], terminal)
    await terminal.seen(/\n/)
    const { url } = JSON.parse(terminal.out())
    assert.match(
      await (await fetch(`${url}html`)).text(),
      /^<!DOCTYPE html><base target="_blank"><a/,
    )
    const file = await fetch(`${url}file/0`)
    const name = "attachment; filename*=UTF-8''%EF%BF%BD"
    assert.deepEqual([await file.text(), file.headers.get('content-disposition')], ['hello', name])
    terminal.signals.emit('SIGINT')
    assert.equal(await running, 0)
  })
})

describe('options with a choice of words', () => {
  it('accept any letter case', async () => {
    const { tracking } = await json('project', 'update', project.id, '--tracking', 'marketing_only')
    assert.equal(tracking, 'MARKETING_ONLY')
    await json('project', 'update', project.id, '--tracking', 'enabled')
    assert.ok(Array.isArray(await json('queue', 'list', '--state', 'Queued')))
  })
})

describe('every command', () => {
  it('leaves no secret key and no password in the database', () => {
    const bytes = readFileSync(path.join(cwd, 'data', 'pillarbox.db'))
    assert.ok(bytes.includes(project.public))
    assert.ok(!bytes.includes(project.secret))
    assert.ok(!bytes.includes('a password'))
  })
})
