import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { addDomain } from '../../../../src/features/mail/domains/add.ts'
import { deleteDomain } from '../../../../src/features/mail/domains/delete.ts'
import { listDomains } from '../../../../src/features/mail/domains/list.ts'
import { verifyDomain } from '../../../../src/features/mail/domains/verify.ts'
import { cancelCampaign } from '../../../../src/features/outreach/campaigns/stopping.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { templates } from '../../../../src/store/schema/messages.ts'
import { addProject, HOSTNAME, openTestCore, type TestCore, trustDomain } from '../../../core.ts'
import { addCampaign } from '../../outreach/campaigns/add-campaign.ts'

const count = ({ store }: TestCore) => store.read.$count(domains)

const disable = ({ store }: TestCore, id: string) =>
  store.write((tx) => tx.update(projects).set({ isDisabled: true }).where(eq(projects.id, id)))

test('an added domain lists the records of both keys and the recommended records', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const domain = await addDomain(core, { projectId, domain: ' Shop.TEST. ' })
  assert.equal(domain.domain, 'shop.test')
  assert.equal(domain.projectId, projectId)
  assert.deepEqual([domain.verified, domain.trusted, domain.status], [false, false, 'Pending'])
  const [rsa = '', ed25519] = domain.dkimTokens
  assert.match(rsa, /^pb[0-9a-f]{10}$/)
  assert.notEqual(rsa, ed25519)
  const shape = domain.records.map(({ purpose, name, type, required }) => [
    purpose,
    name,
    type,
    required,
  ])
  assert.deepEqual(shape, [
    ['dkim', `${rsa}._domainkey.shop.test`, 'TXT', true],
    ['dkim-ed25519', `${ed25519}._domainkey.shop.test`, 'TXT', false],
    ['return-path', 'bounce.shop.test', 'MX', false],
    ['return-path-spf', 'bounce.shop.test', 'TXT', false],
    ['dmarc', '_dmarc.shop.test', 'TXT', false],
    ['replies', 'shop.test', 'MX', false],
  ])
  const values = domain.records.map(({ value }) => value)
  assert.match(values[0] ?? '', /^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]{390,}={0,2}$/)
  assert.match(values[1] ?? '', /^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual(values.slice(2), [
    `10 ${HOSTNAME}`,
    'v=spf1 mx ~all',
    'v=DMARC1; p=none',
    `10 ${HOSTNAME}`,
  ])
  assert.ok(domain.records.every(({ state, found }) => state === 'unknown' && found.length === 0))
})

test('private keys are sealed in the database and shown nowhere', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const view = await addDomain(core, { projectId, domain: 'shop.test' })
  const row = await core.store.read.select().from(domains).get()
  assert.ok(row)
  assert.doesNotMatch(JSON.stringify([row, view]), /PRIVATE KEY/)
  const rsa = createPublicKey(core.keyring.unseal(row.rsaPrivateKey))
  assert.equal(rsa.asymmetricKeyDetails?.modulusLength, 2048)
  assert.deepEqual(rsa.export({ type: 'spki', format: 'pem' }), row.rsaPublicKey)
  const ed25519 = createPublicKey(core.keyring.unseal(row.ed25519PrivateKey))
  assert.equal(ed25519.asymmetricKeyType, 'ed25519')
})

test('a name outside ASCII is stored and published in A-labels and shown in U-labels', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const domain = await addDomain(core, { projectId, domain: 'BÜCHER.example' })
  assert.equal(domain.domain, 'bücher.example')
  assert.ok(domain.records.every(({ name }) => name.endsWith('xn--bcher-kva.example')))
  const again = addDomain(core, { projectId, domain: 'xn--bcher-kva.example' })
  await assert.rejects(again, { code: 'BAD_REQUEST' })
})

test('an invalid domain name is refused with its field', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  for (const domain of [
    '',
    'shop',
    'shop..test',
    '-shop.test',
    '10.0.0.1',
    'shop.test/x',
    'a@b.test',
  ]) {
    const add = addDomain(core, { projectId, domain })
    await assert.rejects(add, { code: 'VALIDATION_ERROR', status: 422 }, domain)
  }
  assert.equal(await count(core), 0)
})

test('a project can add a domain once; other projects can add it with their own keys', async (t) => {
  const core = await openTestCore(t)
  const [one, other] = [await addProject(core), await addProject(core)]
  const mine = await addDomain(core, { projectId: one.id, domain: 'shop.test' })
  const again = addDomain(core, { projectId: one.id, domain: 'Shop.test' })
  await assert.rejects(again, { code: 'BAD_REQUEST', status: 400 })
  const theirs = await addDomain(core, { projectId: other.id, domain: 'shop.test' })
  assert.equal(new Set([...mine.dkimTokens, ...theirs.dkimTokens]).size, 4)
  assert.equal(await count(core), 2)
})

