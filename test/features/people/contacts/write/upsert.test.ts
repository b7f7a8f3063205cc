import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suppress } from '../../../../../src/features/mail/messages/outcome/suppression.ts'
import { upsertContact } from '../../../../../src/features/people/contacts/write/contact-queue.ts'
import {
  deleteContact,
  deleteContacts,
} from '../../../../../src/features/people/contacts/write/delete.ts'
import { updateContact } from '../../../../../src/features/people/contacts/write/update.ts'
import { upsertContacts } from '../../../../../src/features/people/contacts/write/upsert.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { attempts, emails } from '../../../../../src/store/schema/messages.ts'
import { segmentMembers, segments } from '../../../../../src/store/schema/segments.ts'
import type { SuppressionReason } from '../../../../../src/store/schema/words.ts'
import {
  workflowExecutions,
  workflowStepExecutions,
  workflows,
} from '../../../../../src/store/schema/workflows.ts'
import { addProject, address, openTestCore, type TestCore } from '../../../../core.ts'
import { countTurns } from '../../../../event-loop.ts'
import { addContacts } from '../add-contacts.ts'
import { addEmail, subscriptionEvents } from '../add-recipient.ts'

function suppressed(
  { store, now }: TestCore,
  of: { projectId: string; address: string; reason: SuppressionReason },
) {
  return store.write((tx) => suppress(tx, { ...of, source: 'a test', emailId: null, at: now() }))
}

const listRows = ({ store }: TestCore) => store.read.select().from(contacts).all()

test('concurrent writes to one address create one contact and lose no data', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const saved = await Promise.all(
    Array.from({ length: 200 }, (_, at) =>
      upsertContact(core, {
        projectId,
        address: address(at % 2 === 0 ? 'ada@x.test' : 'ADA@X.test'),
        data: { [`key${at}`]: at, last: at },
      }),
    ),
  )
  const [row, ...others] = await listRows(core)
  assert.deepEqual(others, [])
  assert.equal(saved.filter(({ isNew }) => isNew).length, 1)
  assert.equal(new Set(saved.map(({ contact }) => contact.id)).size, 1)
  const { last, ...keys } = row?.data ?? {}
  assert.equal(last, 199)
  assert.deepEqual(
    keys,
    Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`key${at}`, at])),
  )
  const project = await core.store.read.select().from(projects).get()
  assert.equal(project?.contactCount, 1)
})

test('a concurrent patch and upsert both take effect', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const { contact } = await upsertContact(core, { projectId, address: address('ada@x.test') })
  const target = { projectId, id: contact.id }
  await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      at % 2 === 0
        ? upsertContact(core, {
            projectId,
            address: address('ada@x.test'),
            data: { [`u${at}`]: 1 },
          })
        : updateContact(core, target, { data: { [`p${at}`]: 1 } }),
    ),
  )
  const [row] = await listRows(core)
  assert.equal(Object.keys(row?.data ?? {}).length, 50)
})

test('an address that occurs twice in a batch is one contact with both changes', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const change = {
    projectId,
    subscribed: undefined,
    subscribedByDefault: true,
    at: core.now(),
    reason: 'api' as const,
  }
  const saved = await core.store.write((tx) =>
    upsertContacts(tx, change, [
      { address: address('ada@x.test'), changes: { a: 1 } },
      { address: address('bob@x.test'), changes: {}, subscribed: false },
      { address: address('ADA@x.test'), changes: { b: 2 }, subscribed: false },
    ]),
  )
  assert.deepEqual(
    saved.map(({ contact, isNew }) => [contact.address, contact.subscribed, contact.data, isNew]),
    [
      ['ada@x.test', true, { a: 1 }, true],
      ['bob@x.test', false, null, true],
      ['ada@x.test', false, { a: 1, b: 2 }, false],
    ],
  )
  const emitted = await subscriptionEvents(core)
  assert.deepEqual(
    emitted.map(({ name, contactId }) => [name, contactId]),
    [['contact.unsubscribed', saved[0]?.contact.id]],
  )
})

test('a new contact with a suppressed address is not subscribed, unless the call says so', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  for (const email of ['gone@x.test', 'back@x.test']) {
    await suppressed(core, { projectId, address: email, reason: 'HARD_BOUNCE' })
  }
  const gone = await upsertContact(core, { projectId, address: address('gone@x.test') })
  const back = await upsertContact(core, {
    projectId,
    address: address('back@x.test'),
    subscribed: true,
  })
  assert.deepEqual([gone.contact.subscribed, back.contact.subscribed], [false, true])
  assert.deepEqual(await subscriptionEvents(core), [])
})

