import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '../../../../src/base/clock.ts'
import {
  checkDueDomains,
  deleteExpiredDomains,
} from '../../../../src/features/mail/domains/check.ts'
import {
  insertDomain,
  listDomains,
  toDomainRecord,
} from '../../../../src/features/mail/domains/domains.ts'
import { type DomainKeys, makeDomainKeys } from '../../../../src/features/mail/domains/keys.ts'
import { verifyDomain } from '../../../../src/features/mail/domains/verify.ts'
import type { DomainRecord } from '../../../../src/records/domain.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { templates } from '../../../../src/store/schema/messages.ts'
import { addProject, openTestCore, type TestCore, trustDomain } from '../../../core.ts'
import { pause } from '../../../pause.ts'
import { addMember, addUser } from '../../../session.ts'
import { mailTo, writeMail } from '../../tenancy/accounts/platform-mail/mailed.ts'

/** Made once for all tests, for an RSA key takes its time. */
const readyKeys: Promise<DomainKeys>[] = []

/** Domains of one name have keys of their own. */
async function addTestDomain(
  core: TestCore,
  domain = 'shop.test',
  project?: string,
): Promise<DomainRecord> {
  const projectId = project ?? (await addProject(core)).id
  const count = await core.store.read.$count(domains, eq(domains.domain, domain))
  readyKeys[count] ??= makeDomainKeys(core)
  const keys = await readyKeys[count]
  const row = await core.store.write((tx) =>
    insertDomain(tx, { projectId, domain, keys, isTrusted: false, at: core.now() }),
  )
  return toDomainRecord(row, core.config)
}

/** Puts the asked-for records of these purposes into the DNS. */
function publish({ dns }: TestCore, { records }: DomainRecord, ...purposes: string[]): void {
  const wanted = records.filter(({ purpose }) => purposes.includes(purpose))
  for (const name of new Set(wanted.map((record) => record.name))) {
    const here = wanted.filter((record) => record.name === name)
    const values = (type: string) =>
      here.filter((record) => record.type === type).map(({ value }) => value)
    const mx = values('MX').map((value): [number, string] => [10, value.split(' ')[1] ?? ''])
    dns.set(name, { TXT: values('TXT'), MX: mx })
  }
}

const keyName = ({ records }: DomainRecord) => records[0]?.name ?? ''
const states = ({ records }: DomainRecord) =>
  Object.fromEntries(records.map(({ purpose, state }) => [purpose, state]))

test('a check finds the key in any number of DNS strings, and mail may be sent', async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  const { projectId, id } = domain
  const before = await verifyDomain(core, { projectId, id })
  assert.deepEqual([before.verified, before.status], [false, 'Pending'])
  assert.equal(await core.directory.findSenderDomain(projectId, 'shop.test'), undefined)

  publish(core, domain, 'dkim')
  const after = await verifyDomain(core, { projectId, id })
  assert.deepEqual([after.verified, after.status], [true, 'Success'])
  assert.equal(states(after).dkim, 'found')
  assert.equal(states(after).dmarc, 'missing')
  const sender = await core.directory.findSenderDomain(projectId, 'shop.test')
  assert.deepEqual(
    sender?.signingKeys.map(({ algorithm }) => algorithm),
    ['rsa-sha256'],
  )
  assert.equal(sender?.isReturnPathFound, false)
})

test('a domain with all records has both signatures and its own return path', async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  const { projectId, id } = domain
  publish(core, domain, 'dkim')
  await verifyDomain(core, { id })
  await core.directory.findSenderDomain(projectId, 'shop.test')
  publish(
    core,
    domain,
    'dkim',
    'dkim-ed25519',
    'return-path',
    'return-path-spf',
    'dmarc',
    'replies',
  )
  const { records } = await verifyDomain(core, { id })
  assert.ok(records.every(({ state }) => state === 'found'))
  const sender = await core.directory.findSenderDomain(projectId, 'shop.test')
  assert.equal(sender?.signingKeys[1]?.algorithm, 'ed25519-sha256')
  assert.equal(sender?.signingKeys[1]?.selector, domain.dkimTokens[1])
  assert.equal(sender?.isReturnPathFound, true)
})

test('another key is Failed, and the found record is shown', async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  core.dns.set(keyName(domain), { TXT: ['v=DKIM1; k=rsa; p=AAAA'] })
  const checked = await verifyDomain(core, { id: domain.id })
  assert.deepEqual([checked.verified, checked.status], [false, 'Failed'])
  assert.deepEqual(checked.records[0]?.found, ['v=DKIM1; k=rsa; p=AAAA'])
  assert.deepEqual((await listDomains(core))[0]?.records, checked.records)
})

