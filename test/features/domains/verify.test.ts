import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDomain } from '../../../src/features/domains/add.ts'
import { checkDueDomains } from '../../../src/features/domains/due.ts'
import { deleteLapsedClaims } from '../../../src/features/domains/lapse.ts'
import { listDomains } from '../../../src/features/domains/list.ts'
import { verifyDomain } from '../../../src/features/domains/verify.ts'
import type { DomainView } from '../../../src/features/domains/view.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { domains } from '../../../src/store/schema/domains.ts'
import { templates } from '../../../src/store/schema/messages.ts'
import { addProject, openWorld, trustDomain, type World } from '../world.ts'

const MINUTE = 60_000
const DAY = 86_400_000

async function claim(world: World, name = 'shop.test', projectId?: string): Promise<DomainView> {
  const project = projectId ?? (await addProject(world)).id
  return addDomain(world, { projectId: project, domain: name })
}

/** Puts the asked-for records of these purposes into the DNS. */
function publish({ dns }: World, { records }: DomainView, ...purposes: string[]): void {
  const wanted = records.filter(({ purpose }) => purposes.includes(purpose))
  for (const name of new Set(wanted.map((record) => record.name))) {
    const here = wanted.filter((record) => record.name === name)
    const values = (type: string) =>
      here.filter((record) => record.type === type).map(({ value }) => value)
    const mx = values('MX').map((value): [number, string] => [10, value.split(' ')[1] ?? ''])
    dns.set(name, { TXT: values('TXT'), MX: mx })
  }
}

const keyName = ({ records }: DomainView) => records[0]?.name ?? ''
const states = ({ records }: DomainView) =>
  Object.fromEntries(records.map(({ purpose, state }) => [purpose, state]))

test('a check finds the key in as many strings as DNS cuts it into, and mail may be sent', async (t) => {
  const world = await openWorld(t)
  const domain = await claim(world)
  const { projectId, id } = domain
  const before = await verifyDomain(world, { projectId, id })
  assert.deepEqual([before.verified, before.status], [false, 'Pending'])
  assert.equal(await world.directory.findSenderDomain(projectId, 'shop.test'), undefined)

  publish(world, domain, 'dkim')
  const after = await verifyDomain(world, { projectId, id })
  assert.deepEqual([after.verified, after.status], [true, 'Success'])
  assert.equal(states(after).dkim, 'found')
  assert.equal(states(after).dmarc, 'missing')
  const sender = await world.directory.findSenderDomain(projectId, 'shop.test')
  assert.deepEqual(
    sender?.signing.map(({ algorithm }) => algorithm),
    ['rsa-sha256'],
  )
  assert.equal(sender?.isReturnPathFound, false)
})

test('with all records found mail has both signatures and a return path of its own', async (t) => {
  const world = await openWorld(t)
  const domain = await claim(world)
  const { projectId, id } = domain
  publish(world, domain, 'dkim')
  await verifyDomain(world, { id })
  await world.directory.findSenderDomain(projectId, 'shop.test')
  publish(
    world,
    domain,
    'dkim',
    'dkim-ed25519',
    'return-path',
    'return-path-spf',
    'dmarc',
    'replies',
  )
  const { records } = await verifyDomain(world, { id })
  assert.ok(records.every(({ state }) => state === 'found'))
  const sender = await world.directory.findSenderDomain(projectId, 'shop.test')
  assert.equal(sender?.signing[1]?.algorithm, 'ed25519-sha256')
  assert.equal(sender?.signing[1]?.selector, domain.dkimTokens[1])
  assert.equal(sender?.isReturnPathFound, true)
})

test('another key is Failed, and what was found is shown', async (t) => {
  const world = await openWorld(t)
  const domain = await claim(world)
  world.dns.set(keyName(domain), { TXT: ['v=DKIM1; k=rsa; p=AAAA'] })
  const checked = await verifyDomain(world, { id: domain.id })
  assert.deepEqual([checked.verified, checked.status], [false, 'Failed'])
  assert.deepEqual(checked.records[0]?.found, ['v=DKIM1; k=rsa; p=AAAA'])
  assert.deepEqual((await listDomains(world))[0]?.records, checked.records)
})

test('a resolver that fails is a TemporaryFailure and takes nothing away', async (t) => {
  const world = await openWorld(t)
  const domain = await claim(world)
  publish(world, domain, 'dkim')
  await verifyDomain(world, { id: domain.id })
  for (const failure of ['SERVFAIL', 'REFUSED'] as const) {
    world.dns.set(keyName(domain), failure)
    for (let check = 0; check < 4; check += 1) {
      world.clock.at += 60 * MINUTE
      const { status, verified } = await verifyDomain(world, { id: domain.id })
      assert.deepEqual([verified, status], [true, 'TemporaryFailure'])
    }
  }
  assert.ok(await world.directory.findSenderDomain(domain.projectId, 'shop.test'))
})

