import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppError } from '../../../../src/base/errors.ts'
import {
  bulkUpdateTemplates,
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  findTemplateUsage,
  loadTemplateRecord,
  type NewTemplate,
  updateTemplate,
} from '../../../../src/features/mail/templates/templates.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { contents, emails, templates } from '../../../../src/store/schema/messages.ts'
import {
  addProject,
  address,
  openTestCore,
  START,
  type TestCore,
  trustDomain,
} from '../../../core.ts'
import { createReader } from './reader.ts'

const UNKNOWN_PROJECT = '01900000-0000-7000-8000-000000000000'

/** A project that may send from shop.test. */
async function openShop(t: { after(fn: () => unknown): void }) {
  const { read, outbound } = createReader()
  const core = { ...(await openTestCore(t)), outbound }
  const { id: projectId } = await addProject(core)
  await trustDomain(core, projectId, 'shop.test')
  return { core, projectId, read }
}

const welcome = (projectId: string, change: Partial<NewTemplate> = {}): NewTemplate => ({
  projectId,
  name: 'Welcome',
  subject: 'Hello {{name}}',
  body: '<p>Hello {{name}}</p>',
  from: address('hi@shop.test'),
  ...change,
})

const count = ({ store }: TestCore) => store.read.$count(templates)

const versionOf = async ({ store }: TestCore, id: string) =>
  (await store.read.select().from(templates).where(eq(templates.id, id)).get())?.version

test('a template is created with the defaults and read back the same', async (t) => {
  const { core, projectId } = await openShop(t)
  const made = await createTemplate(core, welcome(projectId))
  const { id, ...rest } = made
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  assert.deepEqual(rest, {
    name: 'Welcome',
    description: null,
    subject: 'Hello {{name}}',
    body: '<p>Hello {{name}}</p>',
    from: 'hi@shop.test',
    fromName: null,
    replyTo: null,
    type: 'MARKETING',
    projectId,
    createdAt: new Date(START).toISOString(),
    updatedAt: new Date(START).toISOString(),
  })
  assert.deepEqual(await loadTemplateRecord(core, { projectId, id }), made)
})

test('every field is stored', async (t) => {
  const { core, projectId } = await openShop(t)
  const fields = {
    name: 'x'.repeat(100),
    description: 'y\n'.repeat(250),
    subject: 's'.repeat(998),
    fromName: 'Shöp',
    replyTo: address('Help@Elsewhere.test'),
    type: 'TRANSACTIONAL' as const,
  }
  const made = await createTemplate(core, welcome(projectId, fields))
  assert.equal(made.description, fields.description)
  assert.equal(made.fromName, 'Shöp')
  assert.equal(made.replyTo, 'help@elsewhere.test')
  assert.equal(made.type, 'TRANSACTIONAL')
  assert.equal(made.subject.length, 998)
})

const wrong: [string, Partial<NewTemplate>, string, string][] = [
  ['no name', { name: '' }, 'name', 'too_small'],
  ['a long name', { name: 'x'.repeat(101) }, 'name', 'too_big'],
  ['a name of two lines', { name: 'a\nb' }, 'name', 'invalid_string'],
  ['a long description', { description: 'x'.repeat(501) }, 'description', 'too_big'],
  ['no subject', { subject: '' }, 'subject', 'too_small'],
  ['a long subject', { subject: 'x'.repeat(999) }, 'subject', 'too_big'],
  ['a subject of two lines', { subject: 'Hi\r\nBcc: x@y.test' }, 'subject', 'invalid_string'],
  ['a lone CR in the subject', { subject: 'Hi\rBcc: x@y.test' }, 'subject', 'invalid_string'],
  ['NUL in the subject', { subject: 'Hi\0' }, 'subject', 'invalid_string'],
  ['no body', { body: '' }, 'body', 'too_small'],
  ['an endless body', { body: 'x'.repeat(2_000_001) }, 'body', 'too_big'],
  ['a long sender name', { fromName: 'x'.repeat(101) }, 'fromName', 'too_big'],
  ['a line end in the sender name', { fromName: 'a\nb' }, 'fromName', 'invalid_string'],
  ['another type', { type: 'OTHER' as 'MARKETING' }, 'type', 'invalid_enum_value'],
]