test('a resolver that fails is a TemporaryFailure and changes nothing else', async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  publish(core, domain, 'dkim')
  await verifyDomain(core, { id: domain.id })
  for (const failure of ['SERVFAIL', 'REFUSED'] as const) {
    core.dns.set(keyName(domain), failure)
    for (let check = 0; check < 4; check += 1) {
      core.clock.now += 60 * MINUTE_MS
      const { status, verified } = await verifyDomain(core, { id: domain.id })
      assert.deepEqual([verified, status], [true, 'TemporaryFailure'])
    }
  }
  assert.ok(await core.directory.findSenderDomain(domain.projectId, 'shop.test'))
})

test('name servers that deny everything for a night unverify no domain', async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  publish(core, domain, 'dkim')
  await verifyDomain(core, { id: domain.id })
  for (const failure of ['NXDOMAIN', 'NODATA'] as const) {
    core.dns.answerAll(failure)
    for (let check = 0; check < 6; check += 1) {
      core.clock.now += 60 * MINUTE_MS
      const { status, verified } = await verifyDomain(core, { id: domain.id })
      assert.deepEqual([verified, status], [true, 'TemporaryFailure'])
    }
  }
  assert.deepEqual(
    core.health.reasons().map(({ cause }) => cause),
    ['dns'],
  )
})

test('a verified domain is lost after three failures over an hour, and nothing is sent from it', async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  publish(core, domain, 'dkim')
  await verifyDomain(core, { id: domain.id })
  core.dns.set(keyName(domain), undefined)
  const seen: boolean[] = []
  for (const minutes of [0, 5, 5, 49, 1]) {
    core.clock.now += minutes * MINUTE_MS
    const { verified } = await verifyDomain(core, { id: domain.id })
    const isKnown = await core.directory.findSenderDomain(domain.projectId, 'shop.test')
    assert.equal(isKnown !== undefined, verified)
    seen.push(verified)
  }
  assert.deepEqual(seen, [true, true, true, true, false])
  assert.equal((await listDomains(core))[0]?.status, 'Failed')
})

test('the first of several projects to verify a domain owns it, and the others are refused', async (t) => {
  const core = await openTestCore(t)
  const [mine, theirs] = [await addTestDomain(core), await addTestDomain(core)]
  publish(core, mine, 'dkim')
  publish(core, theirs, 'dkim')
  assert.equal((await verifyDomain(core, { id: mine.id })).verified, true)
  const late = verifyDomain(core, { id: theirs.id })
  await assert.rejects(late, (error: Error & { code: string }) => {
    assert.equal(error.code, 'FORBIDDEN')
    assert.doesNotMatch(error.message, new RegExp(mine.projectId))
    return true
  })
  const trust = verifyDomain(core, { id: theirs.id }, { trust: true })
  await assert.rejects(trust, { code: 'FORBIDDEN' })
  const row = (await listDomains(core, theirs.projectId))[0]
  assert.deepEqual([row?.verified, row?.trusted, row?.status], [false, false, 'Failed'])
  assert.equal(await core.directory.findSenderDomain(theirs.projectId, 'shop.test'), undefined)
})

test('an operator names a domain by its name, unless several projects have added it unverified', async (t) => {
  const core = await openTestCore(t)
  const mine = await addTestDomain(core)
  assert.equal((await verifyDomain(core, { domain: 'SHOP.test.' })).id, mine.id)
  const theirs = await addTestDomain(core)
  const unclear = verifyDomain(core, { domain: 'shop.test' }, { trust: true })
  await assert.rejects(unclear, { code: 'CONFLICT' })
  await verifyDomain(core, { domain: 'shop.test', projectId: theirs.projectId }, { trust: true })
  assert.equal((await verifyDomain(core, { domain: 'shop.test' })).id, theirs.id)
  await assert.rejects(verifyDomain(core, { domain: 'none.test' }), { code: 'RESOURCE_NOT_FOUND' })
  await assert.rejects(verifyDomain(core, { domain: 'no name' }), { code: 'VALIDATION_ERROR' })
})

