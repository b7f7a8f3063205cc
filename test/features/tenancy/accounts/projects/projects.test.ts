import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestSecret } from '../../../../../src/features/ground/directory.ts'
import {
  createProject,
  describeKeys,
  listProjects,
  regenerateKeys,
  updateProject,
} from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { createUser } from '../../../../../src/features/tenancy/accounts/users/users.ts'
import { memberships, projects } from '../../../../../src/store/schema/accounts.ts'
import { addProject, openTestCore } from '../../../../core.ts'

const UNKNOWN_PROJECT = '01900000-0000-7000-8000-000000000000'

test('S25: a project has an owner and two keys; the secret key is stored as digest and hint', async (t) => {
  const core = await openTestCore(t)
  const user = await createUser(core, { address: 'ada@example.test', password: '123456' })
  const made = await createProject(core, { name: ' Shop ', ownerAddress: 'Ada@example.test' })
  assert.deepEqual(Object.keys(made), ['id', 'name', 'public', 'secret'])
  assert.equal(made.name, 'Shop')
  assert.match(made.secret, /^sk_[0-9a-f]{64}$/)
  assert.match(made.public, /^pk_[0-9a-f]{64}$/)
  const row = await core.store.read.select().from(projects).get()
  assert.equal(row?.secretDigest, digestSecret(made.secret))
  assert.doesNotMatch(JSON.stringify(row), new RegExp(made.secret.slice(3)))
  const [membership] = await core.store.read.select().from(memberships)
  assert.equal(membership?.userId, user.id)
  assert.equal(membership?.role, 'OWNER')
})

test('a project needs a known owner', async (t) => {
  const core = await openTestCore(t)
  const create = createProject(core, { name: 'Shop', ownerAddress: 'nobody@example.test' })
  await assert.rejects(create, { code: 'RESOURCE_NOT_FOUND' })
  assert.deepEqual(await listProjects(core), [])
})

const good = [
  'S',
  'x'.repeat(100),
  'Ада',
  'Acme Россия',
  '株式会社 Acme',
  'Müller & Söhne™',
  'B2B №1',
]
const bad: [string, string][] = [
  ['nothing', '  '],
  ['101 characters', 'x'.repeat(101)],
  ['a line break', 'Shop\nBcc: x'],
  ['NUL', 'Shop\0'],
  ['a zero-width space', 'Sh\u200bop'],
  ['a soft hyphen', 'Sh\u00adop'],
  ['a right-to-left override', 'Shop\u202e'],
  ['a Hangul filler', 'Shop \u3164'],
  ['an empty braille cell', 'Shop \u2800'],
  ['a no-break space', 'Sh\u00a0op'],
  ['a leading mark', '\u0301Shop'],
  ['Cyrillic among Latin', 'Pаypal'],
  ['Greek among Latin', 'Αpple'],
  ['full-width letters', 'Ｓｈｏｐ'],
  ['mathematical letters', '𝐒𝐡𝐨𝐩'],
  ['a ligature', 'ﬁsh'],
  ['half a surrogate pair', 'Shop\ud83d'],
]

test('names are 1 to 100 visible characters that do not resemble others', async (t) => {
  const core = await openTestCore(t)
  const { ownerAddress } = await addProject(core)
  for (const name of good) {
    assert.equal((await createProject(core, { name, ownerAddress })).name, name)
  }
  const before = (await listProjects(core)).length
  for (const [what, name] of bad) {
    const create = createProject(core, { name, ownerAddress })
    await assert.rejects(create, { code: 'VALIDATION_ERROR', status: 422 }, what)
  }
  assert.equal((await listProjects(core)).length, before)
})

test('keys are shown masked and differ between projects', async (t) => {
  const core = await openTestCore(t)
  const one = await addProject(core)
  const other = await addProject(core)
  assert.notEqual(one.secret, other.secret)
  const shown = await describeKeys(core, one.id)
  assert.deepEqual(shown, {
    id: one.id,
    name: 'Shop',
    public: one.public,
    secret: `sk_…${one.secret.slice(-4)}`,
  })
  assert.doesNotMatch(JSON.stringify(await listProjects(core)), /sk_[0-9a-f]/)
  await assert.rejects(describeKeys(core, UNKNOWN_PROJECT), { code: 'RESOURCE_NOT_FOUND' })
})

test('S25: old keys stop working as soon as new ones are returned', async (t) => {
  const core = await openTestCore(t)
  const { id, secret, public: publicKey } = await addProject(core)
  assert.ok(await core.directory.findProjectByDigest(digestSecret(secret)))
  assert.ok(await core.directory.findProjectByPublicKey(publicKey))
  const renewed = await regenerateKeys(core, id)
  assert.equal(await core.directory.findProjectByDigest(digestSecret(secret)), undefined)
  assert.equal(await core.directory.findProjectByPublicKey(publicKey), undefined)
  assert.equal((await core.directory.findProjectByDigest(digestSecret(renewed.secret)))?.id, id)
  assert.equal((await core.directory.findProjectByPublicKey(renewed.public))?.id, id)
  await assert.rejects(regenerateKeys(core, UNKNOWN_PROJECT), { code: 'RESOURCE_NOT_FOUND' })
})

test('a change takes effect at once and does not change absent fields', async (t) => {
  const core = await openTestCore(t)
  const { id, secret } = await addProject(core)
  await core.directory.findProjectByDigest(digestSecret(secret))
  core.clock.now += 1000
  const changed = await updateProject(core, id, { tracking: 'MARKETING_ONLY', language: 'pt-BR' })
  assert.equal(changed.name, 'Shop')
  assert.equal(changed.tracking, 'MARKETING_ONLY')
  assert.equal(changed.language, 'pt-BR')
  assert.ok(changed.updatedAt > changed.createdAt)
  assert.equal((await core.directory.findProjectByDigest(digestSecret(secret)))?.language, 'pt-BR')
})

test('a project is disabled for a reason, and enabled without one', async (t) => {
  const core = await openTestCore(t)
  const { id } = await addProject(core)
  const disabled = await updateProject(core, id, { disable: 'PHISHING_DETECTED' })
  assert.equal(disabled.disabled, true)
  assert.equal(disabled.disabledReason, 'PHISHING_DETECTED')
  const enabled = await updateProject(core, id, { enable: true })
  assert.equal(enabled.disabled, false)
  assert.equal(enabled.disabledReason, null)
})

test('an invalid change changes nothing', async (t) => {
  const core = await openTestCore(t)
  const { id } = await addProject(core)
  const before = await listProjects(core)
  for (const change of [
    { tracking: 'SOMETIMES' },
    { language: 'EN' },
    { language: 'en-us' },
    { disable: 'because' },
    { disable: 'MANUAL', enable: true },
    { name: '', tracking: 'DISABLED' },
  ]) {
    await assert.rejects(updateProject(core, id, change), { code: 'VALIDATION_ERROR' })
  }
  assert.deepEqual(await listProjects(core), before)
  await assert.rejects(updateProject(core, UNKNOWN_PROJECT, {}), { code: 'RESOURCE_NOT_FOUND' })
})