test('servers that deny everything, a whole night long, take no domain away', async (t) => {
  const world = await openWorld(t)
  const domain = await claim(world)
  publish(world, domain, 'dkim')
  await verifyDomain(world, { id: domain.id })
  for (const failure of ['NXDOMAIN', 'NODATA'] as const) {
    world.dns.answerAll(failure)
    for (let check = 0; check < 6; check += 1) {
      world.clock.at += 60 * MINUTE
      const { status, verified } = await verifyDomain(world, { id: domain.id })
      assert.deepEqual([verified, status], [true, 'TemporaryFailure'])
    }
  }
  assert.deepEqual(
    world.health.reasons().map(({ cause }) => cause),
    ['dns'],
  )
})

test('a verified domain is lost after three failures over an hour, and nothing is sent from it', async (t) => {
  const world = await openWorld(t)
  const domain = await claim(world)
  publish(world, domain, 'dkim')
  await verifyDomain(world, { id: domain.id })
  world.dns.set(keyName(domain), undefined)
  const seen: boolean[] = []
  for (const minutes of [0, 5, 5, 49, 1]) {
    world.clock.at += minutes * MINUTE
    const { verified } = await verifyDomain(world, { id: domain.id })
    const isKnown = await world.directory.findSenderDomain(domain.projectId, 'shop.test')
    assert.equal(isKnown !== undefined, verified)
    seen.push(verified)
  }
  assert.deepEqual(seen, [true, true, true, true, false])
  assert.equal((await listDomains(world))[0]?.status, 'Failed')
})

test('of several claims the first to be verified wins; the others are refused', async (t) => {
  const world = await openWorld(t)
  const [mine, theirs] = [await claim(world), await claim(world)]
  publish(world, mine, 'dkim')
  publish(world, theirs, 'dkim')
  assert.equal((await verifyDomain(world, { id: mine.id })).verified, true)
  const late = verifyDomain(world, { id: theirs.id })
  await assert.rejects(late, (error: Error & { code: string }) => {
    assert.equal(error.code, 'FORBIDDEN')
    assert.doesNotMatch(error.message, new RegExp(mine.projectId))
    return true
  })
  const trust = verifyDomain(world, { id: theirs.id }, { trust: true })
  await assert.rejects(trust, { code: 'FORBIDDEN' })
  const row = (await listDomains(world, theirs.projectId))[0]
  assert.deepEqual([row?.verified, row?.trusted, row?.status], [false, false, 'Failed'])
  assert.equal(await world.directory.findSenderDomain(theirs.projectId, 'shop.test'), undefined)
})

test('an operator names a domain by its name, unless several unverified claims share it', async (t) => {
  const world = await openWorld(t)
  const mine = await claim(world)
  assert.equal((await verifyDomain(world, { domain: 'SHOP.test.' })).id, mine.id)
  const theirs = await claim(world)
  const unclear = verifyDomain(world, { domain: 'shop.test' }, { trust: true })
  await assert.rejects(unclear, { code: 'CONFLICT' })
  await verifyDomain(world, { domain: 'shop.test', projectId: theirs.projectId }, { trust: true })
  assert.equal((await verifyDomain(world, { domain: 'shop.test' })).id, theirs.id)
  await assert.rejects(verifyDomain(world, { domain: 'none.test' }), { code: 'RESOURCE_NOT_FOUND' })
  await assert.rejects(verifyDomain(world, { domain: 'no name' }), { code: 'VALIDATION_ERROR' })
})

test('trust asks nobody, gives both signatures, and no check takes it away', async (t) => {
  const world = await openWorld(t)
  const domain = await claim(world)
  const trusted = await verifyDomain(world, { id: domain.id }, { trust: true })
  assert.deepEqual([trusted.verified, trusted.trusted, trusted.status], [true, true, 'Success'])
  assert.equal(world.dns.queries.length, 0)
  const sender = await world.directory.findSenderDomain(domain.projectId, 'shop.test')
  assert.equal(sender?.signing.length, 2)
  for (let check = 0; check < 4; check += 1) {
    world.clock.at += 60 * MINUTE
    const { verified, status } = await verifyDomain(world, { id: domain.id })
    assert.deepEqual([verified, status], [true, 'Success'])
  }
})