test('a trusted domain needs no DNS and keeps both signatures at every check', async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  const trusted = await verifyDomain(core, { id: domain.id }, { trust: true })
  assert.deepEqual([trusted.verified, trusted.trusted, trusted.status], [true, true, 'Success'])
  assert.equal(core.dns.queries.length, 0)
  const sender = await core.directory.findSenderDomain(domain.projectId, 'shop.test')
  assert.equal(sender?.signingKeys.length, 2)
  for (let check = 0; check < 4; check += 1) {
    core.clock.now += 60 * MINUTE_MS
    const { verified, status } = await verifyDomain(core, { id: domain.id })
    assert.deepEqual([verified, status], [true, 'Success'])
  }
})

test('a domain that is deleted while it is looked up stays deleted', async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  const { txt } = core.resolver
  core.resolver.txt = async (name, options) => {
    await core.store.write((tx) => tx.delete(domains))
    return txt(name, options)
  }
  await assert.rejects(verifyDomain(core, { id: domain.id }), { code: 'RESOURCE_NOT_FOUND' })
  assert.equal(await core.store.read.$count(domains), 0)
})

test('the background check checks due domains, oldest first, and no trusted ones', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const [old, fresh] = [
    await addTestDomain(core, 'a.test', projectId),
    await addTestDomain(core, 'b.test', projectId),
  ]
  await trustDomain(core, projectId, 'c.test')
  assert.equal(await checkDueDomains(core), 2)
  assert.equal(await checkDueDomains(core), 0)
  core.clock.now += 3 * MINUTE_MS
  await verifyDomain(core, { id: fresh.id })
  core.clock.now += 2 * MINUTE_MS
  publish(core, old, 'dkim')
  publish(core, fresh, 'dkim')
  assert.equal(await checkDueDomains(core), 1)
  const verified = async () =>
    (await listDomains(core)).filter((each) => each.verified).map((each) => each.domain)
  assert.deepEqual(await verified(), ['c.test', 'a.test'])
  core.clock.now += 5 * MINUTE_MS
  assert.equal(await checkDueDomains(core), 2)
  assert.deepEqual(await verified(), ['c.test', 'b.test', 'a.test'])
  assert.equal(core.dns.count('c.test'), 0)
})

test('S31: many domains of one project do not delay the check of another', async (t) => {
  const core = await openTestCore(t)
  const many = await addProject(core)
  const names = Array.from({ length: 30 }, (_, index) => `d${index}.test`)
  for (const name of names) await addTestDomain(core, name, many.id)
  const other = await addTestDomain(core, 'other.test')
  publish(core, other, 'dkim')
  const checked: string[] = []
  let held = true
  const { promise, resolve: release } = Promise.withResolvers<void>()
  /** Name servers of the domains of `many` answer when the test says so, which takes a minute. */
  const txt: typeof core.resolver.txt = async (name, options) => {
    checked.push(name)
    if (held && !name.includes('other.test')) await promise
    if (!held) core.clock.now += MINUTE_MS / 10
    return core.resolver.txt(name, options)
  }
  const slow = { ...core, resolver: { ...core.resolver, txt } }
  const run = checkDueDomains(slow)
  while (!(await listDomains(core)).some(({ verified }) => verified)) await pause()
  held = false
  release()
  const first = await run
  assert.ok(first < 31, `${first}`)
  // The rest comes with the next runs. Domains that are due again may come between the rest.
  const isChecked = (name: string) => checked.some((one) => one.endsWith(`.${name}`))
  for (let runs = 0; !names.every(isChecked); runs += 1) {
    assert.ok(runs < names.length, `after ${runs} runs`)
    await checkDueDomains(slow)
  }
})

test('a domain that cannot be checked does not stop the others, and an abort ends the round', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await addTestDomain(core, 'a.test', projectId)
  await addTestDomain(core, 'b.test', projectId)
  await core.store.write((tx) =>
    tx.update(domains).set({ rsaPublicKey: 'broken' }).where(eq(domains.domain, 'a.test')),
  )
  assert.equal(await checkDueDomains(core, AbortSignal.abort()), 0)
  assert.equal(await checkDueDomains(core), 1)
})

test('the members are told of a lost domain, at most once a month', async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  const lose = async () => {
    publish(core, domain, 'dkim')
    await verifyDomain(core, { id: domain.id })
    core.dns.set(keyName(domain), undefined)
    for (let check = 0; check < 3; check += 1) {
      await verifyDomain(core, { id: domain.id })
      core.clock.now += 30 * MINUTE_MS
    }
    assert.equal(await core.directory.findSenderDomain(domain.projectId, 'shop.test'), undefined)
  }
  const mails = async () =>
    (await core.store.read.select().from(jobs)).map(({ payload }) => payload)
  const mail = { kind: 'domain-lost', projectId: domain.projectId, domain: 'shop.test' }
  await lose()
  assert.deepEqual(await mails(), [mail])
  await lose()
  assert.deepEqual(await mails(), [mail])
  core.clock.now += 30 * DAY_MS
  await lose()
  assert.deepEqual(await mails(), [mail, mail])
})