test('a new address keeps the contact and its history, and unsubscribes if it is suppressed', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const cases: [SuppressionReason | null, boolean | undefined, boolean, string[]][] = [
    [null, undefined, true, []],
    ['COMPLAINT', undefined, false, ['complaint']],
    ['STRIKES', undefined, false, ['bounce']],
    ['MANUAL', true, true, []],
  ]
  for (const [at, [reason, given, subscribed, reasons]] of cases.entries()) {
    const { contact } = await upsertContact(core, {
      projectId,
      address: address(`old${at}@x.test`),
    })
    const { id } = contact
    const emailId = await addEmail(core, { projectId, contactId: id, campaignId: null })
    const email = `new${at}@x.test`
    if (reason !== null) await suppressed(core, { projectId, address: email, reason })
    core.clock.now += 1000
    const changes = { address: address(email), subscribed: given }
    const changed = await updateContact(core, { projectId, id }, changes)
    assert.deepEqual(changed, { ...contact, address: email, subscribed, updatedAt: core.clock.now })
    const rows = await core.store.read.select().from(contacts).where(eq(contacts.id, id)).all()
    assert.deepEqual(
      rows.map((row) => [row.address, row.subscribed]),
      [[email, subscribed]],
    )
    const own = (await subscriptionEvents(core)).filter(({ contactId }) => contactId === id)
    assert.deepEqual(
      own.map(({ data }) => Object(data).reason),
      reasons,
    )
    const mail = await core.store.read.select().from(emails).where(eq(emails.id, emailId)).get()
    assert.equal(mail?.contactId, id)
  }
})

test('a change without a difference writes nothing, and a taken address changes nothing', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const { contact } = await upsertContact(core, {
    projectId,
    address: address('ada@x.test'),
    data: { a: 1 },
  })
  await upsertContact(core, { projectId, address: address('bob@x.test') })
  core.clock.now += 1000
  const target = { projectId, id: contact.id }
  const same = { address: address('ADA@x.test'), subscribed: true, data: { a: 1, b: '' } }
  assert.deepEqual(await updateContact(core, target, same), contact)
  const taken = { address: address('bob@x.test'), subscribed: false, data: { a: 2 } }
  await assert.rejects(updateContact(core, target, taken), { code: 'CONFLICT', status: 409 })
  const rows = await listRows(core)
  assert.deepEqual(
    rows.map(({ address, subscribed, data }) => [address, subscribed, data]),
    [
      ['ada@x.test', true, { a: 1 }],
      ['bob@x.test', true, null],
    ],
  )
  assert.deepEqual(await subscriptionEvents(core), [])
})

test('a new contact does not get the number of the deleted newest one', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const [newest = ''] = await addContacts(core, projectId, [{ email: 'ada@x.test' }])
  const [before] = await listRows(core)
  await deleteContact(core, { projectId, id: newest })
  await upsertContact(core, { projectId, address: address('bob@x.test') })
  const [after] = await listRows(core)
  assert.ok(before && after && after.number > before.number)
})

test('deleting a contact deletes its history and nothing of other contacts', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const [ada = '', bob = ''] = await addContacts(core, projectId, [
    { email: 'ada@x.test', data: { plan: 'pro' } },
    { email: 'bob@x.test', data: { plan: 'pro' } },
  ])
  await suppressed(core, { projectId, address: 'ada@x.test', reason: 'MANUAL' })
  const at = { createdAt: 1, updatedAt: 1 }
  const segment = { id: 's', projectId, name: 'S', type: 'STATIC' as const, ...at }
  await core.store.write((tx) => tx.insert(segments).values(segment).run())
  const workflow = { id: 'w', projectId, name: 'Onboarding', ...at }
  await core.store.write((tx) => tx.insert(workflows).values(workflow).run())
  for (const contactId of [ada, bob]) {
    const emailId = await addEmail(core, { projectId, contactId, campaignId: null })
    await core.store.write(async (tx) => {
      await tx.insert(segmentMembers).values({ segmentId: 's', contactId, enteredAt: 1, ...at })
      await tx.run(sql`insert into attempts (email_id, at, duration_ms, result, steps)
        values (${emailId}, 1, 1, 'delivered', '[]')`)
      // More than one page of history.
      await tx.run(sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1100)
        insert into events (id, project_id, name, contact_id, created_at)
        select i, ${projectId}, 'page.viewed', ${contactId}, i from n`)
      await tx.run(sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 120)
        insert into workflow_executions
          (id, project_id, workflow_id, contact_id, status, started_at, updated_at)
        select ${contactId} || i, ${projectId}, 'w', ${contactId}, 'COMPLETED', i, i from n`)
      await tx.run(sql`insert into workflow_step_executions
          (execution_number, ordinal, id, step_id, status, started_at)
        select number, 0, id, 's', 'COMPLETED', 1 from workflow_executions
        where contact_id = ${contactId}`)
    })
  }
  await deleteContact(core, { projectId, id: ada })
  for (const [table, left] of [
    [contacts, 1],
    [emails, 1],
    [attempts, 1],
    [events, 1100],
    [segmentMembers, 1],
    [workflowExecutions, 120],
    [workflowStepExecutions, 120],
  ] as const) {
    assert.equal(await core.store.read.$count(table), left)
  }
  assert.deepEqual(
    (await listRows(core)).map(({ id }) => id),
    [bob],
  )
  const project = await core.store.read.select().from(projects).get()
  assert.equal(project?.contactCount, 1)
  const [field] = await core.store.read.all<{ contacts: number }>(
    sql`select contacts from contact_fields where project_id = ${projectId}`,
  )
  assert.equal(field?.contacts, 1)
  // The list is about the address: who comes back is still on it.
  const again = await upsertContact(core, { projectId, address: address('ada@x.test') })
  assert.deepEqual([again.isNew, again.contact.subscribed], [true, false])
  await assert.rejects(deleteContact(core, { projectId, id: ada }), { code: 'CONTACT_NOT_FOUND' })
})

