import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { silentLog } from '../../../../../src/base/log.ts'
import { createKeyring } from '../../../../../src/config/keyring.ts'
import {
  sealWaiting,
  unsealSnapshot,
} from '../../../../../src/features/mail/messages/delivery/sealed-snapshots.ts'
import {
  type EmailEnd,
  endEmails,
} from '../../../../../src/features/mail/messages/outcome/end-emails.ts'
import { recordAttempts } from '../../../../../src/features/mail/messages/outcome/record-attempts.ts'
import {
  bounceByReports,
  complainByReport,
} from '../../../../../src/features/mail/messages/outcome/write-report.ts'
import { resealAll } from '../../../../../src/features/operation/seals/seals.ts'
import { asc, eq, sql } from '../../../../../src/store/drizzle.ts'
import { type Email, emails } from '../../../../../src/store/schema/messages.ts'
import type { QueueState } from '../../../../../src/store/schema/words.ts'
import { openStore } from '../../../../../src/store/store.ts'
import type { Tx } from '../../../../../src/store/write/transaction.ts'
import { addProject, openTestCore, SECRET, type TestCore, trustDomain } from '../../../../core.ts'
import { setEmails } from '../../../../set-emails.ts'
import { openBefore } from '../../../../store/open-before.ts'
import { findNeedles, writeEveryKind } from '../../../tenancy/accounts/platform-mail/every-kind.ts'
import { attempted } from '../sender.ts'

/** Whether an email in this state may still be sent. */
const MAY_BE_SENT: Record<QueueState, boolean> = {
  queued: true,
  deferred: true,
  held: true,
  paused: true,
  sending: true,
  delivered: false,
  relayed: false,
  bounced: false,
  failed: false,
  suppressed: false,
  received: false,
}

async function openMailer(t: Parameters<typeof openTestCore>[0]): Promise<TestCore> {
  const core = await openTestCore(t, {
    // Pages that other tests have freed show what they stored.
    isNew: true,
    configure: (config) => ({ ...config, accounts: { ...config.accounts } }),
  })
  const { id } = await addProject(core, 'Mail')
  await trustDomain(core, id, 'example.test')
  core.config.accounts.mailProject = id
  return core
}

test('S30: mail of every kind to users is stored sealed, and the files of the database show none', async (t) => {
  const core = await openMailer(t)
  const written = await writeEveryKind(core)
  for (const { emailId, needles, kind } of written) {
    const row = await core.store.read.select().from(emails).where(eq(emails.id, emailId)).get()
    assert.ok(row)
    assert.equal(row.variables, null, kind)
    const { snapshot, secrets } = unsealSnapshot(core, String(row.sealedVariables))
    assert.deepEqual(findNeedles(String(snapshot?.request.text), needles), needles, kind)
    assert.deepEqual(secrets, needles.slice(0, -1), kind)
  }
  const needles = written.flatMap((one) => one.needles)
  for (const suffix of ['', '-wal']) {
    const octets = await readFile(core.config.database.file + suffix)
    assert.deepEqual(findNeedles(octets, needles), [], suffix)
  }
})

test('S30: what such mail says goes with its final state, whatever writes that state', async (t) => {
  const core = await openMailer(t)
  const written = await writeEveryKind(core)
  const at = core.now()
  const attempt = (kind: Parameters<typeof attempted>[1], delayMs: number) => {
    return async (tx: Tx, { id, ...row }: Email) => {
      const task = { emailId: id, domain: row.recipientDomain } as never
      const email = { ...row, id, isSealed: row.sealedVariables !== null }
      const record = { ...attempted(task, kind), email, startedAt: row.giveUpAt + delayMs }
      await recordAttempts({ ...core, steadyNow: core.now }, tx, [record])
    }
  }
  const end = (end: EmailEnd) => async (tx: Tx, email: Email) => {
    await endEmails(core, tx, { endings: [{ email, end }], at })
  }
  const report = (type: 'bounce' | 'complaint') => async (tx: Tx, email: Email) => {
    const facts = { email, at, error: '', bounceType: 'Permanent' } as const
    if (type === 'bounce') await bounceByReports(tx, [facts])
    else await complainByReport(tx, { ...facts, isSettled: false, feedbackType: null })
  }
  const writers: [QueueState, (tx: Tx, email: Email) => Promise<void>][] = [
    ['delivered', attempt('delivered', -1)],
    ['relayed', attempt('relayed', -1)],
    ['bounced', attempt('hard', -1)],
    ['deferred', attempt('deferred', -1)],
    ['failed', attempt('deferred', 1)],
    ['failed', end({ state: 'failed', error: 'cancelled', reason: 'cancelled' })],
    ['suppressed', end({ state: 'suppressed' })],
    ['bounced', report('bounce')],
    ['delivered', report('complaint')],
  ]
  for (const [index, [state, write]] of writers.entries()) {
    const { emailId = '' } = written[index % written.length] ?? {}
    const isEmail = eq(emails.id, emailId)
    const sealedVariables = core.keyring.seal('{}')
    const sending = { state: 'sending', status: 'SENDING', dueAt: null, sealedVariables } as const
    await core.store.write((tx) => setEmails(tx, sending, isEmail))
    const before = await core.store.read.select().from(emails).where(isEmail).get()
    assert.ok(before)
    await core.store.write((tx) => write(tx, before))
    const row = await core.store.read.select().from(emails).where(isEmail).get()
    assert.equal(row?.state, state, String(index))
    assert.equal(row.sealedVariables, MAY_BE_SENT[state] ? sealedVariables : null, String(index))
  }
})