for (const [what, change, field, code] of wrong) {
  test(`${what} is refused with its field, on create and on update`, async (t) => {
    const { core, projectId } = await openShop(t)
    const refusal = { code: 'VALIDATION_ERROR', status: 422 }
    const isRightField = (error: { fields?: { field: string; code: string }[] }) => {
      assert.deepEqual(
        error.fields?.map((each) => [each.field, each.code]),
        [[field, code]],
      )
      return true
    }
    await assert.rejects(createTemplate(core, welcome(projectId, change)), refusal)
    assert.equal(await count(core), 0)
    const made = await createTemplate(core, welcome(projectId))
    const target = { projectId, id: made.id }
    const update = updateTemplate(core, { ...target, changes: change })
    await assert.rejects(update, isRightField)
    assert.deepEqual(await loadTemplateRecord(core, target), made)
  })
}

test('a stored text that is a fault by now comes back as it is, and in no other field', async (t) => {
  const { core, projectId } = await openShop(t)
  const { id } = await createTemplate(core, welcome(projectId))
  const key = { projectId, id }
  const old = { subject: 'Hi {{ .Name }}', body: '{{> header}}{{#if x}}' }
  await core.store.write((tx) => tx.update(templates).set(old).where(eq(templates.id, id)))
  const renamed = await updateTemplate(core, { ...key, changes: { ...old, name: 'New' } })
  assert.deepEqual([renamed.name, renamed.subject, renamed.body], ['New', old.subject, old.body])
  for (const changes of [
    { body: `${old.body}!` },
    { body: old.subject },
    { subject: old.body, body: old.body },
  ]) {
    const update = updateTemplate(core, { ...key, changes })
    await assert.rejects(update, (error: AppError) => error.fields?.[0]?.code === 'template_syntax')
  }
  assert.deepEqual(await loadTemplateRecord(core, key), renamed)
})

test('a syntax error is refused with line and column, and nothing is saved', async (t) => {
  const { core, projectId } = await openShop(t)
  const body = '<p>\n  {% if name %}Hello\n</p>'
  await assert.rejects(
    createTemplate(core, welcome(projectId, { body })),
    (error: Error & { code: string; status: number; details: object; fields: object[] }) => {
      assert.deepEqual([error.code, error.status], ['BAD_REQUEST', 400])
      assert.deepEqual(error.details, { field: 'body', line: 2, column: 3 })
      const [field] = error.fields as { field: string; code: string; message: string }[]
      assert.equal(field?.field, 'body')
      assert.equal(field?.code, 'template_syntax')
      assert.match(field?.message ?? '', /^Line 2, column 3: ./)
      return true
    },
  )
  for (const change of [{ subject: '{{ name | nosuchfilter }}' }, { body: '{% include "x" %}' }]) {
    const create = createTemplate(core, welcome(projectId, change))
    await assert.rejects(create, { code: 'BAD_REQUEST' })
  }
  assert.equal(await count(core), 0)
})

test('an expensive template is parsed in a composing thread, any other in the main thread', async (t) => {
  const { core, projectId, read } = await openShop(t)
  const { id } = await createTemplate(core, welcome(projectId))
  assert.deepEqual(read, [])
  const long = '<p>{{ name }}</p>'.repeat(19_000)
  await updateTemplate(core, { projectId, id, changes: { body: long } })
  assert.deepEqual(read, [long])
  await updateTemplate(core, { projectId, id, changes: { body: 'é'.repeat(2_000_000) } })
  assert.deepEqual(read, [long], 'a text without placeholders is quick')
  const broken = createTemplate(core, welcome(projectId, { body: `{% if a %}${long}` }))
  await assert.rejects(broken, {
    code: 'BAD_REQUEST',
    details: { field: 'body', line: 1, column: 1 },
  })
  assert.equal(await count(core), 1)
})

test('a template that is too expensive to parse is refused and not saved', async (t) => {
  const { core, projectId } = await openShop(t)
  core.outbound.checkTemplate = async () => 'too heavy'
  const body = '<p>{{ name }}</p>'.repeat(19_000)
  await assert.rejects(createTemplate(core, welcome(projectId, { body })), (error: AppError) => {
    assert.equal(error.code, 'VALIDATION_ERROR')
    assert.deepEqual(
      error.fields?.map(({ field, code }) => [field, code]),
      [['body', 'too_complex']],
    )
    return true
  })
  assert.equal(await count(core), 0)
})

