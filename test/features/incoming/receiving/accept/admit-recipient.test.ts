import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { admitRecipient } from '../../../../../src/features/incoming/receiving/accept/admit-recipient.ts'
import {
  createReturnPathLocalPart,
  createUnsubscribeLocalPart,
} from '../../../../../src/formats/signed-tokens.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { createIdSource, newId } from '../../../../../src/store/ids.ts'
import { domains } from '../../../../../src/store/schema/domains.ts'
import { addProject, HOSTNAME, openTestCore, START, trustDomain } from '../../../../core.ts'

type Change = Partial<typeof domains.$inferInsert>

/** `shop.test` has its mailboxes here, `sender.test` elsewhere; `claimed.test` is not verified. */
async function open(t: TestContext) {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const add = async (domain: string, change: Change) => {
    const id = await trustDomain(core, project.id, domain)
    await set(id, { isTrusted: false, isVerified: true, ...change })
    return id
  }
  const set = async (id: string, change: Change) => {
    await core.store.write(async (tx) => {
      tx.afterCommit(core.directory.drop)
      await tx.update(domains).set(change).where(eq(domains.id, id))
    })
  }
  const shop = await add('shop.test', { isMxFound: true })
  await add('sender.test', {})
  await add('claimed.test', { isVerified: false, isMxFound: true })
  const emailId = newId()
  const keys = core.keyring.keys('return-path')
  const bounce = createReturnPathLocalPart(keys[0], emailId)
  const leave = createUnsubscribeLocalPart(core.keyring.keys('mail-in-unsubscribe')[0], emailId)
  const admit = (address: string) => admitRecipient(core, { address })
  return { core, project, shop, set, emailId, bounce, leave, admit }
}

test('accepts signed return paths and unsubscribe addresses, in either letter case', async (t) => {
  const { emailId, bounce, leave, admit } = await open(t)
  for (const host of [`bounce.${HOSTNAME}`, 'bounce.shop.test', 'bounce.sender.test']) {
    const address = `${bounce}@${host}`
    assert.deepEqual(await admit(address), { for: 'return-path', address, emailId })
    assert.deepEqual(await admit(address.toUpperCase()), { for: 'return-path', address, emailId })
    const other = { for: 'unsubscribe', address: `${leave}@${host}`, emailId }
    assert.deepEqual(await admit(other.address), other)
  }
})

test('an old return path and one of a domain that has lost its verification stay valid', async (t) => {
  const { core, shop, set, bounce, emailId, admit } = await open(t)
  await set(shop, { isVerified: false })
  const address = `${bounce}@bounce.shop.test`
  assert.deepEqual(await admit(address), { for: 'return-path', address, emailId })
  const old = createIdSource(() => START - 400 * 86_400_000)()
  const localPart = createReturnPathLocalPart(core.keyring.keys('return-path')[0], old)
  const found = await admit(`${localPart}@bounce.${HOSTNAME}`)
  assert.ok('for' in found && found.for === 'return-path' && found.emailId === old)
})

test('a signed address is accepted at any host, for mail from before the domain was deleted', async (t) => {
  const { core, shop, bounce, leave, emailId, admit } = await open(t)
  await core.store.write(async (tx) => {
    tx.afterCommit(core.directory.drop)
    await tx.delete(domains).where(eq(domains.id, shop))
  })
  for (const host of ['bounce.shop.test', 'bounce.former.test', 'sender.test', HOSTNAME]) {
    const returned = { for: 'return-path', address: `${bounce}@${host}`, emailId }
    assert.deepEqual(await admit(returned.address), returned)
    const left = { for: 'unsubscribe', address: `${leave}@${host}`, emailId }
    assert.deepEqual(await admit(left.address), left)
  }
})

test('S10: a token elsewhere than in the whole local part admits no host', async (t) => {
  const { bounce, leave, admit } = await open(t)
  for (const token of [bounce, leave]) {
    for (const localPart of [`${token}+a`, `a+${token}`, `${token}%shop.test`, `a!${token}`]) {
      const found = await admit(`${localPart}@elsewhere.test`)
      assert.deepEqual(found, { refuse: 'relay' }, localPart)
    }
    assert.deepEqual(await admit(`@elsewhere.test:${token}@elsewhere.test`), { refuse: 'relay' })
    assert.deepEqual(await admit(`${token}@elsewhere.test@elsewhere.test`), { refuse: 'relay' })
    assert.deepEqual(await admit(`user@${token}.test`), { refuse: 'relay' })
  }
})