test('a verified domain is refused to other projects without naming its owner', async (t) => {
  const core = await openTestCore(t)
  const [owner, other] = [await addProject(core, 'Secret Corp'), await addProject(core)]
  await trustDomain(core, owner.id, 'shop.test')
  const add = addDomain(core, { projectId: other.id, domain: 'shop.test' })
  await assert.rejects(
    add,
    (error: Error & { code: string; status: number; details?: unknown }) => {
      assert.deepEqual([error.code, error.status], ['FORBIDDEN', 403])
      assert.doesNotMatch(
        JSON.stringify([error.message, error.details]),
        /Secret|owner|[0-9a-f]{8}-/,
      )
      return true
    },
  )
  assert.equal(await count(core), 1)
  await addDomain(core, { projectId: other.id, domain: 'news.shop.test' })
})

test('a disabled project adds and deletes no domain, and others add none under its domains', async (t) => {
  const core = await openTestCore(t)
  const [bad, other] = [await addProject(core), await addProject(core)]
  const id = await trustDomain(core, bad.id, 'mail.spam.test')
  await disable(core, bad.id)
  const add = addDomain(core, { projectId: bad.id, domain: 'shop.test' })
  await assert.rejects(add, { code: 'PROJECT_DISABLED', status: 403 })
  const remove = deleteDomain(core, { projectId: bad.id, id })
  await assert.rejects(remove, { code: 'PROJECT_DISABLED' })
  for (const domain of ['spam.test', 'news.spam.test', 'a.mail.spam.test']) {
    const related = addDomain(core, { projectId: other.id, domain })
    await assert.rejects(related, { code: 'FORBIDDEN', status: 403 }, domain)
  }
  assert.equal(await count(core), 1)
  await addDomain(core, { projectId: other.id, domain: 'antispam.test' })
})

test('two concurrent requests add a domain once', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const both = await Promise.allSettled([
    addDomain(core, { projectId, domain: 'shop.test' }),
    addDomain(core, { projectId, domain: 'shop.test' }),
  ])
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal(await count(core), 1)
})

test('an unknown project adds no domain', async (t) => {
  const core = await openTestCore(t)
  const add = addDomain(core, { projectId: 'nobody', domain: 'shop.test' })
  await assert.rejects(add, { code: 'RESOURCE_NOT_FOUND' })
})

test('domains of other projects are not listed, checked or deleted', async (t) => {
  const core = await openTestCore(t)
  const [owner, other] = [await addProject(core), await addProject(core)]
  const id = await trustDomain(core, owner.id, 'shop.test')
  core.clock.now += 1
  await trustDomain(core, other.id, 'news.test')
  const names = async (projectId?: string) =>
    (await listDomains(core, projectId)).map(({ domain }) => domain)
  assert.deepEqual(await names(other.id), ['news.test'])
  assert.deepEqual(await names(), ['news.test', 'shop.test'])
  const foreign = { projectId: other.id, id }
  await assert.rejects(deleteDomain(core, foreign), { code: 'RESOURCE_NOT_FOUND', status: 404 })
  await assert.rejects(verifyDomain(core, foreign), { code: 'RESOURCE_NOT_FOUND', status: 404 })
  const trust = verifyDomain(core, { projectId: other.id, domain: 'shop.test' }, { trust: true })
  await assert.rejects(trust, { code: 'RESOURCE_NOT_FOUND' })
  assert.equal(core.dns.queries.length, 0)
  assert.equal(await count(core), 2)
})

test('a domain is deleted at once, but not while templates or campaigns send from it', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const id = await trustDomain(core, projectId, 'shop.test')
  assert.ok(await core.directory.findSenderDomain(projectId, 'shop.test'))
  await core.store.write((tx) => tx.insert(templates).values(templateRow(projectId)))
  await assert.rejects(deleteDomain(core, { projectId, id }), {
    code: 'CONFLICT',
    status: 409,
    details: { templates: [{ id: 'template', name: 'Welcome' }], campaigns: [], workflowSteps: [] },
  })
  assert.equal(await count(core), 1)
  await core.store.write((tx) => tx.delete(templates))
  const campaignId = await addCampaign(core, { projectId, fromDomain: 'shop.test' })
  await assert.rejects(deleteDomain(core, { projectId, id }), {
    code: 'CONFLICT',
    message: 'Campaigns of this project send from this domain: Spring.',
    suggestion:
      /^Give each draft .* A campaign that is being sent must end or be cancelled first\.$/,
    details: { templates: [], campaigns: [{ id: campaignId, name: 'Spring' }], workflowSteps: [] },
  })
  await cancelCampaign(core, { projectId, id: campaignId })
  await deleteDomain(core, { projectId, id })
  assert.equal(await core.directory.findSenderDomain(projectId, 'shop.test'), undefined)
  assert.equal(await count(core), 0)
  await assert.rejects(deleteDomain(core, { projectId, id }), { code: 'RESOURCE_NOT_FOUND' })
})

function templateRow(projectId: string) {
  return {
    id: 'template',
    projectId,
    name: 'Welcome',
    subject: 'Hi',
    body: 'Hi',
    fromAddress: 'a@shop.test',
    fromDomain: 'shop.test',
    createdAt: 0,
    updatedAt: 0,
  }
}