test('the members of a project get the mail about its lost domain', async (t) => {
  const core = await openTestCore(t)
  const mail = await addProject(core, 'Mail')
  await trustDomain(core, mail.id, 'server.test')
  const accounts = { ...core.config.accounts, mailProject: mail.id }
  const domain = await addTestDomain(core)
  const { address } = await addUser(core)
  const { id: userId } = await addUser(core, { address: 'ann@people.test' })
  await addMember(core, { projectId: domain.projectId, userId, role: 'MEMBER' })
  publish(core, domain, 'dkim')
  await verifyDomain(core, { id: domain.id })
  core.dns.set(keyName(domain), undefined)
  for (let check = 0; check < 3; check += 1) {
    await verifyDomain(core, { id: domain.id })
    core.clock.now += 30 * MINUTE_MS
  }
  assert.equal(await writeMail({ ...core, config: { ...core.config, accounts } }), 1)
  const subjects = (await mailTo(core, 'ann@people.test')).map(({ subject }) => subject)
  assert.deepEqual(subjects, ['shop.test can no longer send email'])
  assert.deepEqual(await mailTo(core, address), [], 'a user who is no member')
})

test("a background check without changes keeps the directory's cache", async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  publish(core, domain, 'dkim')
  await checkDueDomains(core)
  const remembered = await core.directory.findSenderDomain(domain.projectId, 'shop.test')
  core.clock.now += 5 * MINUTE_MS
  await checkDueDomains(core)
  assert.equal(await core.directory.findSenderDomain(domain.projectId, 'shop.test'), remembered)
})

test('unverified domains expire after 30 days; verified domains and domains of templates do not', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await addTestDomain(core, 'added.test', projectId)
  const lost = await addTestDomain(core, 'lost.test', projectId)
  await trustDomain(core, projectId, 'trusted.test')
  publish(core, lost, 'dkim')
  await verifyDomain(core, { id: lost.id })
  await addTestDomain(core, 'used.test', projectId)
  await core.store.write((tx) =>
    tx.insert(templates).values({
      id: 'template',
      projectId,
      name: 'x',
      subject: 'x',
      body: 'x',
      fromAddress: 'a@used.test',
      fromDomain: 'used.test',
      createdAt: 0,
      updatedAt: 0,
    }),
  )
  core.clock.now += 29 * DAY_MS
  assert.equal(await deleteExpiredDomains(core), 0)
  core.dns.set(keyName(lost), undefined)
  for (let check = 0; check < 3; check += 1) {
    await verifyDomain(core, { id: lost.id })
    core.clock.now += 30 * MINUTE_MS
  }
  core.clock.now += 2 * DAY_MS
  assert.equal(await deleteExpiredDomains(core), 1)
  const names = async () => (await listDomains(core)).map(({ domain }) => domain).sort()
  assert.deepEqual(await names(), ['lost.test', 'trusted.test', 'used.test'])
  core.clock.now += 29 * DAY_MS
  assert.equal(await deleteExpiredDomains(core), 1)
  assert.deepEqual(await names(), ['trusted.test', 'used.test'])
})

test('mailboxes are open exactly as long as checks find this server as the MX', async (t) => {
  const core = await openTestCore(t)
  const domain = await addTestDomain(core)
  const { id, projectId } = domain
  const owner = () => core.directory.findMailboxDomain('shop.test')
  publish(core, domain, 'replies')
  await verifyDomain(core, { id })
  assert.equal(await owner(), undefined, 'it is not verified')
  publish(core, domain, 'dkim', 'replies')
  await verifyDomain(core, { id })
  assert.deepEqual(await owner(), { projectId })
  core.dns.set('shop.test', { MX: 'SERVFAIL' })
  await verifyDomain(core, { id })
  assert.deepEqual(await owner(), { projectId }, 'nobody knows better')
  core.dns.set('shop.test', { MX: [[10, 'mx.elsewhere.test']] })
  await verifyDomain(core, { id })
  assert.equal(await owner(), undefined)
})
