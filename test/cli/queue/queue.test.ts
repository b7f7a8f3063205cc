/** The queue's commands on a database without a running server. */
import assert from 'node:assert/strict'
import path from 'node:path'
import { before, describe, it } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { runCli } from '../../../src/cli/cli.ts'
import { formatQueueRows } from '../../../src/cli/queue/list.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { takeServeLock } from '../../../src/store/files/serve-lock.ts'
import { newId } from '../../../src/store/ids.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { attempts, type Email, emails } from '../../../src/store/schema/messages.ts'
import { suppressions } from '../../../src/store/schema/suppressions.ts'
import {
  workflowExecutions,
  workflowStepExecutions,
  workflowSteps,
  workflows,
} from '../../../src/store/schema/workflows.ts'
import { makeFolder } from '../../config/config-folder.ts'
import { makeTerminal } from '../../fakes/terminal.ts'
import { setEmails } from '../../set-emails.ts'
import { commandsAt, placeDatabase } from '../commands-at.ts'

const cwd = makeFolder()
const env = { PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.com' }
const { run, text, json, withStore } = commandsAt({ cwd, env })
const owner = 'owner@example.test'
const AT = Date.UTC(2026, 0, 2, 3, 4, 5)
const LEAVES =
  'campaigns leave the address out, unless their type is TRANSACTIONAL, and other marketing mail is not sent to it'

async function change(id: string, values: Partial<Email>): Promise<void> {
  await withStore((store) =>
    store.write(async (tx) => {
      await setEmails(tx, values, eq(emails.id, id))
    }),
  )
}

const ids = (listed: { id: string }[]) => listed.map(({ id }) => id)

let first: string
let second: string

async function send(project: string, to: string, from: string): Promise<string> {
  const addresses = ['--project', project, '--from', from, '--to', to]
  const sent = await json('send', ...addresses, '--subject', 'Hi', '--html', '<p>Hi</p>')
  return sent.id
}

async function makeProject(name: string, domain: string): Promise<string> {
  const { id } = await json('project', 'create', '--name', name, '--owner', owner)
  await json('domain', 'add', '--project', id, domain)
  await json('domain', 'verify', domain, '--trust')
  return id
}

before(async () => {
  await placeDatabase(cwd)
  await json('user', 'create', '--email', owner)
  first = await makeProject('First', 'first.example')
  second = await makeProject('Second', 'second.example')
})

describe('pillarbox queue list', () => {
  it('puts the reason on a line of its own at a terminal that is too narrow for the table', async () => {
    const place = makeFolder()
    await placeDatabase(place)
    const at = commandsAt({ cwd: place, env })
    await at.json('user', 'create', '--email', owner)
    const made = await at.json('project', 'create', '--name', 'One', '--owner', owner)
    await at.json('domain', 'add', '--project', made.id, 'one.example')
    await at.json('domain', 'verify', 'one.example', '--trust')
    const mail = ['--from', 'a@one.example', '--to', `${'long'.repeat(15)}@dest.test`]
    const body = ['--subject', 'Hi', '--html', 'x']
    const { id } = await at.json('send', '--project', made.id, ...mail, ...body)
    const listAt = async (columns?: number) => {
      const terminal = makeTerminal({ cwd: place, env })
      Object.assign(terminal.stdout, { isTTY: columns !== undefined, columns })
      assert.equal(await runCli(['queue', 'list'], terminal), 0)
      return terminal.out().trimEnd().split('\n')
    }
    const lines = await listAt(80)
    assert.ok(
      lines.every((line) => line.length <= 80),
      lines.join('\n'),
    )
    assert.match(lines[0] ?? '', /^ID +STATE +TRIES +NEXT$/)
    assert.match(lines[2] ?? '', new RegExp(`^${id}  queued  0 +due now$`))
    const [, , , ...rest] = lines
    assert.match(rest.join('').replaceAll(' ', ''), /^to(long){15}@dest.test,froma@one.example:Hi/)
    assert.match(rest.at(-1) ?? '', /^ {2}\S.*\.$/)
    const wide = await listAt(1_000)
    assert.equal(wide.length, 2)
    assert.match(wide[0] ?? '', /REASON$/)
    // A terminal may not know its size.
    assert.deepEqual(await listAt(0), lines)
    // A program reads one line for each email.
    assert.deepEqual(await listAt(), wide)
  })

  it('shortens a long reason at a terminal only', async () => {
    const reason = `${'because '.repeat(40)}end.`
    const row = { id: 'i', state: 's', tries: '0', next: '-', from: 'f', to: 't', subject: 'x' }
    const listAt = (isTTY: boolean) => {
      const { stdout } = makeTerminal({ cwd })
      Object.assign(stdout, { isTTY, columns: 1_000 })
      return formatQueueRows([{ ...row, reason }], { stdout, isWhole: false })
    }
    assert.ok(listAt(false).endsWith(reason))
    assert.match(listAt(true), /because.*…$/)
    assert.ok(listAt(true).length < listAt(false).length)
  })

  it('counts finished mail below a full and an empty list, and names the command that lists it', async () => {
    assert.equal(await text('queue', 'list'), 'No matching mail.\n')
    const delivered = await send(first, 'one@ended.test', 'a@first.example')
    const bounced = await send(first, 'two@ended.test', 'a@first.example')
    await change(delivered, { state: 'delivered', status: 'DELIVERED', dueAt: null })
    await change(bounced, { state: 'bounced', status: 'BOUNCED', dueAt: null })
    const ended =
      'Finished mail: 1 delivered, 1 bounced. To list it: pillarbox queue list --state ended\n'
    assert.equal(await text('queue', 'list'), `No matching mail.\n\n${ended}`)
    const waits = await send(first, 'three@waits.test', 'a@first.example')
    assert.ok((await text('queue', 'list')).endsWith(`\n\n${ended}`))
    assert.deepEqual(ids(await json('queue', 'list', '--state', 'ended')), [bounced, delivered])
    assert.deepEqual(ids(await json('queue', 'list')), [waits])
    const elsewhere = await text('queue', 'list', '--domain', 'waits.test', '--state', 'held')
    assert.equal(elsewhere, 'No matching mail.\n')
    const there = await text('queue', 'list', '--domain', 'ended.test')
    const command = 'pillarbox queue list --domain ended.test --state ended'
    assert.equal(
      there,
      `No matching mail.\n\nFinished mail: 1 delivered, 1 bounced. To list it: ${command}\n`,
    )
    assert.doesNotMatch(await text('queue', 'list', '--state', 'bounced'), /Finished/)
  })

  it('--to lists all mail to an address, of every project and in every state', async () => {
    const old = await send(first, 'Ada@Bücher.example', 'a@first.example')
    const other = await send(second, 'ada@bücher.example', 'b@second.example')
    const newest = await send(first, 'ada@bücher.example', 'a@first.example')
    await send(first, 'eve@bücher.example', 'a@first.example')
    await change(old, { state: 'failed', status: 'FAILED', dueAt: null, error: 'cancelled' })
    const to = ['--to', 'ADA@xn--bcher-kva.example']
    assert.deepEqual(ids(await json('queue', 'list', ...to)), [newest, other, old])
    assert.deepEqual(ids(await json('queue', 'list', ...to, '--project', second)), [other])
    assert.deepEqual(ids(await json('queue', 'list', ...to, '--state', 'failed')), [old])
    assert.deepEqual(ids(await json('queue', 'list', ...to, '--state', 'ended')), [old])
    const said = await text('queue', 'list', ...to)
    assert.match(said, /It was cancelled at \d{4}-/)
    assert.ok(said.endsWith(`To see the history of one: pillarbox queue show ${newest}\n`), said)
  })

  it('has the subject as it was written until the email is tried', async () => {
    const subject = 'Welcome {{ name ?? friend }}'
    const mail = ['--from', 'a@first.example', '--to', 'new@subject.test', '--subject', subject]
    const { id } = await json('send', '--project', first, ...mail, '--html', 'x')
    const [listed] = await json('queue', 'list', '--to', 'new@subject.test')
    assert.deepEqual([listed.id, listed.subject], [id, subject])
    assert.equal((await json('queue', 'show', id)).subject, subject)
  })

  it('--to finds mail to a contact whose address has changed since', async () => {
    const ended = await send(first, 'before@moved.test', 'a@first.example')
    await change(ended, { state: 'delivered', status: 'DELIVERED', dueAt: null })
    const { contactId } = await json('queue', 'show', ended)
    const moved = eq(contacts.id, contactId)
    await withStore((store) =>
      store.write((tx) =>
        tx.update(contacts).set({ address: 'after@moved.test' }).where(moved).run(),
      ),
    )
    assert.deepEqual(ids(await json('queue', 'list', '--to', 'before@moved.test')), [ended])
    assert.deepEqual(ids(await json('queue', 'list', '--to', 'after@moved.test')), [])
  })

  it('--to names a suppression, even when nothing was sent', async () => {
    const row = { projectId: first, address: 'gone@list.test', emailId: null, createdAt: AT }
    await withStore((store) =>
      store.write(async (tx) => {
        await tx.insert(suppressions).values({
          ...{ ...row, id: 's1', reason: 'MANUAL', source: 'API\u001b[2J' },
        })
      }),
    )
    const said = await text('queue', 'list', '--to', 'gone@list.test')
    assert.match(said, /^No matching mail\.\n\n/)
    assert.ok(
      said.includes(
        `gone@list.test has been on the suppression list of project ${first} since 2026-01-02 03:04:05Z (MANUAL: API\\x1b[2J), so the project sends nothing to it. To change that: pillarbox suppressions remove --project ${first} gone@list.test`,
      ),
      said,
    )
  })

  it('--to says what is known of an address that no mail was accepted for', async () => {
    const addContact = (projectId: string, address: string, subscribed: boolean) =>
      withStore((store) =>
        store.write(async (tx) => {
          const times = { createdAt: AT, updatedAt: AT }
          const contact = { id: newId(), projectId, address, subscribed, ...times }
          await tx.insert(contacts).values(contact)
        }),
      )
    const said = async (...argv: string[]) => {
      assert.deepEqual(await json('queue', 'list', '--to', ...argv), [])
      const [head, ...rest] = (await text('queue', 'list', '--to', ...argv)).split('\n\n')
      assert.equal(head, 'No matching mail.')
      return rest.join('\n\n')
    }
    const why = 'none was accepted, or an earlier contact of this address was deleted.'
    await addContact(first, 'left@known.test', false)
    assert.equal(
      await said('Left@Known.test'),
      `There is no email to left@known.test: ${why}\n\nIn the project First (${first}) the contact is unsubscribed: ${LEAVES}.\n`,
    )
    await addContact(second, 'left@known.test', true)
    assert.equal(
      await said('left@known.test'),
      `There is no email to left@known.test: ${why}\n\nIn the project First (${first}) the contact is unsubscribed: ${LEAVES}.\nIn the project Second (${second}) the contact is subscribed.\n`,
    )
    assert.equal(
      await said('left@known.test', '--project', first),
      `There is no email to left@known.test: ${why}\n\nIn the project First (${first}) the contact is unsubscribed: ${LEAVES}.\n`,
    )
    await addContact(second, 'there@known.test', true)
    assert.equal(
      await said('there@known.test', '--project', first),
      `There is no email to there@known.test: ${why} The project ${first} has no contact of this address.\n`,
    )
    assert.equal(
      await said('nobody@known.test'),
      `There is no email to nobody@known.test: ${why} No project has a contact of this address.\n`,
    )
    await withStore((store) =>
      store.write(async (tx) => {
        const row = { projectId: first, address: 'left@known.test', emailId: null, createdAt: AT }
        await tx
          .insert(suppressions)
          .values({ ...row, id: 's2', reason: 'COMPLAINT', source: 'mail' })
      }),
    )
    const both = await said('left@known.test')
    assert.match(both, /^left@known\.test has been on the suppression list .*\(COMPLAINT: mail\)/)
    assert.match(both, /In the project First .* is unsubscribed/)
  })

  it('--to with --project names the unsubscribed contact there, when mail is elsewhere', async () => {
    const elsewhere = await send(first, 'both@known.test', 'a@first.example')
    await withStore((store) =>
      store.write(async (tx) => {
        const times = { createdAt: AT, updatedAt: AT }
        const contact = { id: newId(), projectId: second, address: 'both@known.test' }
        await tx.insert(contacts).values({ ...contact, subscribed: false, ...times })
      }),
    )
    const said = await text('queue', 'list', '--to', 'both@known.test', '--project', second)
    assert.match(said, /but others are there \(1\): pillarbox queue list --to both@known\.test\n/)
    assert.ok(said.includes(`In the project Second (${second}) the contact is unsubscribed`), said)
    assert.doesNotMatch(said, /project First/)
    assert.ok(!said.includes(elsewhere))
  })

  it('--to without --project names the contact of every project, when mail is in other states', async () => {
    const to = 'outside@known.test'
    await send(first, to, 'a@first.example')
    await withStore((store) =>
      store.write(async (tx) => {
        const times = { createdAt: AT, updatedAt: AT }
        const contact = { id: newId(), projectId: second, address: to, subscribed: false }
        await tx.insert(contacts).values({ ...contact, ...times })
      }),
    )
    for (const option of [
      ['--state', 'bounced'],
      ['--sender-domain', 'elsewhere.test'],
    ]) {
      const said = await text('queue', 'list', '--to', to, ...option)
      assert.match(said, /but others are there \(1\)/)
      assert.ok(said.includes(`In the project First (${first}) the contact is`), said)
      assert.ok(said.includes(`In the project Second (${second}) the contact is unsubscribed`))
    }
  })

  it('--project lists mail of that project only', async () => {
    const mine = await send(second, 'only@mine.test', 'b@second.example')
    const listed = ids(await json('queue', 'list', '--project', second.toUpperCase()))
    assert.ok(listed.includes(mine))
    assert.ok(listed.length < ids(await json('queue', 'list')).length)
    const unknown = await run('queue', 'list', '--project', 'nobody')
    assert.deepEqual([unknown.status, unknown.out], [1, ''])
    assert.match(unknown.err, /^A project is named by its id: pillarbox project list$/m)
  })

  it('--limit lists the newest emails and counts the others', async () => {
    const sent = []
    for (const name of ['a', 'b', 'c']) {
      sent.push(await send(first, `${name}@many.test`, 'a@first.example'))
    }
    const list = ['queue', 'list', '--domain', 'many.test']
    assert.deepEqual(ids(await json(...list, '--limit', '2')), sent.slice(1).reverse())
    assert.match(await text(...list, '--limit', '2'), /\n\nAnd 1 more; --limit shows them\.\n/)
    assert.doesNotMatch(await text(...list, '--limit', '3'), /more/)
    const again = await send(first, 'a@many.test', 'a@first.example')
    const [newest, ...others] = await json('queue', 'list', '--to', 'a@many.test', '--limit', '1')
    assert.deepEqual([newest.id, others], [again, []])
    const toOne = await text('queue', 'list', '--to', 'a@many.test', '--limit', '1')
    assert.match(toOne, /And 1 more; --limit shows them/)
    for (const id of [...sent, again]) await change(id, { state: 'failed', dueAt: null })
    const ended = await text(...list, '--state', 'ended', '--limit', '1')
    assert.match(ended, /There are more; --limit shows them/)
    const wrong = await run(...list, '--limit', '0')
    assert.equal(wrong.status, 2)
    assert.match(wrong.err, /--limit: expected a number from 1 to 10000/)
  })

  it('refuses an invalid state, address and domain', async () => {
    const wrong = [
      ['--state', 'lost'],
      ['--to', 'nobody'],
      ['--domain', '-'],
    ]
    for (const argv of wrong) {
      assert.equal((await run('queue', 'list', ...argv)).status, 2, argv.join(' '))
    }
  })

  it('says that mail to the recipient is in other states, and how to see it', async () => {
    const [to, said] = [
      'other-state@now.test',
      'No email to other-state@now.test is in this selection',
    ]
    await send(first, to, 'a@first.example')
    const found = `No matching mail.\n\n${said}, but others are there (1): pillarbox queue list --to ${to}\n`
    const list = (...option: string[]) => text('queue', 'list', '--to', to, ...option)
    const contact = `\nIn the project First (${first}) the contact is unsubscribed: ${LEAVES}.\n`
    assert.equal(await list('--state', 'bounced'), found + contact)
    assert.equal(await list('--state', 'held'), found + contact)
    assert.equal(await list('--project', second), found)
  })
})

describe('pillarbox queue show', () => {
  it('finds an email by its Message-ID', async () => {
    const id = await send(first, 'by-id@now.test', 'a@first.example')
    const { messageId } = await json('queue', 'show', id)
    for (const given of [messageId, `<${messageId}>`]) {
      assert.equal((await json('queue', 'show', given)).id, id)
    }
    const { status, err } = await run('queue', 'show', '<other@first.example>')
    assert.equal(status, 1)
    assert.match(err, /^pillarbox: There is no email <other@first\.example>\./)
  })

  it('says what else has the id', async () => {
    const id = await send(first, 'other@kind.test', 'a@first.example')
    const { contactId } = await json('queue', 'show', id)
    const cases: [id: string, kind: string, command: string][] = [
      [contactId, 'a contact', 'pillarbox queue list --to other@kind.test'],
      [first, 'a project', 'pillarbox queue list'],
    ]
    for (const [other, kind, command] of cases) {
      const { status, err } = await run('queue', 'show', other)
      assert.equal(status, 1)
      assert.equal(
        err,
        `pillarbox: There is no email ${other}: it is the id of ${kind}.\n` +
          `To find the id of an email: ${command}\n`,
      )
    }
    const { err } = await run('queue', 'show', 'x')
    const hint = 'An email is named by its id: pillarbox queue list'
    assert.equal(err, `pillarbox: There is no email x.\n${hint}\n`)
  })

  it('never shows a next attempt that has passed', async () => {
    const id = await send(first, 'due@now.test', 'a@first.example')
    await change(id, { dueAt: AT })
    assert.match(await text('queue', 'show', id), /^ {2}next attempt +due now$/m)
    await change(id, { dueAt: Date.UTC(2100, 0, 1) })
    assert.match(await text('queue', 'show', id), /^ {2}next attempt +2100-01-01 00:00:00Z$/m)
  })

  it('shows the lease of mail that is being sent, not a next attempt', async () => {
    const id = await send(first, 'sending@now.test', 'a@first.example')
    const lease = { leaseUntil: Date.UTC(2100, 0, 1) }
    await change(id, { ...lease, state: 'sending', dueAt: null, retryAt: Date.UTC(2101, 0, 1) })
    const said = await text('queue', 'show', id)
    assert.match(said, /^ {2}reason +The server stopped while the email was being sent/m)
    assert.match(said, /^ {2}lease until +2100-01-01 00:00:00Z$/m)
    assert.match(said, /^ {2}next attempt +2101-01-01 00:00:00Z, if this one fails$/m)
    const shown = await json('queue', 'show', id)
    assert.equal(shown.leaseUntil, '2100-01-01T00:00:00.000Z')
    assert.equal(shown.nextAttemptAt, '2101-01-01T00:00:00.000Z')
    assert.equal(shown.progress, null)
    await change(id, { retryAt: AT })
    assert.match(
      await text('queue', 'show', id),
      /^ {2}next attempt +some time after this one, if this one fails$/m,
    )
    assert.equal((await json('queue', 'show', id)).nextAttemptAt, null)
  })

  it('names the step of the workflow that sent the email', async () => {
    const id = await send(first, 'ada@flow.test', 'a@first.example')
    assert.doesNotMatch(await text('queue', 'show', id), /sent by/)
    assert.equal((await json('queue', 'show', id)).workflow, null)
    await withStore(async (store) => {
      const { contactId } =
        (await store.read.select().from(emails).where(eq(emails.id, id)).get()) ?? {}
      const at = { createdAt: AT, updatedAt: AT }
      await store.write(async (tx) => {
        await tx.insert(workflows).values({ id: 'w', projectId: first, name: 'Onboarding', ...at })
        const step = { id: 's', workflowId: 'w', projectId: first, name: 'Welcome', ...at }
        const shape = { type: 'SEND_EMAIL', position: { x: 0, y: 0 }, config: {} } as const
        await tx.insert(workflowSteps).values({ ...step, ...shape })
        const of = { projectId: first, workflowId: 'w', contactId: contactId ?? '' }
        const times = { startedAt: AT, updatedAt: AT }
        await tx
          .insert(workflowExecutions)
          .values({ number: 1, id: 'x', status: 'COMPLETED', ...of, ...times })
        const done = { status: 'COMPLETED', startedAt: AT } as const
        await tx
          .insert(workflowStepExecutions)
          .values({ executionNumber: 1, ordinal: 0, id: 'sx', stepId: 's', ...done })
      })
    })
    await change(id, { workflowExecutionId: 'x', workflowStepExecutionId: 'sx' })
    assert.match(
      await text('queue', 'show', id),
      /^ {2}sent by +the step "Welcome" of the workflow "Onboarding"$/m,
    )
    assert.deepEqual((await json('queue', 'show', id)).workflow, {
      ...{ id: 'w', name: 'Onboarding', executionId: 'x', stepId: 's', stepName: 'Welcome' },
    })
  })

  it('shows no give-up time for held mail, whose clock stands still', async () => {
    const id = await send(first, 'ada@still.test', 'a@first.example')
    await text('queue', 'hold', '--domain', 'still.test')
    assert.doesNotMatch(await text('queue', 'show', id), /gives up/)
    const misspelt = await run('queue', 'release', '--domain', 'stil.test')
    assert.equal(misspelt.status, 1)
    assert.match(misspelt.out, /Mail to stil\.test is not held; held: .*still\.test/)
    await text('queue', 'release', '--domain', 'still.test')
    assert.match(await text('queue', 'show', id), /^ {2}gives up +\d{4}-/m)
  })

  it('retry of failed mail to a held domain says that it is held', async () => {
    const made: string[] = []
    for (const domain of ['stays.test', 'stays.test', 'goes.test']) {
      const id = await send(first, `c@${domain}`, 'a@first.example')
      await change(id, { state: 'failed', status: 'FAILED', dueAt: null, error: 'cancelled' })
      made.push(id)
    }
    await json('queue', 'hold', '--domain', 'stays.test')
    assert.equal(
      await text('queue', 'retry', ...made),
      'Due now: 1.\nHeld, because mail to stays.test is held: 2. To release it: pillarbox queue release --domain stays.test\n',
    )
    const [id = ''] = made
    assert.deepEqual(await json('queue', 'retry', id), { ids: [id], held: 1 })
    await json('queue', 'release', '--domain', 'stays.test')
    assert.equal(await text('queue', 'retry', id), 'Due now: 1.\n')
  })

  it('retry of a bounced email says how to send it again', async () => {
    const id = await send(first, 'gone@stays.test', 'a@first.example')
    await change(id, { state: 'bounced', status: 'BOUNCED', dueAt: null })
    const { status, err } = await run('queue', 'retry', id)
    assert.equal(status, 1)
    assert.match(err, /is bounced: there is nothing to retry\.[\s\S]*send a new email/)
  })

  it('says what to do about a refusal that judges this server', async () => {
    const refuse = async (to: string, said: Partial<typeof attempts.$inferInsert>) => {
      const id = await send(first, to, 'a@first.example')
      const attempt = {
        ...{ emailId: id, at: AT, durationMs: 0, steps: [], class: 'policy' },
        ...{ result: 'bounced', host: 'mx.now.test', replyCode: 550, enhancedCode: '5.7.1' },
        ...said,
      }
      await withStore((store) =>
        store.write(async (tx) => void (await tx.insert(attempts).values(attempt))),
      )
      await change(id, { state: 'bounced', status: 'BOUNCED', dueAt: null, bouncedAt: AT })
      return id
    }
    for (const replyText of ['cannot find your reverse hostname', 'SPF check failed']) {
      const id = await refuse('judge@now.test', { replyText })
      const advice = 'receivers judge this server: run pillarbox doctor; afterwards '
      const again = 'send it again, because a bounced email is final'
      const said = await text('queue', 'show', id)
      assert.match(said, new RegExp(`^ {2}advice +${advice}${again}$`, 'm'))
      assert.equal((await run('queue', 'retry', id)).status, 1)
      await change(id, { state: 'failed', status: 'FAILED', bouncedAt: null })
      const retry = `pillarbox queue retry ${id}`
      const failed = await text('queue', 'show', id)
      assert.match(failed, new RegExp(`^ {2}advice +${advice}${retry}$`, 'm'))
    }
    const others = [
      { replyText: 'no such user', class: 'hard', enhancedCode: '5.1.1' },
      {
        replyText: 'this group takes no mail from strangers',
        enhancedCode: '5.7.124',
        class: 'syntax',
      },
    ]
    for (const other of others) {
      const id = await refuse('other@now.test', other)
      assert.doesNotMatch(await text('queue', 'show', id), /judge|queue retry/)
      const refused = await run('queue', 'retry', id)
      assert.deepEqual([refused.status, (await json('queue', 'show', id)).state], [1, 'bounced'])
    }
  })

  it('shows a late bounce with its code, its final address and its escaped text', async () => {
    const id = await send(first, 'later@now.test', 'a@first.example')
    await withStore((store) =>
      store.write(async (tx) => {
        await tx.insert(attempts).values({
          ...{ emailId: id, at: AT, durationMs: 0, steps: [], class: 'hard' },
          ...{ result: 'reported-bounced', host: 'mx.now.test', error: 'diagnostic' },
          ...{ replyCode: 550, enhancedCode: '5.1.1', replyText: 'no such\u001b[2J user' },
          finalRecipient: 'final@forward.test',
        })
      }),
    )
    await change(id, { state: 'bounced', status: 'BOUNCED', dueAt: null, bouncedAt: AT })
    const said = await text('queue', 'show', id)
    const expected = [
      'Report, 2026-01-02 03:04:05Z: bounced (hard)',
      '  from mx.now.test, about final@forward.test',
      '  550 5.1.1 no such\\x1b[2J user',
    ]
    assert.ok(said.includes(expected.join('\n')), said)
    assert.match(
      said,
      /reason +It bounced at .*, as reported by mx\.now\.test for final@forward\.test: 550 5\.1\.1 no such\\x1b\[2J user\./,
    )
    assert.doesNotMatch(said, /\u001b/)
    const [report] = (await json('queue', 'show', id)).attempts
    assert.equal(report.finalRecipient, 'final@forward.test')
    assert.deepEqual(report.reply, {
      ...{ code: 550, enhancedCode: '5.1.1', text: 'no such\u001b[2J user' },
    })
  })
})

describe('pillarbox queue holds', () => {
  it('lists held domains with the time, the waiting mail and the command that releases them', async () => {
    assert.equal(await text('queue', 'holds'), 'No mail is held.\n')
    await send(first, 'a@büro.test', 'a@first.example')
    await send(first, 'b@büro.test', 'a@first.example')
    await text('queue', 'hold', '--domain', 'büro.test')
    const [hold, ...others] = await json('queue', 'holds')
    assert.deepEqual([hold.domain, hold.emails, others.length], ['büro.test', 2, 0])
    assert.ok(!Number.isNaN(Date.parse(hold.heldAt)))
    const said = await text('queue', 'holds')
    assert.match(said, /^büro\.test +\d{4}-.*Z +2 +pillarbox queue release --domain büro\.test$/m)
    const [waits] = await json('queue', 'list', '--to', 'a@büro.test')
    assert.match(
      waits.reason,
      /^It has been held since .*: an operator holds all mail to büro\.test/,
    )
    await text('queue', 'release', '--domain', 'büro.test')
  })
})

describe('a project that was disabled for its reputation', () => {
  it('is listed with its waiting mail, the time at which that fails, and the command that releases it', async (t) => {
    const project = await makeProject('Third', 'third.example')
    const id = await send(project, 'a@paused.test', 'a@third.example')
    await text('project', 'update', project, '--disable', 'EMAIL_REPUTATION')
    await change(id, { state: 'paused', dueAt: null, heldAt: AT })
    t.after(() => text('project', 'update', project, '--enable'))
    const [held, ...others] = await json('queue', 'holds')
    assert.deepEqual([held.project, held.emails, others.length], [project, 1, 0])
    assert.equal(Date.parse(held.failsAt) - Date.parse(held.heldAt), 72 * 3_600_000)
    const said = await text('queue', 'holds')
    assert.match(
      said,
      /^PROJECT DISABLED FOR ITS REPUTATION +SINCE +WAITING +FAILS AT +TO RELEASE\n/,
    )
    const row = `^${project} Third.* +\\d{4}-.*Z +1 +\\d{4}-.*Z +pillarbox project update ${project} --enable$`
    assert.match(said, new RegExp(row, 'm'))
    assert.doesNotMatch(said, /\u001b|No mail is held/)
  })
})

describe('pillarbox queue sites', () => {
  it('reports that no server runs and that no back-off can be lifted', async () => {
    assert.match(await text('queue', 'sites'), /^No server runs on this database, /)
    assert.deepEqual(await json('queue', 'sites'), [])
    assert.match(
      await text('queue', 'sites', '--lift', 'dest.test'),
      /^Nothing to lift\. No server/,
    )
    assert.deepEqual(await json('queue', 'sites', '--lift', 'dest.test'), {
      ...{ site: 'dest.test', lifted: false, emails: 0 },
    })
  })
})

describe('a server that runs and does not respond', () => {
  it('is reported, and the facts in the database are shown', async (t) => {
    const id = await send(first, 'silent@now.test', 'a@first.example')
    const lock = await takeServeLock(path.join(cwd, 'data', 'pillarbox.db'), {
      log: silentLog(),
    })
    t.after(() => lock.release())
    // Each of them waits for an answer.
    const [sites, ...said] = await Promise.all([
      run('queue', 'sites'),
      text('queue', 'show', id),
      text('queue', 'list', '--to', 'silent@now.test'),
    ])
    for (const each of said) {
      assert.match(each, /The server did not answer within 2 s, so its live state is not shown\./)
      assert.match(each, /It is due now; the server did not answer, so no more is known\./)
    }
    const { status, err } = sites
    assert.deepEqual(
      [status, err.split('\n')[0]],
      [...[1, 'pillarbox: The server did not answer within 2 s.']],
    )
  })
})