test("the sender's domain must be verified for the same project", async (t) => {
  const { core, projectId } = await openShop(t)
  const other = await addProject(core)
  await trustDomain(core, other.id, 'other.test')
  const refusal = { code: 'FORBIDDEN', status: 403 }
  for (const from of ['hi@other.test', 'hi@news.shop.test', 'hi@nobody.test', 'hi@test.shop']) {
    const create = createTemplate(core, welcome(projectId, { from: address(from) }))
    await assert.rejects(create, refusal, from)
  }
  assert.equal(await count(core), 0)
  const { id } = await createTemplate(core, welcome(projectId))
  const changes = { from: address('hi@other.test'), name: 'New' }
  await assert.rejects(updateTemplate(core, { projectId, id, changes }), refusal)
  assert.equal((await loadTemplateRecord(core, { projectId, id })).name, 'Welcome')

  await core.store.write((tx) => tx.update(domains).set({ isVerified: false }))
  const same = { from: address('hi@shop.test') }
  await assert.rejects(updateTemplate(core, { projectId, id, changes: same }), refusal)
  await updateTemplate(core, { projectId, id, changes: { name: 'New' } })
})

test('an update changes the given fields, clears with null, and counts versions of the content', async (t) => {
  const { core, projectId } = await openShop(t)
  const made = await createTemplate(core, welcome(projectId, { description: 'old', fromName: 'A' }))
  const target = { projectId, id: made.id }
  await core.directory.findTemplate(projectId, made.id)
  core.clock.now += 1000
  const changes = { description: null, fromName: undefined, replyTo: address('r@shop.test') }
  const changed = await updateTemplate(core, { ...target, changes })
  assert.deepEqual(changed, {
    ...made,
    description: null,
    replyTo: 'r@shop.test',
    updatedAt: new Date(START + 1000).toISOString(),
  })
  assert.equal(await versionOf(core, made.id), 1)
  assert.equal((await core.directory.findTemplate(projectId, made.id))?.replyTo, 'r@shop.test')

  await updateTemplate(core, { ...target, changes: { body: '<p>New</p>' } })
  assert.equal(await versionOf(core, made.id), 2)
  await updateTemplate(core, { ...target, changes: { subject: 'New' } })
  assert.equal(await versionOf(core, made.id), 3)
  core.clock.now += 1000
  const same = await updateTemplate(core, { ...target, changes: { subject: 'New' } })
  assert.equal(await versionOf(core, made.id), 3)
  assert.equal(same.updatedAt, new Date(START + 1000).toISOString())
  assert.equal((await updateTemplate(core, { ...target, changes: {} })).subject, 'New')
})

test('a deleted template is not found', async (t) => {
  const { core, projectId } = await openShop(t)
  const { id } = await createTemplate(core, welcome(projectId))
  assert.ok(await core.directory.findTemplate(projectId, id))
  await deleteTemplate(core, { projectId, id })
  assert.equal(await core.directory.findTemplate(projectId, id), undefined)
  await assert.rejects(loadTemplateRecord(core, { projectId, id }), { code: 'TEMPLATE_NOT_FOUND' })
  await assert.rejects(deleteTemplate(core, { projectId, id }), { code: 'TEMPLATE_NOT_FOUND' })
})

test('a copy has its own id, is independent, and has a name within the limit', async (t) => {
  const { core, projectId } = await openShop(t)
  const made = await createTemplate(core, welcome(projectId, { type: 'HEADLESS' }))
  const target = { projectId, id: made.id }
  await updateTemplate(core, { ...target, changes: { body: 'two' } })
  core.clock.now += 1000
  const copy = await duplicateTemplate(core, target)
  assert.notEqual(copy.id, made.id)
  const at = new Date(START + 1000).toISOString()
  const expected = { ...made, body: 'two', id: copy.id, name: 'Welcome (Copy)' }
  assert.deepEqual(copy, { ...expected, createdAt: at, updatedAt: at })
  assert.equal(await versionOf(core, copy.id), 1)
  await updateTemplate(core, { projectId, id: copy.id, changes: { body: 'three' } })
  assert.equal((await loadTemplateRecord(core, target)).body, 'two')

  const name = `${'x'.repeat(92)}\u{1f600}${'y'.repeat(6)}`
  const long = await createTemplate(core, welcome(projectId, { name }))
  const cut = await duplicateTemplate(core, { projectId, id: long.id })
  assert.equal(cut.name, `${'x'.repeat(92)} (Copy)`)
})