test('S30: such mail is sealed again after a change of the secret', async (t) => {
  const core = await openMailer(t)
  const [one] = await writeEveryKind(core)
  const both = createKeyring('a new secret', SECRET)
  await resealAll({ ...core, keyring: both })
  const row = await core.store.read
    .select()
    .from(emails)
    .where(eq(emails.id, one?.emailId ?? ''))
    .get()
  assert.ok(row && one)
  const { snapshot } = unsealSnapshot(
    { keyring: createKeyring('a new secret') },
    String(row.sealedVariables),
  )
  assert.deepEqual(findNeedles(String(snapshot?.request.text), one.needles), one.needles)
})

test('S30: an upgrade clears such mail that is final, and seals such mail that waits', async (t) => {
  const { before, file } = await openBefore(t, 22)
  const token = 'c0ffee'.repeat(11).slice(0, 64)
  const link = `https://x.test/auth/reset-password?token=${token}`
  const snapshot = { stored: {}, request: { text: `Choose:\n${link}\n`, subject: 'Choose' } }
  const states = Object.keys(MAY_BE_SENT)
  await before.write(async (tx) => {
    await tx.run(sql`insert into projects (id, name, public_key, secret_digest, secret_hint,
      created_at, updated_at) values ('p', 'p', 'p', 'p', '', 1, 1)`)
    await tx.run(sql`insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
      values ('k', 'p', 'k@people.test', 1, 1, 1)`)
    for (const state of states) {
      for (const isPlatform of [0, 1]) {
        const text = isPlatform === 1 ? JSON.stringify(snapshot) : '{"stored":{},"request":{"a":1}}'
        await tx.run(sql`insert into emails (id, project_id, contact_id, content_id, source_type,
            recipient, recipient_domain, from_address, subject, content_class, is_tracked, message_id,
            state, status, queue_class, give_up_at, is_platform, variables, created_at, updated_at)
          values (${`${state}-${isPlatform}`}, 'p', 'k', 'c', 'TRANSACTIONAL', 'k@people.test',
            'people.test', 'a@shop.test', 'Hi', 'TRANSACTIONAL', 0, ${state}, ${state}, 'PENDING', 0,
            9, ${isPlatform}, ${text}, 1, 1)`)
      }
    }
  })
  await before.close()
  assert.ok((await readFile(file)).includes(token))

  const store = await openStore({ path: file, log: silentLog() })
  const keyring = createKeyring(SECRET)
  const waiting = states.filter((state) => MAY_BE_SENT[state as QueueState])
  assert.equal(await sealWaiting({ store, keyring }), waiting.length)
  assert.equal(await sealWaiting({ store, keyring }), 0)
  for (const row of await store.read.select().from(emails).orderBy(asc(emails.id)).all()) {
    if (!row.isPlatform) {
      assert.deepEqual([row.variables?.request, row.sealedVariables], [{ a: 1 }, null], row.id)
      continue
    }
    assert.equal(row.variables, null, row.id)
    assert.equal(row.sealedVariables !== null, MAY_BE_SENT[row.state], row.id)
    if (row.sealedVariables === null) continue
    assert.deepEqual(
      unsealSnapshot({ keyring }, row.sealedVariables),
      { snapshot, secrets: [token] },
      row.id,
    )
  }
  await store.close()
  assert.ok(!(await readFile(file)).includes(token))
})