test('ids of another project are not deleted', async (t) => {
  const core = await openTestCore(t)
  const [mine, other] = [await addProject(core), await addProject(core)]
  const [own = ''] = await addContacts(core, mine.id, [{ email: 'ada@x.test' }])
  const [foreign = ''] = await addContacts(core, other.id, [{ email: 'ada@x.test' }])
  await core.store.write((tx) =>
    tx.run(sql`insert into events (id, project_id, name, contact_id, created_at)
      values ('e', ${other.id}, 'page.viewed', ${foreign}, 1)`),
  )
  const target = { projectId: mine.id, id: foreign }
  await assert.rejects(deleteContact(core, target), { code: 'CONTACT_NOT_FOUND' })
  await assert.rejects(updateContact(core, target, { subscribed: false }), {
    code: 'CONTACT_NOT_FOUND',
  })
  const deleted = await core.store.write((tx) =>
    deleteContacts(tx, mine.id, { ids: [foreign, own, 'x'], at: core.now() }),
  )
  assert.equal(deleted, 1)
  assert.deepEqual(
    (await listRows(core)).map(({ id, subscribed }) => [id, subscribed]),
    [[foreign, true]],
  )
  assert.equal(await core.store.read.$count(events), 1)
})

test('a hundred new contacts are inserted by one statement, in the order of their addresses', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const change = { projectId, subscribed: undefined, subscribedByDefault: true, at: core.now() }
  const emails = Array.from({ length: 100 }, (_, index) => `${(index * 37) % 100}@x.test`)
  const entries = emails.map((email, index) => ({
    address: address(email),
    changes: index % 2 === 0 ? { nth: index, text: 'a "b" \u0000\ud800' } : {},
    subscribed: index % 3 === 0,
  }))
  const { saved, statements } = await core.store.write(async (tx) => {
    const execute = t.mock.method(tx, 'execute')
    const all = await upsertContacts(tx, { ...change, reason: 'api' }, entries)
    return { saved: all, statements: execute.mock.callCount() }
  })
  assert.equal(statements, 1)
  const rows = await listRows(core)
  assert.deepEqual(
    rows.map(({ address }) => address),
    emails,
  )
  assert.deepEqual(
    rows.map(({ number: _, ...row }) => row),
    saved.map(({ contact }) => contact),
  )
  const project = await core.store.read.select().from(projects).get()
  assert.deepEqual([project?.contactCount, project?.subscribedCount], [100, 34])
})

test('a second entry for a new address changes the first', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const change = { projectId, subscribed: undefined, subscribedByDefault: true, at: core.now() }
  const entry = (email: string, changes: Record<string, unknown>) => ({
    address: address(email),
    changes,
  })
  const entries = [
    entry('a@x.test', { one: 1 }),
    entry('b@x.test', { one: 2 }),
    { ...entry('a@x.test', { two: 2 }), subscribed: false },
    entry('c@x.test', {}),
  ]
  const saved = await core.store.write((tx) =>
    upsertContacts(tx, { ...change, reason: 'api' }, entries),
  )
  assert.deepEqual(
    saved.map(({ isNew }) => isNew),
    [true, true, false, true],
  )
  assert.deepEqual(
    (await listRows(core)).map(({ address, data, subscribed }) => [address, data, subscribed]),
    [
      ['a@x.test', { one: 1, two: 2 }, false],
      ['b@x.test', { one: 2 }, true],
      ['c@x.test', null, true],
    ],
  )
})

test('other work runs during a heavy batch, and the result is the same', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const change = { projectId, subscribed: undefined, subscribedByDefault: true, at: core.now() }
  // The same again where the first are written already.
  const entries = Array.from({ length: 450 }, (_, index) => ({
    address: address(`p${index % 300}@x.test`),
    changes: { [index < 300 ? 'one' : 'two']: index },
  }))
  let now = 0
  t.mock.method(performance, 'now', () => {
    now += 20
    return now
  })
  const { result: saved, turns } = await countTurns(
    core.store.write((tx) => upsertContacts(tx, { ...change, reason: 'api' }, entries), {
      heavyFor: projectId,
    }),
  )
  assert.ok(turns >= 4, `${turns} turns`)
  assert.equal(saved.filter(({ isNew }) => isNew).length, 300)
  const rows = await listRows(core)
  assert.equal(rows.length, 300)
  assert.deepEqual(rows[0]?.data, { one: 0, two: 300 })
  assert.deepEqual(rows[299]?.data, { one: 299 })
})