test('usage has its full shape and counts the emails made from the template', async (t) => {
  const { core, projectId } = await openShop(t)
  const { id } = await createTemplate(core, welcome(projectId))
  const unused = { workflowSteps: 0, emailsSent: 0, campaigns: [], workflows: [], steps: [] }
  assert.deepEqual(await findTemplateUsage(core, { projectId, id }), unused)
  await addEmail(core, projectId, id)
  await addEmail(core, projectId, null)
  assert.deepEqual(await findTemplateUsage(core, { projectId, id }), { ...unused, emailsSent: 1 })
})

test('a bulk deletion deletes all templates or none', async (t) => {
  const { core, projectId } = await openShop(t)
  const ids: string[] = []
  for (let n = 0; n < 3; n += 1) ids.push((await createTemplate(core, welcome(projectId))).id)
  const [a = '', b = '', c = ''] = ids
  const bulk = (wanted: string[], isDelete?: boolean) =>
    bulkUpdateTemplates(core, { projectId, ids: wanted, delete: isDelete })
  await assert.rejects(bulk([a, UNKNOWN_PROJECT], true), {
    code: 'TEMPLATE_NOT_FOUND',
    status: 404,
  })
  await assert.rejects(bulk([a, UNKNOWN_PROJECT]), { code: 'TEMPLATE_NOT_FOUND' })
  await assert.rejects(bulk([], true), { code: 'VALIDATION_ERROR' })
  const many = Array.from({ length: 1001 }, () => a)
  await assert.rejects(bulk(many, true), { code: 'VALIDATION_ERROR' })
  assert.deepEqual(await bulk([a, b]), { updated: 0 })
  assert.equal(await count(core), 3)
  assert.ok(await core.directory.findTemplate(projectId, a))
  assert.deepEqual(await bulk([a, b, a], true), { deleted: 2 })
  assert.equal(await core.directory.findTemplate(projectId, a), undefined)
  assert.equal((await loadTemplateRecord(core, { projectId, id: c })).id, c)
  assert.equal(await count(core), 1)
})

test("another project's templates are not found and do not change", async (t) => {
  const { core, projectId } = await openShop(t)
  const other = await addProject(core)
  const { id } = await createTemplate(core, welcome(projectId))
  const before = await loadTemplateRecord(core, { projectId, id })
  const foreign = { projectId: other.id, id }
  const refusal = { code: 'TEMPLATE_NOT_FOUND', status: 404 }
  await assert.rejects(loadTemplateRecord(core, foreign), refusal)
  await assert.rejects(updateTemplate(core, { ...foreign, changes: { name: 'Mine' } }), refusal)
  await assert.rejects(deleteTemplate(core, foreign), refusal)
  await assert.rejects(duplicateTemplate(core, foreign), refusal)
  await assert.rejects(findTemplateUsage(core, foreign), refusal)
  const bulk = bulkUpdateTemplates(core, { projectId: other.id, ids: [id], delete: true })
  await assert.rejects(bulk, refusal)
  assert.deepEqual(await loadTemplateRecord(core, { projectId, id }), before)
  assert.equal(await count(core), 1)
})

async function addEmail(core: TestCore, projectId: string, templateId: string | null) {
  const [contactId, contentId] = [newId(), newId()]
  const times = { createdAt: START, updatedAt: START }
  await core.store.write(async (tx) => {
    const address = `${contactId}@dest.test`
    await tx
      .insert(contacts)
      .values({ id: contactId, projectId, address, subscribed: true, ...times })
    await tx.insert(contents).values({
      id: contentId,
      projectId,
      subject: 'x',
      body: 'x',
      lastUsedAt: START,
      createdAt: START,
    })
    await tx.insert(emails).values({
      id: newId(),
      projectId,
      contactId,
      contentId,
      templateId,
      sourceType: 'TRANSACTIONAL',
      recipient: address,
      recipientDomain: 'dest.test',
      fromAddress: 'hi@shop.test',
      subject: 'x',
      contentClass: 'MARKETING',
      isTracked: false,
      messageId: contactId,
      state: 'queued',
      status: 'PENDING',
      queueClass: 1,
      giveUpAt: START,
      ...times,
    })
  })
}