test('S13: a forged return path is refused, at any host', async (t) => {
  const { bounce, leave, admit } = await open(t)
  const forged = { refuse: 'forged' }
  const last = bounce.at(-3) === 'a' ? 'b' : 'a'
  const altered = bounce.slice(0, -3) + last + bounce.slice(-2)
  for (const localPart of [altered, bounce.replace('b.', 'u.'), leave.replace('u.', 'b.'), 'b.x']) {
    assert.deepEqual(await admit(`${localPart}@bounce.${HOSTNAME}`), forged, localPart)
    assert.deepEqual(await admit(`${localPart}@bounce.shop.test`), forged, localPart)
  }
  const relay = { refuse: 'relay' }
  for (const host of ['elsewhere.test', 'bounce.elsewhere.test', `evil-bounce.${HOSTNAME}`]) {
    assert.deepEqual(await admit(`${altered}@${host}`), relay, host)
  }
  assert.deepEqual(await admit(`${altered}@${HOSTNAME}`), forged)
})

test('accepts any mailbox of a trusted domain, or of a verified domain with this server as MX', async (t) => {
  const { core, project, shop, set, admit } = await open(t)
  await trustDomain(core, project.id, 'trusted.test')
  const mailbox = (address: string) => ({ for: 'mailbox', address, projectId: project.id })
  for (const address of ['info@shop.test', 'postmaster@shop.test', 'b.x@shop.test']) {
    assert.deepEqual(await admit(address), mailbox(address))
  }
  assert.deepEqual(await admit('Any.One@Trusted.Test'), mailbox('any.one@trusted.test'))
  assert.deepEqual(await admit('info@sender.test'), { refuse: 'relay' })
  assert.deepEqual(await admit('info@claimed.test'), { refuse: 'relay' })
  await set(shop, { isMxFound: false })
  assert.deepEqual(await admit('info@shop.test'), { refuse: 'relay' })
})

test('accepts mail to postmaster and abuse at the hosts of this server, and to no other mailbox there', async (t) => {
  const { admit } = await open(t)
  assert.deepEqual(await admit('Postmaster'), { for: 'server', address: 'postmaster' })
  for (const host of [HOSTNAME, `bounce.${HOSTNAME}`, 'bounce.shop.test']) {
    for (const name of ['postmaster', 'abuse']) {
      const address = `${name}@${host}`
      assert.deepEqual(await admit(address), { for: 'server', address })
    }
    assert.deepEqual(await admit(`root@${host}`), { refuse: 'unknown' })
  }
  assert.deepEqual(await admit('postmaster@bounce.claimed.test'), { refuse: 'relay' })
})

test('S10: never relays, however the address is written', async (t) => {
  const { admit } = await open(t)
  const addresses = [
    'user@elsewhere.test',
    'user%elsewhere.test@shop.test',
    `user%elsewhere.test@${HOSTNAME}`,
    'elsewhere.test!user@shop.test',
    '"user@elsewhere.test"@shop.test',
    '"user@elsewhere.test"',
    '@shop.test:user@elsewhere.test',
    '@shop.test,@other.test:user@elsewhere.test',
    'user@elsewhere.test@shop.test',
    'user@[127.0.0.1]',
    'postmaster@[127.0.0.1]',
    'user@[IPv6:::1]',
    'user@shop.test.',
    'user@sub.shop.test',
    'user@notshop.test',
    'user@shop.test, user@elsewhere.test',
    'user@shop.test\r\nRCPT TO:<user@elsewhere.test>',
    'abuse',
    'user',
    '@shop.test',
    '',
  ]
  for (const address of addresses) {
    const found = await admit(address)
    assert.ok('refuse' in found, address)
    const isLocal = address.endsWith(`@${HOSTNAME}`)
    assert.equal(found.refuse, isLocal ? 'unknown' : 'relay', address)
  }
})

test('S10: every accepted address is at a domain of this server or has its signature', async (t) => {
  const { admit } = await open(t)
  const part = fc.constantFrom('a', 'b.', 'u.', '@', '%', '!', '"', ':', ',', '.', '<', ' ', 'é')
  const host = fc.constantFrom('shop.test', 'elsewhere.test', HOSTNAME, `bounce.${HOSTNAME}`)
  const pieces = fc.array(fc.oneof(part, host), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(pieces, host, async (list, last) => {
      const address = `${list.join('')}@${last}`
      const found = await admit(address)
      if ('refuse' in found) return
      assert.ok(found.for === 'mailbox' || found.for === 'server', address)
      assert.match(found.address, /^[^@%!":, ]+@(shop\.test|(bounce\.)?mx\.pillarbox\.test)$/)
    }),
    { numRuns: 300 },
  )
})

test('a token of a key that is no longer in use is refused', async (t) => {
  const { admit } = await open(t)
  const localPart = createReturnPathLocalPart(randomBytes(32), newId())
  assert.deepEqual(await admit(`${localPart}@bounce.${HOSTNAME}`), { refuse: 'forged' })
})