test('a domain that is deleted while it is looked up stays deleted', async (t) => {
  const world = await openWorld(t)
  const domain = await claim(world)
  const { txt } = world.resolver
  world.resolver.txt = async (name, options) => {
    await world.store.write((tx) => tx.delete(domains))
    return txt(name, options)
  }
  await assert.rejects(verifyDomain(world, { id: domain.id }), { code: 'RESOURCE_NOT_FOUND' })
  assert.equal(await world.store.read.$count(domains), 0)
})

test('the background check takes what is due, oldest first, and leaves trusted domains alone', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const [old, fresh] = [
    await claim(world, 'a.test', projectId),
    await claim(world, 'b.test', projectId),
  ]
  await trustDomain(world, projectId, 'c.test')
  assert.equal(await checkDueDomains(world), 2)
  assert.equal(await checkDueDomains(world), 0)
  world.clock.at += 3 * MINUTE
  await verifyDomain(world, { id: fresh.id })
  world.clock.at += 2 * MINUTE
  publish(world, old, 'dkim')
  publish(world, fresh, 'dkim')
  assert.equal(await checkDueDomains(world), 1)
  const verified = async () =>
    (await listDomains(world)).filter((each) => each.verified).map((each) => each.domain)
  assert.deepEqual(await verified(), ['c.test', 'a.test'])
  world.clock.at += 5 * MINUTE
  assert.equal(await checkDueDomains(world), 2)
  assert.deepEqual(await verified(), ['c.test', 'b.test', 'a.test'])
  assert.equal(world.dns.count('c.test'), 0)
})

test('one domain that cannot be checked does not stop the others, and a stop is heeded', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  await claim(world, 'a.test', projectId)
  await claim(world, 'b.test', projectId)
  await world.store.write((tx) =>
    tx.update(domains).set({ rsaPublicKey: 'broken' }).where(eq(domains.domain, 'a.test')),
  )
  assert.equal(await checkDueDomains(world, AbortSignal.abort()), 0)
  assert.equal(await checkDueDomains(world), 1)
})

test('a background check that finds nothing new keeps what the directory remembers', async (t) => {
  const world = await openWorld(t)
  const domain = await claim(world)
  publish(world, domain, 'dkim')
  await checkDueDomains(world)
  const remembered = await world.directory.findSenderDomain(domain.projectId, 'shop.test')
  world.clock.at += 5 * MINUTE
  await checkDueDomains(world)
  assert.equal(await world.directory.findSenderDomain(domain.projectId, 'shop.test'), remembered)
})

test('claims lapse after 30 days; verified domains and those that templates need do not', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  await claim(world, 'claimed.test', projectId)
  const lost = await claim(world, 'lost.test', projectId)
  await trustDomain(world, projectId, 'trusted.test')
  publish(world, lost, 'dkim')
  await verifyDomain(world, { id: lost.id })
  await claim(world, 'used.test', projectId)
  await world.store.write((tx) =>
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
  world.clock.at += 29 * DAY
  assert.equal(await deleteLapsedClaims(world), 0)
  world.dns.set(keyName(lost), undefined)
  for (let check = 0; check < 3; check += 1) {
    await verifyDomain(world, { id: lost.id })
    world.clock.at += 30 * MINUTE
  }
  world.clock.at += 2 * DAY
  assert.equal(await deleteLapsedClaims(world), 1)
  const names = async () => (await listDomains(world)).map(({ domain }) => domain).sort()
  assert.deepEqual(await names(), ['lost.test', 'trusted.test', 'used.test'])
  world.clock.at += 29 * DAY
  assert.equal(await deleteLapsedClaims(world), 1)
  assert.deepEqual(await names(), ['trusted.test', 'used.test'])
})

test('mail to its mailboxes is taken once its MX is found to be us, and no longer than that', async (t) => {
  const world = await openWorld(t)
  const domain = await claim(world)
  const { id, projectId } = domain
  const owner = () => world.directory.findMailboxDomain('shop.test')
  publish(world, domain, 'replies')
  await verifyDomain(world, { id })
  assert.equal(await owner(), undefined, 'it is not verified')
  publish(world, domain, 'dkim', 'replies')
  await verifyDomain(world, { id })
  assert.deepEqual(await owner(), { projectId })
  world.dns.set('shop.test', { MX: 'SERVFAIL' })
  await verifyDomain(world, { id })
  assert.deepEqual(await owner(), { projectId }, 'nobody knows better')
  world.dns.set('shop.test', { MX: [[10, 'mx.elsewhere.test']] })
  await verifyDomain(world, { id })
  assert.equal(await owner(), undefined)
})
